"""The polling loop of an agent, its items in work, and the real clock."""
