"""Cleaning of text from strangers, and neutralising and shortening of text to be posted (pure).

Incoming: `visible` or `clean` for prose, `printable` for code and logs. Outgoing: `redact`, then
`neutralise`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator

from shared.text.code_spans import parts
from shared.text.redaction import redact as redact

JOINER = "\u200d"
"""Zero-width joiner: breaks a token for parsers without changing what people see."""

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Zero-width, bidirectional, filler and tag characters and variation selectors: text that nobody sees."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*\n?[ \t]*(?:<[^<>\n]*>|(?!```|~~~)[^\s<]\S*)"
    r"""(?:[ \t]+(?:\([^\n]*\)|"[^\n]*"|'[^\n]*'))?[^\S\n]*$""",
    re.MULTILINE,
)
_ALT = re.compile(r"!\[(?:[^\[\]\n]|\n(?![ \t]*\n)|\[[^\[\]\n]*\])++\](?=[(\[])")
_LINK_TITLE = re.compile(r"""(\]\([^()\s]+)[ \t]+(?:"[^"\n]*"|'[^'\n]*')[ \t]*(?=\))""")
_TAG = re.compile(r"""<[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*+>""")
_HIDDEN_ATTRIBUTE = re.compile(
    r"""\s(?:alt|title|placeholder|aria-[\w-]+|data-[\w-]+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE
)
_DATA_URI = re.compile(
    r"""(?<!\w)data:(?:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*|(?:;[\w=.+-]+)+),[^\s)"'<>]*""", re.IGNORECASE
)

FOLDED_NOTE = "[a folded section is left out]"

_DETAILS = re.compile(r"""<(/?)details(?![\w-])((?:[^<>"']|"[^"]*"|'[^']*')*+)>""", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_OPEN = re.compile(r"(?:^|[\s/])open(?=[\s/=]|$)", re.IGNORECASE)

_PASSES = 10
"""Passes of cleaning: removing one hidden part can uncover another. Ordinary text needs two, the rest is bounded."""


def printable(text: str) -> str:
    """Make code, diffs and logs safe to print and to show: invisible characters appear as `<U+202E>`.

    Escape sequences and control characters (except newline and tab) are removed, lone surrogates
    become U+FFFD, line ends become newlines.
    """
    return _INVISIBLE.sub(lambda found: f"<U+{ord(found[0]):04X}>", _without_controls(text))


def shown(text: str) -> str:
    """Make text safe for a terminal: no escape sequences, control (except newline and tab) or invisible characters."""
    return _INVISIBLE.sub("", _without_controls(text))


def visible(text: str) -> str:
    """Remove the parts of Markdown that readers do not see: like `printable`, but without invisible characters,
    HTML comments (an unclosed one hides the rest), link definitions and collapsed sections.
    """
    text = _INVISIBLE.sub("", _without_controls(text))
    return _DEFINITION.sub("", unfolded(_COMMENT.sub(" ", text)))


def clean(text: str) -> str:
    """Clean prose from strangers: as `visible`, and without alt texts, hidden attributes, link titles, data URIs."""
    for _ in range(_PASSES):
        before, text = text, _cleaned_once(text)
        if text == before:
            break
    return text


def _cleaned_once(text: str) -> str:
    text = _LINK_TITLE.sub(r"\1", _ALT.sub("![]", visible(text)))
    text = _TAG.sub(lambda tag: _HIDDEN_ATTRIBUTE.sub("", tag[0]), text)
    return _DATA_URI.sub("data:", text)


def _without_controls(text: str) -> str:
    text = re.sub("\r\n?|[\u2028\u2029]", "\n", text)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _ESCAPES.sub("", text)))


def unfolded(text: str) -> str:
    """Replace each `<details>` that is not `open` with a note; one without an end hides the rest.

    GitHub shows these sections collapsed: people who approve a text may not have read them.
    Text that is code for certain shows its tags as they are, and stays.
    """
    if "<details" not in text.lower():
        return text
    kept: list[str] = []
    sections: list[bool] = []
    """For each section around the current text, the innermost last: True if it is collapsed."""
    at = 0
    for found in _details(text):
        hidden = any(sections)
        if found[1]:
            if sections:
                sections.pop()
        else:
            sections.append(_OPEN.search(_QUOTED.sub("", found[2])) is None)
        if not hidden:
            kept.append(text[at : found.start() if any(sections) else found.end()])
            kept.append(FOLDED_NOTE if any(sections) else "")
        at = found.end()
    return "".join(kept if any(sections) else [*kept, text[at:]])


def _details(text: str) -> Iterator[re.Match[str]]:
    starts, codes, at = [], [], 0
    for part in parts(text):
        starts.append(at)
        codes.append(part.code)
        at += len(part.text)
    for found in _DETAILS.finditer(text):
        if not codes[bisect_right(starts, found.start()) - 1]:
            yield found


_CLOSING = (
    re.compile(
        r"(?<![A-Za-z0-9])([cfr])(?=(?:lose[sd]?|ix(?:e[sd])?|esolve[sd]?)[*_~]{0,3}:?\s{1,9}[*_~(\[<]{0,4}"
        r"(?:[\w./-]*(?:#|&(?:#0*35|#x0*23|num);?)\d|GH-\d|https?://))",
        re.IGNORECASE,
    ),
    rf"\1{JOINER}",
)
"""Closing keywords of GitHub, and the replacement that disables them."""

