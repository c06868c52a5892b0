"""The phases of a cycle: each asks a coder, judges the result, and commits it with a note."""
