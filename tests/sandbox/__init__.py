"""Hostile programs against every sandbox mode."""
