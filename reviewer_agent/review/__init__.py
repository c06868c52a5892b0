"""One review: its input, its answer, what of it counts, and how it reads."""
