"""The watch after a merge: for an hour it follows the checks of the new base, and answers those that the merge broke.

Nothing is stored here: fences of merged pull requests say what is watched, a ref for each answer what was done.
"""
