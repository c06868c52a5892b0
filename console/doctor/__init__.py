"""`workflow-engine doctor`: whether the engine can work here, one finding per subject, each with what to do."""
