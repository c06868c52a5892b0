"""Faults on purpose: planned faults, broken answers, and changes by people between two requests."""
