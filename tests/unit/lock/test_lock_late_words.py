"""claim right after the last edit of a comment: a replica of GitHub may still show the text before that edit."""

from __future__ import annotations

import pytest
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Fault, Server, Stale
from lock_world import TERMS

from shared.lock.announce import TRIES
from shared.lock.comment import Words
from shared.lock.hold import Held, beat, release, tell
from shared.lock.port import AdvanceFence, EditComment, PostComment, ReadComment, ReadFence

OLD_WORDS = Words("I look at it.", "nothing yet")
WORDS = Words("Proposal: this seems to be a bug.", "paid for")


def _tell_twice(server: Server, agent: FakeAgent) -> Held:
    held = agent.win()
    run(agent.port, tell(held, OLD_WORDS))
    server.seconds += 60
    run(agent.port, tell(held, WORDS))
    return held


def _words(server: Server) -> list[bool]:
    """Return of each comment whether it has the newer words, and not the older ones."""
    bodies = [one.body for one in server.comments().values()]
    return [WORDS.text in body and WORDS.details in body and OLD_WORDS.text not in body for body in bodies]


@pytest.mark.parametrize("quiet_seconds", [0, 600])
def test_a_restarted_agent_keeps_its_last_words(server: Server, alice: FakeAgent, quiet_seconds: int) -> None:
    """The fence may have been stamped long ago: words are told without moving it."""
    _tell_twice(server, alice)
    server.seconds += quiet_seconds
    again = alice.restart()
    again.port.plan(ReadComment, Stale(seconds=quiet_seconds + 2))
    held = again.win()
    assert again.port.slept == [TERMS.settle]
    assert (held.words.text, held.words.details) == (WORDS.text, WORDS.details)
    assert _words(server) == [True]


def test_another_agent_keeps_the_words_of_the_one_that_has_just_released(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    held = _tell_twice(server, alice)
    assert run(alice.port, release(held))
    bob.port.plan(ReadComment, Stale(seconds=2))
    bob.win()
    assert bob.port.slept == [TERMS.settle]
    assert _words(server) == [True]


def test_the_same_process_waits_only_if_it_is_shown_an_older_text(server: Server, alice: FakeAgent) -> None:
    held = _tell_twice(server, alice)
    assert run(alice.port, release(held))
    alice.port.plan(ReadComment, Stale(seconds=2))
    held = alice.win()
    assert alice.port.slept == [TERMS.settle]
    assert _words(server) == [True]
    assert run(alice.port, release(held))
    alice.win()
    assert alice.port.slept == [TERMS.settle], "what it was shown was its own last text"


def test_the_later_of_two_readings_counts_though_it_came_first(server: Server, alice: FakeAgent) -> None:
    _tell_twice(server, alice)
    again = alice.restart()
    again.port.plan(ReadComment, None, Stale(seconds=TERMS.settle + 2))
    again.win()
    assert _words(server) == [True]


def test_a_comment_that_is_shown_late_keeps_its_words(server: Server, alice: FakeAgent) -> None:
    held = alice.win()
    run(alice.port, tell(held, WORDS))
    server.seconds += 1
    again = alice.restart()
    again.port.plan(ReadComment, Stale(seconds=30))
    again.win()
    assert again.port.count(PostComment) == 0
    assert _words(server) == [True]


def test_a_second_reading_that_fails_leaves_the_comment_as_it_is(server: Server, alice: FakeAgent) -> None:
    """The heartbeat writes it, with the words that it reads then."""
    _tell_twice(server, alice)
    again = alice.restart()
    again.port.plan(ReadComment, Stale(seconds=2), *[Fault.FAILED] * TRIES)
    held = again.win()
    assert again.port.count(EditComment) == 0
    assert _words(server) == [True]
    server.seconds += TERMS.heartbeat
    run(again.port, beat(held))
    held.check()
    assert _words(server) == [True]


def test_an_old_end_is_read_once(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = _tell_twice(server, alice)
    assert run(alice.port, release(held))
    server.seconds += 121
    bob.win()
    assert bob.port.slept == []
    assert [type(one) for one in bob.port.done] == [ReadFence, AdvanceFence, ReadComment, EditComment]
    assert _words(server) == [True]
