"""The proof judged on real commits of public projects: a list of facts about them, and what plays it."""
