"""Running any coding CLI: its wrapper, its directory, its limits, and the reading of its output."""
