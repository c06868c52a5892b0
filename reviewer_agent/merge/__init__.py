"""The merge: what stands in its way, whose turn it is, and the act itself."""
