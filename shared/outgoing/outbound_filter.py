"""The filter for outgoing text: all writes to GitHub, and all that is signed or committed, pass it.

A model's text is neutralised where a comment is composed; this filter is the second check, for what was missed there.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from shared.outgoing.credentials import credentials
from shared.text import JOINER, harmless
from shared.text.redaction import REDACTED, holds, redact

BODY_LIMIT = 65_536
"""Characters that GitHub accepts in a body."""

TITLE_LIMIT = 256
"""Characters that GitHub accepts in a title."""

LEARNED = 16
"""Tokens learned at run time that are remembered; those of Apps change every hour."""

_TITLES = frozenset({"title", "commit_title", "commit_message"})
_BODIES = frozenset({"body"})
_CUT = "\n\n[... {missing} more characters are left out: GitHub takes no longer text ...]"
_ACK = re.compile(r"\s*ACK(?=:)")


class Outgoing:
    """Knows the secrets of one process, and removes them from every text."""

    def __init__(self, secrets: Iterable[str] = (), mentions: Iterable[str] = ()) -> None:
        """`mentions` are the logins that the configuration wants to be mentioned; all other mentions are defused."""
        self._mentions = frozenset(login.casefold() for login in mentions)
        self._secrets = tuple(dict.fromkeys(secret.strip() for secret in secrets if secret.strip()))
        self._learned: deque[str] = deque(maxlen=LEARNED)

    def learn(self, secret: str) -> None:
        """Treat this text as a secret from now on."""
        if secret not in self._secrets and secret not in self._learned:
            self._learned.append(secret)

    def hide(self, text: str) -> str:
        """Replace every secret, in whatever form, and all that looks like a credential with `***`."""
        text = redact(text, self._all_secrets)
        for value in sorted({found.value for found in credentials(text)}, key=len, reverse=True):
            text = text.replace(value, REDACTED)
        return text

    def text(self, text: str) -> str:
        """Filter a body: secrets, mentions and closing keywords outside its own first line are defused. Idempotent."""
        return harmless(self.hide(text), closes=True, mentions=self._mentions)

    def title(self, text: str) -> str:
        """Filter a title, which may become the subject of a commit: like `text`, and no keyword closes anything."""
        return harmless(self.hide(text))

    def leak(self, text: str) -> str | None:
        """Return the kind of secret that `text` would give away, for a message; None if there is none."""
        if holds(text, self._all_secrets):
            return "a secret of this engine"
        found = next(credentials(text), None)
        return f"what looks like a credential ({found.kind})" if found else None

    def payload(self, value: Any, *, ack: bool = False) -> Any:
        """Return the JSON value of a write as it may be sent; a body may be an ACK only with `ack`."""
        match value:
            case str():
                return self.hide(value)
            case Mapping():
                return {name: self._field(name, item, ack) for name, item in value.items()}
            case list() | tuple():
                return [self.payload(item) for item in value]
            case _:
                return value

    def _field(self, name: str, value: Any, ack: bool) -> Any:
        if isinstance(value, str) and name in _TITLES:
            return self.title(value)[:TITLE_LIMIT] if name != "commit_message" else self.title(value)
        if isinstance(value, str) and name in _BODIES:
            body = self.text(value)
            return _fit(body if ack else _ACK.sub(rf"\g<0>{JOINER}", body, count=1) if _ACK.match(body) else body)
        return self.payload(value)

    @property
    def _all_secrets(self) -> tuple[str, ...]:
        return (*self._secrets, *self._learned)


def _fit(body: str) -> str:
    if len(body) <= BODY_LIMIT:
        return body
    room = BODY_LIMIT - len(_CUT) - 8
    return body[:room] + _CUT.format(missing=len(body) - room)
