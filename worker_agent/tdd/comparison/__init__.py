"""Old tests by meaning: the effects of a change on each test, fixture, helper and data file of the base."""
