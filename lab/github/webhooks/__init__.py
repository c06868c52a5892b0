"""Webhooks: what happens in a repository, worded, signed and sent to the addresses in its settings."""
