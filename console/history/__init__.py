"""The history of the work in git and on GitHub, read for people: nothing in this room writes or takes a lock."""
