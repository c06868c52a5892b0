"""Running what strangers wrote: the wrapper of tests and coding CLIs, what it shows them, and what they may take."""
