"""`workflow-engine report`: how well the engine did, from fences, notes and the ledger alone; it changes nothing."""
