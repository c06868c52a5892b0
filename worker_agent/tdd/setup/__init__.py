"""The set-up of a project, once per state of its lock files, and the use of its result in checkouts."""
