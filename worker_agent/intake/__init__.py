"""Candidates for the worker, and every condition of a claim."""
