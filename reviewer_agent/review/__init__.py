"""One review: what it is given, what it answers, which of it counts, and how it reads."""
