"""Running untrusted code: the wrapper of tests and coding CLIs, its view of the machine, and its limits."""
