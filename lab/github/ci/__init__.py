"""The lab's CI: it runs a repository's jobs on what is pushed, and reports as GitHub's own or an App's does."""
