"""`workflow-engine demo` and `replay`: the whole engine on this machine, against the lab."""
