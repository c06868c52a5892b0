"""Fakes: time, the lock's server and port, GitHub, and coders, in memory; what a test asks of them stands in scenes."""
