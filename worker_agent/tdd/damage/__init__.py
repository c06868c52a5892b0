"""Damage to code and to the expectations of tests, by which a test shows that it notices changes (pure)."""
