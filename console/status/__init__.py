"""`workflow-engine status`: where everything stands, who holds it, and what waits for whom; it changes nothing."""
