"""Redaction of secrets: exact values and their encodings, and text that looks like a credential (pure)."""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b32encode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus

REDACTED = "***"
"""Replacement for a secret."""

FRAGMENT = 12
"""Consecutive characters of a secret that already give it away: cutting a few off would defeat a scanner."""

_SHORTEST = 4
"""Shortest value that counts as a secret; replacing shorter ones would shred ordinary text."""

_SHORTEST_ENCODED = 8

CREDENTIALS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(pattern, re.DOTALL)
    for kind, pattern in {
        # Tokens of Apps are a JSON Web Token with a number before it since 2026: also dots, dashes and underscores.
        "GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,}|ghs_[A-Za-z0-9._-]{36,}",
        "GitHub fine-grained token": r"github_pat_[A-Za-z0-9_]{60,}",
        "Anthropic key": r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,}",
        "OpenAI key": r"(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{32,})"
        r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
        "AWS access key": r"(?<![A-Z0-9])A(?:KIA|SIA)[A-Z0-9]{16}",
        "JSON Web Token": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?",
        "Slack token": r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}",
        "Google key": r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
        "private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    }.items()
}
"""Credentials recognised by their form alone: the kind in words -> the pattern."""

_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@?#\"'<>]+(?=@)")
"""User name and password in a URL."""

_GAPS = re.compile("[\\s\"'`+\\\\,\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]+")
"""Characters that may split a secret: line ends, quotes, joining operators, invisible characters."""

_NO_LETTER = re.compile(r"[^A-Za-z0-9]+")
"""Everything that may stand between the letters of a secret which has `_LETTERS` of them."""

_LETTERS = 16
"""Letters and digits from which on a secret is found whatever stands between them, in any letter case."""

_NUMBER = re.compile(r"[0-9]+")

_SPELLED = tuple(
    {f"{code:0{width}{base}}": chr(code) for code in range(0x21, 0x7F) for width in range(1, digits + 1)}
    for base, digits in (("d", 3), ("o", 4), ("b", 8))
)
"""For each base in which numbers may spell characters, with the most digits of one: number -> visible character."""

_VISIBLE = re.compile(rf"[^\0]{{{FRAGMENT},}}")

_NO_HEX = re.compile(r"\\x|\\u00|0x|&#x|[^0-9A-Fa-f]+")
"""Separators of the digits in a hex dump."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret and everything that looks like a credential with `***`.

    A secret is found as it is, reversed, in base64 (at any alignment, either alphabet, also twice), base32, hex
    (also as a dump), percent and JSON escapes, as a list of numbers, split over lines or strings, and in any 12
    characters of it in a row; a long one also in other letter case, letters that look alike, and with other
    characters between. Redact whole texts: a secret that is split over two calls is not seen. Redact before
    `neutralise`, which adds characters.
    """
    text = _cover(text, sorted(_spans(text, secrets)))
    for pattern in (*CREDENTIALS.values(), _IN_ADDRESS):
        text = pattern.sub(REDACTED, text)
    return text


def holds(text: str, secrets: Iterable[str]) -> bool:
    """Return whether `redact` would find one of these very secrets in `text`."""
    return next(_spans(text, secrets), None) is not None


