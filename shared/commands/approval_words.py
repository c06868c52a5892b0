"""Words by which people approve without the command: they are pointed to it, and nothing else happens (pure)."""

from __future__ import annotations

import re

from shared.commands.command import spoken_text

MOST_CHARS = 120
"""Most characters of an approval; a longer comment says something else as well."""

_APPROVES = re.compile(
    r"\b(?:lgtm|ship it|go ahead|looks? good|sounds? good|approved?|perfect|do it|please proceed|proceed|\+1"
    r"|go for it|makes sense|agreed|fine (?:with|by) me|all good)\b|\+1|👍|✅|🚀|:(?:\+1|shipit|rocket|thumbsup):",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\?|\b(?:but|not|n't|don't|except|unless|instead|however|change|before|wait|please (?:add|remove|use))\b",
    re.IGNORECASE,
)


def consents(body: str) -> bool:
    """Return whether a comment approves and says nothing else; quotes and code do not count."""
    said = spoken_text(body)
    return len(said) <= MOST_CHARS and _APPROVES.search(said) is not None and _DOUBTS.search(said) is None
