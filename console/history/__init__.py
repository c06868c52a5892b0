"""What git and GitHub keep of the work, read for people: nothing in this room writes, and nothing takes a lock."""
