"""Tests that got another name and another text at once: a removed one and a new one that are much alike (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What

LIKE = 0.6
"""Least similarity of two tests' words, in the same order; from 0 to 1."""


def with_rewritten(found: Comparison) -> Comparison:
    """Return the comparison in which a removed test that continues under another name counts as changed."""
    added = list(found.added)
    removed, changed = [], list(found.changed)
    for old in found.removed:
        new = _nearest(old, added)
        if new is None:
            removed.append(old)
            continue
        added.remove(new)
        text = f"{old.name}: rewritten as {new.unit if new.path == old.path else new.name}"
        changed.append(replace(old, what=What.EXPECTATIONS, text=text, after=new.after, now=new.name))
    return replace(found, added=tuple(added), removed=tuple(removed), changed=tuple(changed))


def _nearest(old: ComparedTest, added: Sequence[ComparedTest]) -> ComparedTest | None:
    """Return the new test that is most like a removed one; in its own file, unless that is gone."""
    near = [new for new in added if new.path == old.path and new.after and not new.before] or [
        new for new in added if new.after and not new.before
    ]
    best = max(near, key=lambda new: _likeness(old, new), default=None)
    return best if best is not None and _likeness(old, best) >= LIKE else None


def _likeness(old: ComparedTest, new: ComparedTest) -> float:
    return SequenceMatcher(None, old.before.split(), new.after.split(), autojunk=False).ratio()
