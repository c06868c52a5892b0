"""GitHub's media types for bodies: what an answer carries when `Accept` asks for `html`, `text` or `full`. No I/O."""

from __future__ import annotations

import html
import re
from typing import Any

from markdown_it import MarkdownIt

_MEDIA = re.compile(r"application/vnd\.github(?:\.v3)?\.(text|html|full)\+json")
_TAG = re.compile(r"<[^>]+>")


def rendered(value: Any, accept: str) -> Any:
    """`value` with the bodies of all that somebody wrote in it as `accept` asks; itself for every other media type."""
    asked = _MEDIA.search(accept)
    return value if asked is None else _with_bodies(value, asked[1])


def _with_bodies(value: Any, media: str) -> Any:
    match value:
        case list():
            return [_with_bodies(one, media) for one in value]
        case {"body": str() | None as body, "user": _, **rest}:
            others = {name: _with_bodies(one, media) for name, one in rest.items()}
            return {"user": value["user"], **others, **_bodies(body, media)}
        case dict():
            return {name: _with_bodies(one, media) for name, one in value.items()}
        case _:
            return value


def _bodies(body: str | None, media: str) -> dict[str, str | None]:
    markup = None if body is None else MarkdownIt("commonmark", {"html": False}).render(body)
    text = None if markup is None else html.unescape(_TAG.sub("", markup)).strip()
    every = {"body": body, "body_html": markup, "body_text": text}
    return every if media == "full" else {f"body_{media}": every[f"body_{media}"]}
