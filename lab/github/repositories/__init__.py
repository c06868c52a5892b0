"""Real git behind the embedded GitHub: bare repositories, their objects, and git's own protocol."""
