"""The set-up of a project, once per state of its lock files, and how checkouts find what it made."""
