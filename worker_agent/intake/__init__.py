"""What a worker may begin: candidates, and every condition of a claim."""
