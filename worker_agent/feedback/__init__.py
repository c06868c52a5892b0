"""What people and the reviewer say about a pull request, and how each of it is answered once."""
