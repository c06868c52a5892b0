"""`workflow-engine start`: from nothing to the first issue in work, with at most five questions."""
