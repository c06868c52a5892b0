"""Damage to code and to what tests expect, by which a test shows that it notices (pure)."""
