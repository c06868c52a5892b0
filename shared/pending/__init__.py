"""Tests that wait in a repository for their code: where their markers stand, and how an issue names one."""
