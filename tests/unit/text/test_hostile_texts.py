"""Texts of strangers are read in a time that grows with their length, whatever they are made of.

Anybody may write an issue or a comment of 65,536 characters. An expression that goes back and forth over them takes
seconds, in which an agent does nothing else. What takes a few hundredths of a second here is ended after two seconds of
the processor.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from shared.outgoing.credentials import credentials
from shared.specification.layout import plain_title
from shared.specification.model import names_test
from shared.specification.reading import read
from shared.text import clean, harmless, hosts, neutralise, unfolded
from shared.text.redaction import redact
from worker_agent.attached_images import images
from worker_agent.tdd.damage.untried_kinds import DEEP, _is_unordered
from worker_agent.tdd.inert_markdown import mixed
from worker_agent.tdd.runners.go_report import _error
from worker_agent.tdd.runners.junit import stable

LENGTH = 65_536
SECONDS = 2.0

SIGNS = (
    "x",
    "9",
    "_",
    "-",
    ".",
    " ",
    "\n",
    "\t",
    "\\",
    "|",
    "`",
    "'",
    '"',
    "“",
    "‘",
    "«",
    "[",
    "(",
    "{",
    "<",
    "~",
    "é",
)
WORDS = ("a.", "a-", "a/", "a_b", "aA1", "0a", "a b", "` ", "![", "a[]", "<!--", "<!-- ", "<a ", "<details>", "**a")
ADDRESSES = (
    "://",
    "http://",
    "https://a/",
    "http://a/issues/",
    "a/b#",
    "#1 ",
    "@a/b ",
    "a@b.",
    "- [ ] ",
    "* a\n",
    "1. ",
)
SECRETS = (
    "sk-a",
    "eyJ",
    "ghp_",
    "AKIA",
    "token=",
    "0x",
    "depends on ",
    "Depends on #1, ",
    "@tdd-timeout ",
    "```\n",
    "> ",
)

READERS: tuple[Callable[[str], object], ...] = (
    *(read, plain_title, clean, harmless, neutralise, hosts, unfolded, images, mixed, stable, _error),
    *(DEEP.search, _is_unordered),
    lambda text: list(credentials(text)),
    lambda text: redact(text, ["a-secret-of-some-length"]),
    lambda text: names_test([text], "tests/test_a.py", "test_a[one]"),
)


class TooSlow(Exception):
    """It goes back and forth."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in here after so many seconds of this process's own time."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("unit", [*SIGNS, *WORDS, *ADDRESSES, *SECRETS])
def test_a_hostile_text_is_read_in_no_time(unit: str) -> None:
    text = (unit * (LENGTH // len(unit) + 1))[:LENGTH]
    for reader in READERS:
        for body in (text, f"a {text}\nand more"):
            with within(SECONDS):
                reader(body)


def forever() -> None:
    while True:
        pass


def test_what_goes_back_and_forth_is_noticed() -> None:
    with within(0.1), pytest.raises(TooSlow):
        forever()
