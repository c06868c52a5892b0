"""After a merge: for an hour the checks of what it made of the base are watched, and red ones of ours are answered.

Nothing is remembered here: fences of merged pull requests say what is watched, a ref for each answer what was done.
"""
