"""The mark of a review tells which commit it judged, to every later process and to nobody else's review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_server import BOT, EPOCH
from fakes.reviewer_world import HEAD, KEYS, MALLORY, NEXT, PULL

from reviewer_agent.review.verdict import Judgement, PersonOnly, Reader, ReviewVerdict, mark
from shared.models import Review, ReviewState
from shared.text import comment_signatures
from shared.text.comment_signatures import Key, Keyring

OPINION = ReviewVerdict(HEAD, 1, Judgement.APPROVED, PersonOnly.BREAKING, 5, EPOCH)
READER = Reader(KEYS, {BOT.id})


def review(body: str, **facts: Any) -> Review:
    return replace(Review(5, BOT, ReviewState.APPROVED, body, HEAD, EPOCH), **facts)


@pytest.mark.parametrize("ending", ["\nApproved.", "\r\nApproved.\r\n", "\n\n- `a.py:1` added by the adapter"])
def test_an_opinion_is_read_back_from_its_mark(ending: str) -> None:
    assert READER.read(PULL, review(mark(KEYS, PULL, OPINION) + ending)) == OPINION


@pytest.mark.parametrize("care", [PersonOnly.UNASKED, PersonOnly.UNSIGNED])
def test_what_speaks_against_a_merge_is_read_back_with_its_first_sentences(care: PersonOnly) -> None:
    sentences = tuple(f"a changed expectation of `t.py::test_{number}[<!-- -->]` has none" for number in range(5))
    given = replace(OPINION, care=care, blockers=sentences)
    found = READER.read(PULL, review(mark(KEYS, PULL, given)))
    assert found == replace(given, blockers=(*sentences[:3], "and 2 more"))


def test_the_mark_of_an_older_engine_has_no_such_sentences() -> None:
    fields = {"sha": HEAD, "onto": "", "round": "1", "verdict": "approved", "care": "breaking", "lines": "0"}
    old = KEYS.sign("review", PULL, comment_signatures.render("engine-review", fields))
    assert READER.read(PULL, review(old)) == OPINION


@pytest.mark.parametrize(
    "forged",
    [
        review("Approved."),
        review("<!-- engine-status/1 mac=none -->"),
        review(mark(KEYS, PULL, OPINION), author=MALLORY),
        review(mark(KEYS, PULL, OPINION), head_sha=NEXT),
        review(mark(KEYS, PULL + 1, OPINION)),
        review(mark(KEYS, PULL, OPINION).replace("breaking", "none")),
        review(mark(Keyring(99, (Key.of(b"other"),)), PULL, OPINION)),
        review("Look:\n" + mark(KEYS, PULL, OPINION)),
        review(KEYS.sign("review", PULL, comment_signatures.render("engine-review", {"sha": HEAD, "round": "x"}))),
        review(
            KEYS.sign(
                "review", PULL, comment_signatures.render("engine-review", {"sha": HEAD, "round": "1", "verdict": "ok"})
            )
        ),
    ],
)
def test_everything_else_is_no_opinion(forged: Review) -> None:
    assert READER.read(PULL, forged) is None


def test_the_engines_own_reviews_are_not_a_persons_whichever_account_posted_them() -> None:
    ours = review(mark(KEYS, PULL, OPINION), author=MALLORY)
    theirs = review("No.", author=BOT)
    assert READER.by_people(PULL, [ours, theirs]) == (theirs,)
