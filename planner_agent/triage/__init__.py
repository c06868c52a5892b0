"""Triage of issues without a label: one proposal each, which a person accepts or leaves; the room's rule is below.

What strangers wrote reaches a model here, whose only output is a proposal: it has no tree and no effects.
"""
