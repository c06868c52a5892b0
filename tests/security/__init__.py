"""Attacks on a running engine: what must not leave is planted, and then searched for everywhere."""
