"""Answers to questions by people who may write: they mention the engine, and get one reply from the base branch's code.

The model's only output is that reply: it has no tree and no effects, and nothing else follows from what it says.
"""
