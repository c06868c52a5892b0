"""From an HTTP request to an operation and back, as GitHub does it."""
