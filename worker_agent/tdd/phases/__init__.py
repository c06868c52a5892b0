"""The phases of a cycle: what is asked of a coder, judged, committed and noted, one after the other."""
