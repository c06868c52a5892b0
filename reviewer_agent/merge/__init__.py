"""The merge: what blocks it, whose turn it is, and the act itself."""
