"""The facts about the specification that a call is told, and the limits that it sets (pure)."""

from __future__ import annotations

import re
from dataclasses import replace

from shared.llm.port import RunLimits
from shared.specification import Settings
from shared.text.markdown import lines


def bounded(limits: RunLimits, settings: Settings) -> RunLimits:
    """Return the configured limits of a run, lowered to those of a specification; it can raise none of them."""
    if settings.timeout_minutes is not None:
        limits = replace(limits, deadline_seconds=min(limits.deadline_seconds, settings.timeout_minutes * 60.0))
    if settings.max_budget_usd is not None:
        limits = replace(limits, budget_usd=min(limits.budget_usd, settings.max_budget_usd))
    return limits


_IMAGE = re.compile(
    r"""!\[[^\]\n]{0,500}\](?:\(\s*<?(?P<inline>[^\s()<>]*)|\[)|<img\b(?:[^<>]*?\ssrc\s*=\s*["']?(?P<html>[^\s"'<>]*))?""",
    re.IGNORECASE,
)


def images(text: str) -> tuple[str, ...]:
    """Return the address of each image of a text, empty if given elsewhere; images in code blocks do not count."""
    shown = "\n".join(line.text for line in lines(text) if not line.fenced)
    return tuple(found["inline"] or found["html"] or "" for found in _IMAGE.finditer(shown))


def unseen(count: int) -> str:
    """Return the note for a coder about images that it is not shown; empty if there are none."""
    if not count:
        return ""
    which = "An image of this text is" if count == 1 else f"{count} images of this text are"
    return f"({which} not shown to you. If it cannot be done without seeing that, say so at the end.)"
