"""Construction of adapters from the configuration; each agent's `build.py` makes the rest of its agent with them."""
