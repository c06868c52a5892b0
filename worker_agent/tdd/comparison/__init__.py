"""Old tests by meaning: what a change does to each test, fixture, helper and data file that exists on the base."""
