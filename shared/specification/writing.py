"""Writing a specification issue's body, ticking its criteria, and checking whether the engine wrote a body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import StrEnum

from shared.errors import Blocked
from shared.specification.kind import SpecificationKind
from shared.specification.layout import MARK, PURPOSE, SectionName, content_sha256, escape, trailer_of, unescape
from shared.specification.model import BODY_LIMIT, CRITERION_LIMIT, Settings, Specification, line_of
from shared.specification.reading import read
from shared.text import comment_signatures, neutralise
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.text.markdown import ticked, unticked

LINKED = frozenset({"github.com"})
"""Hosts that every specification may link to."""


class Provenance(StrEnum):
    """The origin of a body; EDITED was written by the engine and changed since, so a person has to approve it once."""

    HAND_WRITTEN = "hand-written"
    ENGINE = "engine"
    EDITED = "edited"


class TooLong(Blocked):
    """The specification is longer than GitHub accepts: split it."""


def write(
    specification: Specification,
    *,
    keys: Keyring,
    parent: int,
    key: str,
    plan_sha: str,
    links: Collection[str] = LINKED,
) -> str:
    """Return the body of a specification issue, signed for the story `parent`; only links to the hosts `links` work.

    `key` names the specification in its plan (`12-2`), `plan_sha` is the plan's hash in hex, of
    which 8 digits are written. Raises `TooLong` above GitHub's 65,536 characters.
    """
    text = content(specification, links)
    fields = {"parent": str(parent), "key": key, "plan": plan_sha[:8], "body": content_sha256(text)}
    body = keys.sign(PURPOSE, parent, f"{text}\n\n{comment_signatures.render(MARK, fields)}")
    if len(body) > BODY_LIMIT:
        raise TooLong
    if trailer_of(body) is None:
        raise ValueError(f"parent {parent}, key '{key}' or plan '{plan_sha}' cannot stand in a trailer")
    return body


def content(specification: Specification, links: Collection[str] = LINKED) -> str:
    """Return the text of a body above its last line; reading it gives the same specification."""
    return "\n\n".join(_blocks(specification, links))


def authentic(body: str, keys: Keyring) -> Provenance:
    """Return the origin of `body`: ENGINE if `write` made it with one of `keys`; ticked check boxes do not matter."""
    found = _authentic(body, keys)
    return _authentic(unticked(body), keys) if found is Provenance.EDITED else found


def _authentic(body: str, keys: Keyring) -> Provenance:
    found = trailer_of(body)
    if found is None:
        return Provenance.EDITED if f"<!-- {MARK}/" in body else Provenance.HAND_WRITTEN
    text, trailer = found
    unchanged = content_sha256(text) == trailer.body
    signed = keys.verify(PURPOSE, trailer.parent, body) is CommentSignatures.VALID
    return Provenance.ENGINE if unchanged and signed else Provenance.EDITED


def _blocks(specification: Specification, links: Collection[str]) -> Iterator[str]:
    yield f"## {SectionName.GOAL}"
    yield _harmless(specification.goal, links)
    criteria = [f"[ ] {c.id}: {c.text}" for c in specification.criteria if not c.implied]
    sections = {
        SectionName.CRITERIA: criteria,
        SectionName.FILES: [f"`{path}`" for path in specification.files],
        SectionName.MAY_CHANGE: [f"`{path}`" for path in specification.may_change],
        SectionName.OUT_OF_SCOPE: list(specification.out_of_scope),
    }
    for part, entries in sections.items():
        if entries:
            yield f"## {part}"
            yield "\n".join(_harmless(f"- {entry}", links) for entry in entries)
    relations = [] if specification.kind is SpecificationKind.FEATURE else [f"Kind: {specification.kind}"]
    relations += [f"Size: {specification.size}"] if specification.size is not None else []
    relations += [f"Depends on #{number}" for number in specification.depends_on]
    if specification.part_of is not None:
        relations.append(f"Part of #{specification.part_of}")
    if relations:
        yield "\n".join(relations)
    if specification.settings != Settings():
        yield _settings(specification.settings)


def _harmless(text: str, links: Collection[str]) -> str:
    """Escape structure and neutralise text, so that it does nothing on GitHub; reading undoes the escapes."""
    return neutralise(escape(text), links)


def _settings(settings: Settings) -> str:
    values = {
        "max_attempts": settings.max_attempts,
        "timeout_minutes": settings.timeout_minutes,
        "max_budget_usd": settings.max_budget_usd,
    }
    pairs = (f"{name}: {value:g}" for name, value in values.items() if value is not None)
    return f"<!-- workflow: {', '.join(pairs)} -->"


_BOXED = re.compile(r"(?:[ \t]|>)*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(?:(?:\*\*|__)?(AC[1-9]\d{0,3})\b)?(.*)", re.I)


def tick(body: str, proved: Collection[str]) -> str:
    """Return `body` with a tick at each criterion whose id is among `proved`: it shows progress and is no edit."""
    wanted = {one.id: one.text for one in read(body).criteria if one.id in proved and not one.implied}

    def is_proved(line: str) -> bool:
        found = _BOXED.fullmatch(line)
        if found is None:
            return False
        text = line_of(unescape(f"- {found[2]}").removeprefix("- "), CRITERION_LIMIT)
        if found[1]:
            return found[1].upper() in wanted
        return bool(text) and any(one.startswith(text) for one in wanted.values())

    return ticked(body, is_proved) if wanted else body
