"""The embedded GitHub: its API, its git server, its site and what goes wrong on purpose."""
