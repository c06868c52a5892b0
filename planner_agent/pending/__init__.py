"""The specification issues of a repository's pending tests, opened one after the other, each of them once."""
