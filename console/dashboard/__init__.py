"""`workflow-engine dashboard`: the board and the newest events as a page in a browser here; it changes nothing."""
