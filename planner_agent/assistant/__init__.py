"""Answers to questions: whoever may write mentions the engine and asks, and gets one reply from the base branch's code.

The model's only output is that reply: it has no tree and no effects, and nothing else follows from what it says.
"""
