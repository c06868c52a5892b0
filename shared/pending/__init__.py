"""Tests that wait in a repository for their code: the places of their markers, and the mark of an issue about one."""
