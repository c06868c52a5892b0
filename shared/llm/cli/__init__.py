"""What every coding CLI is run with: its wrapper, its directory, its limits, and the reading of its output."""
