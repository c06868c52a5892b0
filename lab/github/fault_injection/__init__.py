"""What goes wrong on purpose: planned faults, broken answers, and people who act between two requests."""
