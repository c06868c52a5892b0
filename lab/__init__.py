"""The lab: a GitHub that runs on loopback, with real git, for tests and for the demo."""
