"""The lock as it was when every claim had a comment of its own: frozen, to run engines of that time beside today's.

Nothing here is ever mended; what those engines do is what today's have to live with.
"""
