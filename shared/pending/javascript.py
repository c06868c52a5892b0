"""Pending tests of jest, vitest and Playwright: `it.todo`, `test.fixme`, and `it.skip` with `spec:` (pure).

A small scanner, no parser: it knows strings, comments, regular expressions and brackets, and leaves out
tests with a computed title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from shared.pending import Marked, is_spec

BETWEEN = " > "
"""Separator of the titles of nested blocks in a test's id, as in the runners' reports."""

_CALL = re.compile(r"(?<![\w$.])(?:it|test)\s*(?P<cut>\.\s*(?P<kind>todo|fixme|skip))\s*\(\s*")
_BLOCK = re.compile(r"(?<![\w$.])(?:test\s*\.\s*)?describe\s*(?:\.\s*\w+\s*)*\(\s*")
_EACH = re.compile(r"(?<![\w$.])describe\s*(?:\.\s*\w+\s*)*\.\s*each\b")
_TITLE = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\$]|\\.|\$(?!\{))*)`", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = frozenset("'\"`\\/$")
"""Characters that stand for themselves when escaped."""

_SPACE = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[\w$]+")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^\n")
"""Characters after which a slash begins a regular expression."""

_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_WORDS_BEFORE_REGEX = frozenset({"return", "typeof", "case", "in", "of", "delete", "void", "throw", "await", "yield"})


@dataclass(slots=True)
class _Reader:
    """The scanner's state: the open brackets, the blocks around it, and the last comment with `spec:`."""

    path: str
    text: str
    depth: int = 0
    blocks: list[tuple[str | None, int]] = field(default_factory=list)
    noted: tuple[str, int] = ("", -2)
    last: str = "\n"
    found: list[Marked] = field(default_factory=list)


def scan(path: str, content: bytes) -> tuple[Marked, ...]:
    """Return the pending tests of a file; none if it is not UTF-8."""
    try:
        reader = _Reader(path, content.decode("utf-8"))
        at = 0
        while at < len(reader.text):
            at = _step(reader, at)
    except (UnicodeDecodeError, RecursionError):  # the latter: templates in templates, a thousand deep
        return ()
    return tuple(reader.found)


def _step(reader: _Reader, at: int) -> int:
    """Read the token at `at`; return the offset after it."""
    text, here = reader.text, reader.text[at]
    if here in "'\"`":
        reader.last = here
        return _after_string(text, at)
    if here == "/":
        return _slash(reader, at)
    if here in "([{":
        reader.depth += 1
    elif here in ")]}":
        reader.depth -= 1
        while reader.blocks and reader.blocks[-1][1] > reader.depth:
            reader.blocks.pop()
    word = _WORD.match(text, at)
    if word is None:
        reader.last = reader.last if here in " \t\r" else here
        return at + 1
    return _word(reader, at, word)


def _word(reader: _Reader, at: int, word: re.Match[str]) -> int:
    text = reader.text
    call = _CALL.match(text, at)
    if call is not None:
        title = _title(text, call.end())
        if title is not None:
            _note(reader, call, title)
    block = _BLOCK.match(text, at)
    if _EACH.match(text, at):  # titles nobody can foresee, up to the end of what is around it
        reader.blocks.append((None, reader.depth))
    elif block is not None:
        named = _title(text, block.end())
        reader.blocks.append((named[0] if named else None, reader.depth + 1))
    reader.last = word[0]
    return word.end()


def _note(reader: _Reader, call: re.Match[str], title: tuple[str, int]) -> None:
    """Record a pending test: cut `.skip`, or the whole statement if it is a placeholder without a body."""
    name, end = title
    around = [block for block, _ in reader.blocks]
    text, line = reader.text, reader.text.count("\n", 0, call.start()) + 1
    reason = name if is_spec(name) else reader.noted[0] if line - reader.noted[1] in {0, 1} else ""
    reason = reason or _same_line(text, end)
    if None in around or (call["kind"] == "skip" and not reason):
        return
    after = _past_space(text, end)
    following = text[after : after + 1]
    if following == ",":  # a comma may also end the only argument
        after = _past_space(text, after + 1)
        following = text[after : after + 1] if text[after : after + 1] == ")" else ","
    if following not in {",", ")"}:
        return
    bare = following == ")"
    first, last = _statement(text, call.start(), after + 1) if bare else call.span("cut")
    test = "::".join(filter(None, (reader.path, BETWEEN.join(block or "" for block in around), name)))
    cut = (len(text[:first].encode()), len(text[:last].encode()))
    reader.found.append(Marked(test, reason or name, line, (cut,), bare))


def _same_line(text: str, at: int) -> str:
    """Return the comment with `spec:` at the end of the line; empty if there is none."""
    found = re.compile(r"[^\n]*?//\s*(spec:[^\r\n]*)", re.IGNORECASE).match(text, at)
    return found[1].strip() if found else ""


def _statement(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the span of a statement with its semicolon, and with its lines if nothing else is on them."""
    ended = re.compile(r"[ \t]*;").match(text, last)
    last = ended.end() if ended else last
    start = text.rfind("\n", 0, first) + 1
    rest = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(text, last)
    return (start, rest.end()) if rest and not text[start:first].strip() else (first, last)


def _title(text: str, at: int) -> tuple[str, int] | None:
    """Return the literal title at `at` and its end; None for a computed title."""
    found = _TITLE.match(text, at)
    if found is None:
        return None
    raw = next(group for group in found.groups() if group is not None)
    if any(escaped not in _PLAIN for escaped in _ESCAPE.findall(raw)):
        return None
    after = text[_past_space(text, found.end()) :][:1]
    return (_ESCAPE.sub(r"\1", raw), found.end()) if after in {",", ")"} else None


def _slash(reader: _Reader, at: int) -> int:
    """Skip a comment, a regular expression or a division; return the offset after it."""
    text = reader.text
    if text.startswith(("//", "/*"), at):
        end = _past(text, at, "\n" if text[at + 1] == "/" else "*/")
        said = text[at:end].strip("/* \t\r\n")
        if is_spec(said):
            reader.noted = said, text.count("\n", 0, end - (text[end - 1 : end] == "\n")) + 1
        return end if text[at + 1] == "*" else max(end - 1, at + 2)
    expression = _REGEX.match(text, at)
    if expression and (reader.last in _BEFORE_REGEX or reader.last in _WORDS_BEFORE_REGEX):
        reader.last = "/"
        return expression.end()
    reader.last = "/"
    return at + 1


def _past(text: str, at: int, end: str) -> int:
    found = text.find(end, at + 2)
    return len(text) if found < 0 else found + len(end)


def _past_space(text: str, at: int) -> int:
    while (found := _SPACE.match(text, at)) is not None:
        at = found.end()
    return at


def _after_string(text: str, at: int) -> int:
    """Return the end of the string at `at`; an unfinished one ends with its line, a template with the file."""
    quote, at = text[at], at + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == quote or (text[at] == "\n" and quote != "`"):
            return at + 1
        elif quote == "`" and text.startswith("${", at):
            at = _after_hole(text, at + 2)
        else:
            at += 1
    return at


def _after_hole(text: str, at: int) -> int:
    """Return the end of the expression in a template."""
    depth = 1
    while at < len(text) and depth:
        if text[at] in "'\"`":
            at = _after_string(text, at)
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at
