"""The model proxy: adds the real key, meters and bounds one run, and closes with it."""
