"""`workflow-engine tdd`: the engine's worker and reviewer on a person's own repository, on a GitHub of its own."""
