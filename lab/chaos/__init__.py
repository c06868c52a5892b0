"""Chaos: many real agent processes on one lab while everything goes wrong; then it is counted what came of it."""
