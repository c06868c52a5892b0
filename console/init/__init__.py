"""`workflow-engine init`: what is missing is made, what is there stays."""
