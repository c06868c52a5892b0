"""`workflow-engine dashboard`: the board, the newest events and orders as a page in a browser on this machine."""
