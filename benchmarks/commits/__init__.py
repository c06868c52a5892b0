"""The proof judged on real commits of public projects: a list of facts about them, and the program that plays it."""
