"""The parts that make an agent a daemon: its life over several configurations, its service manager, its webhook."""
