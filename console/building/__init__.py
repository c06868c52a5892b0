"""Where adapters are built from the configuration: the only room beside the lab that does."""