_SKIPPING = (
    re.compile(
        r"\[(?=(?:(?:skip|no)[ -](?:ci|actions?|checks?|travis|appveyor|netlify|vercel|azurepipelines|circleci)"
        r"|(?:ci|actions|travis|appveyor|netlify|vercel)[ -]skip)\])"
        r"|\*{3}(?=NO_CI\*{3})|\bskip-checks(?=:[ \t]*true)",
        re.IGNORECASE,
    ),
    rf"\g<0>{JOINER}",
)
"""Words in a commit's message with which CI skips its checks, and the replacement that disables them."""

_AS_OURS = (  # an ACK, a marker, a command, a closing keyword
    (re.compile(r"(?<!\w)ACK(?=:)"), rf"\g<0>{JOINER}"),
    (re.compile(r"<(?=!--)"), rf"<{JOINER}"),
    (
        re.compile(
            r"^([^\S\n]*)/(?=(?:start|approve|reject|edit|pause|resume|stop|merge|retry|reset-attempts"
            r"|(?:mark-for-)?spec-review|close-and-reset)\b)",
            re.MULTILINE | re.IGNORECASE,
        ),
        rf"\1/{JOINER}",
    ),
    _CLOSING,
    _SKIPPING,
)
_AT = r"(?<![A-Za-z0-9])(?:@|&(?:#0*64|#x0*40|commat);?)"
"""The sign of a mention where GitHub sees one: behind letters of other scripts and emphasis, and as an entity, too."""

_MENTION = re.compile(rf"({_AT})(\w[\w/-]*)", re.IGNORECASE)
_OWN_CLOSING = re.compile(r"Closes #\d+(?=\n|\Z)")
_LOUD = re.compile(
    rf"(?P<mention>{_AT}(?=\w))"
    r"|(?P<image>!(?=\[)|<(?=(?:img|picture|source|video|audio)\b))"
    r"|(?P<bare>(?<![A-Za-z0-9.])www(?=\.\w)|(?:\]\(|\]:|href[ \t]*=)[ \t]*[\"'<]?(?=//))"
    r"|(?P<scheme>\bhttps?)://(?P<host>[^\s/?#<>()\[\]\"'`]*)",
    re.IGNORECASE,
)


def neutralise(text: str, hosts: Collection[str] = ("github.com",)) -> str:
    """Make model text safe to post under our account: it cannot pass for ours, and has no effect.

    It never parses as an ACK, a marker, a command or a closing keyword, wherever it stands. Outside
    text that is code for certain, nobody is mentioned, no image is loaded, and only links to `hosts` work.
    """
    text = _INVISIBLE.sub("", _without_controls(text))
    for pattern, broken in _AS_OURS:
        text = pattern.sub(broken, text)

    def quiet(found: re.Match[str]) -> str:
        if (found["host"] or "").casefold() in hosts:
            return found[0]
        if found["scheme"]:
            return found[0].replace("://", f"{JOINER}://", 1)
        return found[0] + JOINER

    return "".join(part.text if part.code else _LOUD.sub(quiet, part.text) for part in parts(text))


def hosts(text: str) -> frozenset[str]:
    """Return the hosts of a text's links, in lower case; links in text that is code for certain do not count."""
    shown = (part.text for part in parts(text) if not part.code)
    return frozenset(found["host"].casefold() for one in shown for found in _LOUD.finditer(one) if found["host"])


def harmless(text: str, *, closes: bool = False, mentions: Collection[str] = ()) -> str:
    """Disable mentions outside code, and closing keywords and words that skip CI anywhere, in any text, ours included.

    With `closes` the first line may be `Closes #n`; the logins `mentions` (lower case) may be mentioned.
    Idempotent.
    """
    own = _OWN_CLOSING.match(text) if closes else None
    head, body = (text[: own.end()], text[own.end() :]) if own else ("", text)
    for pattern, broken in (_CLOSING, _SKIPPING):
        body = pattern.sub(broken, body)
    pieces = parts(body)

    def quiet(found: re.Match[str]) -> str:
        login = found[2].rstrip("_").casefold()
        return found[0] if login in mentions else f"{found[1]}{JOINER}{found[2]}"

    return head + "".join(part.text if part.code else _MENTION.sub(quiet, part.text) for part in pieces)


def excerpt(text: str, limit_bytes: int) -> str:
    """Return at most `limit_bytes` of UTF-8: the end of `text`, from a line start, with a note that text is missing."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return raw.decode()
    note = f"[... {len(raw)} bytes in all, only the end is shown ...]\n"
    room = limit_bytes - len(note)
    if room <= 0:
        return raw[len(raw) - max(limit_bytes, 0) :].decode("utf-8", "ignore")
    tail = raw[len(raw) - room :].decode("utf-8", "ignore")
    return note + (tail.partition("\n")[2] or tail)


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters, without control or invisible characters."""
    line = " ".join(_INVISIBLE.sub("", _without_controls(text)).split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"[:limit]


LONG_WORD = 30
"""Characters from which on a word is shown in part rather than left out."""


def last_words(text: str, limit: int) -> str:
    """Return the end of a text as one line of at most `limit` characters, from a whole word on unless that is long."""
    line = " ".join(_INVISIBLE.sub("", _without_controls(text)).split())
    if len(line) <= limit:
        return line
    end = line[len(line) - max(limit - 2, 0) :]
    first, _, rest = end.partition(" ")
    return f"… {rest if rest and len(first) < LONG_WORD else end}"[:limit]


def normalised(text: str) -> str:
    """Return a text without what GitHub's editor changes: line ends, trailing space, empty lines at either end."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(map(str.rstrip, lines)).strip("\n")


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex; a lone surrogate counts as it is."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 round`, `2 rounds`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def slug(text: str) -> str:
    """Return a name for branches and files: `[a-z0-9-]`, 1 to 40 characters, never a leading `-`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-") or "untitled"
