"""Every text that the engine can post, rendered to one page: what it reads like to who has never seen the engine."""
