"""The demonstration: a lab with a small project, a story, and the real agents as processes of their own."""
