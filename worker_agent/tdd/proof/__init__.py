"""The proof of a change: its tests on the base, on the head, and on damaged heads; one order for worker and verify."""