def _spans(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    long_enough = [secret for secret in map(str.strip, secrets) if len(secret) >= _SHORTEST]
    if not long_enough:
        return
    for secret in long_enough:
        for needle in _needles(secret):
            if needle in text:
                yield from _occurrences(text, needle)
    gapless, digits = _GAPS.sub("", text), _NO_HEX.sub("", text).lower()
    for secret in long_enough:
        yield from _squeezed_spans(text, gapless, _GAPS, _gapless(secret))
        yield from _squeezed_spans(text, digits, _NO_HEX, _dumps(secret))
    yield from _spelled_spans(text, _spellings(tuple(long_enough)))
    yield from _numbered_spans(text, _fragments(tuple(long_enough)))


def _occurrences(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + 1)


_Block = tuple[str, str, int]
"""A block of a form of a secret, the whole form, and the block's offset in it."""


def _squeezed_spans(
    text: str, squeezed: str, gaps: re.Pattern[str], blocks: tuple[_Block, ...]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of `text` in which `squeezed`, the text without gaps, has a block; each grown along its form."""
    offsets: list[int] = []
    for block, form, at in blocks:
        if block in squeezed:
            offsets = offsets or _kept_offsets(text, gaps)
            for span in _occurrences(squeezed, block):
                left, right = _grown(squeezed, span, form, at)
                yield offsets[left], offsets[right - 1] + 1


def _spelled_spans(text: str, blocks: Mapping[str, tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in which the letters of `text`, without anything between them, have a block."""
    if not blocks:
        return
    plain = text if text.isascii() else re.sub(r"[^\x00-\x7f]", _plain_letter, text)
    squeezed = _NO_LETTER.sub("", plain).lower()
    offsets: list[int] = []
    for left in range(len(squeezed) - FRAGMENT + 1):
        found = blocks.get(squeezed[left : left + FRAGMENT])
        if found is not None:
            offsets = offsets or _kept_offsets(plain, _NO_LETTER)
            first, last = _grown(squeezed, (left, left + FRAGMENT), *found)
            yield offsets[first], offsets[last - 1] + 1


def _plain_letter(found: re.Match[str]) -> str:
    """Return the letter of ASCII that a character looks like; a space for any other."""
    plain = unicodedata.normalize("NFKC", found[0])
    return plain if len(plain) == 1 and plain.isascii() else " "


def _numbered_spans(text: str, fragments: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans in which the numbers of `text` are the characters of a fragment."""
    numbers = _NUMBER.findall(text) if fragments else []
    places: list[tuple[int, int]] = []
    for characters in _SPELLED if len(numbers) >= FRAGMENT else ():
        spelled = "".join([characters.get(number, "\0") for number in numbers])
        for run in _VISIBLE.finditer(spelled):
            for left in range(run.start(), run.end() - FRAGMENT + 1):
                if spelled[left : left + FRAGMENT] in fragments:
                    places = places or [found.span() for found in _NUMBER.finditer(text)]
                    yield places[left][0], places[left + FRAGMENT - 1][1]


def _grown(text: str, span: tuple[int, int], form: str, at: int) -> tuple[int, int]:
    """Extend a match of `form[at:...]` at `span` as far as the form continues in both directions."""
    left, right = span
    shift = left - at
    while left > max(shift, 0) and text[left - 1] == form[left - 1 - shift]:
        left -= 1
    while right < min(shift + len(form), len(text)) and text[right] == form[right - shift]:
        right += 1
    return left, right


def _kept_offsets(text: str, gaps: re.Pattern[str]) -> list[int]:
    """Return the offset in `text` of each character of the squeezed text."""
    kept: list[int] = []
    done = 0
    for gap in gaps.finditer(text):
        kept.extend(range(done, gap.start()))
        done = gap.end()
    kept.extend(range(done, len(text)))
    return kept


def _cover(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start > done or not parts:
            parts += [text[done:start], REDACTED]
        done = max(done, end)
    return "".join([*parts, text[done:]])


@lru_cache(maxsize=256)
def _needles(secret: str) -> tuple[str, ...]:
    found = {secret, secret[::-1]} | (_encodings(secret) if len(secret) >= _SHORTEST_ENCODED else set())
    found |= {secret[at : at + FRAGMENT] for at in range(len(secret) - FRAGMENT + 1)}
    return tuple(sorted(found))


def _encodings(secret: str) -> set[str]:
    raw = secret.encode("utf-8", "replace")
    escaped = {quote(raw, safe=""), quote(raw), quote_plus(raw), json.dumps(secret)[1:-1]}
    return {
        raw.hex(),
        raw.hex().upper(),
        *_aligned_encodings(raw, b64encode, 3, 6),
        *_aligned_encodings(raw, b32encode, 5, 5),
    } | escaped


@lru_cache(maxsize=256)
def _gapless(secret: str) -> tuple[_Block, ...]:
    """Return the blocks of a secret's forms, each form without gaps; none for a short secret."""
    if len(secret) < _SHORTEST_ENCODED:
        return ()
    forms = {_GAPS.sub("", form) for form in {secret, secret[::-1]} | _encodings(secret)}
    return tuple(_blocks((form for form in sorted(forms) if len(form) >= _SHORTEST_ENCODED), FRAGMENT))


@lru_cache(maxsize=8)
def _spellings(secrets: tuple[str, ...]) -> Mapping[str, tuple[str, int]]:
    """Return the blocks of all forms of these secrets, each form as its letters alone in lower case."""
    found: dict[str, tuple[str, int]] = {}
    for secret in secrets:
        if len(_NO_LETTER.sub("", secret)) < _LETTERS or not re.search("[0-9]", secret):
            continue
        raw, reverse = secret.encode("utf-8", "replace"), secret[::-1].encode("utf-8", "replace")
        forms = {secret, secret[::-1], *_aligned_encodings(raw, b32encode, 5, 5)}
        for one in (raw, reverse, b64encode(raw)):
            forms |= set(_aligned_encodings(one, b64encode, 3, 6))
        letters = sorted({_NO_LETTER.sub("", form).lower() for form in forms})
        found |= {block: (form, at) for block, form, at in _blocks(letters, FRAGMENT)}
    return found


@lru_cache(maxsize=8)
def _fragments(secrets: tuple[str, ...]) -> frozenset[str]:
    """Return every fragment of these secrets, forwards and backwards."""
    forms = (form for secret in secrets for form in (secret, secret[::-1]))
    return frozenset(form[at : at + FRAGMENT] for form in forms for at in range(len(form) - FRAGMENT + 1))


@lru_cache(maxsize=256)
def _dumps(secret: str) -> tuple[_Block, ...]:
    if len(secret) < _SHORTEST_ENCODED:
        return ()
    forms = [one.encode("utf-8", "replace").hex() for one in (secret, secret[::-1])]
    return tuple(_blocks(forms, 2 * FRAGMENT))


def _blocks(forms: Iterable[str], size: int) -> Iterator[_Block]:
    """Yield adjacent blocks of `size`, so that any run of twice that length contains one."""
    for form in forms:
        for at in range(0, max(len(form) - size, 0) + 1, size):
            yield form[at : at + size], form, at


def _aligned_encodings(raw: bytes, encode: Callable[[bytes], bytes], offsets: int, bits: int) -> Iterator[str]:
    """Yield the characters that `raw` alone decides, wherever it starts in a longer encoded text."""
    for offset in range(offsets):
        encoded = encode(bytes(offset) + raw).decode()
        core = encoded[-(-offset * 8 // bits) : (offset + len(raw)) * 8 // bits]
        yield core
        yield core.translate(str.maketrans("+/", "-_"))
