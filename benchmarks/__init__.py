"""What the engine costs: counted behind a recording proxy, beside an alternative, in one run. Nothing here asserts."""
