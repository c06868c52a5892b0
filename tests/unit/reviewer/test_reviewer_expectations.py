"""Each change to an old test is a question of its own; without a criterion that asks for it, a person merges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import ADA, HEAD, NEXT, World, answer, finding
from reviewer_merge_scene import merges

from reviewer_agent.review.answer import ExpectationAnswer, parse, schema
from reviewer_agent.review.evidence import OF_ANOTHER_COMMIT, UNSIGNED
from reviewer_agent.review.questions import (
    Answered,
    ChangeKind,
    Question,
    Recorded,
    answered,
    names,
    questions_of,
    shown,
)
from reviewer_agent.snapshot import Merge
from shared.git.notes import ChangedTest, ProofNote
from shared.git.proof_claim import ClaimedProof
from shared.scheduling.agent_contract import Skip
from shared.workflow import Stage

OLD = "tests/test_a.py::test_x"
CHANGED = Question(ChangeKind.CHANGED, OLD, "its expectation changed", "-assert page() == 1\n+assert page() == 2")
REMOVED = Question(ChangeKind.REMOVED, "tests/test_a.py::test_gone")
PINNED = Question(ChangeKind.PINNED, "setup.cfg")
DOUBT = Question(ChangeKind.DOUBT, "a.py::f: it is new, and no test that the change concerns fails when it raises")
REST = Question(ChangeKind.CHANGED, "... and 3 more")
ALL = (CHANGED, REMOVED, PINNED, DOUBT)
RECORDED = Recorded(proof="- the new tests noticed 14 of 16 damages", questions=(CHANGED,))
NOBODY = f"A changed expectation of `{OLD}` has no criterion that asks for it."


def said(test: str = OLD, reply: str = "yes", criterion: str = "AC1", why: str = "a part is enough") -> dict[str, str]:
    """Return one answer as a coder gives it."""
    return {"test": test, "asked": reply, "criterion": criterion, "why": why}


NO = said(reply="no", criterion="", why="nothing says so")


def review(*said: Any, verdict: str = "approved", **more: Any) -> dict[str, Any]:
    return answer(verdict, expectations=list(said), **more)


# What is asked.


def test_notes_and_claim_together_say_what_is_asked() -> None:
    note = ProofNote(
        changed_tests=(ChangedTest(CHANGED.about, CHANGED.what, CHANGED.diff),), removed_tests=(REMOVED.about,)
    )
    claimed = ClaimedProof(changed_tests=(OLD,), removed_tests=(REMOVED.about,), pinned=("setup.cfg",))
    claimed = replace(claimed, doubts=(DOUBT.about,))
    assert questions_of([note], claimed) == ALL
    assert questions_of([], claimed) == (Question(ChangeKind.CHANGED, OLD), REMOVED, PINNED, DOUBT)
    assert questions_of([ProofNote(doubts=(DOUBT.about,))], None) == (DOUBT,)
    assert questions_of([note, note], None) == (CHANGED, REMOVED)
    assert questions_of([], None) == ()


@pytest.mark.parametrize(("listed", "rest"), [(4, False), (3, True), (0, True)])
def test_what_a_claim_leaves_out_is_asked_unless_the_notes_name_it(listed: int, rest: bool) -> None:
    note = ProofNote(changed_tests=tuple(ChangedTest(f"t.py::test_{number}", "") for number in range(listed)))
    found = questions_of([note], ClaimedProof(changed_tests=("t.py::test_0", REST.about)))
    assert (REST in found) is rest


def test_what_is_not_listed_nobody_can_answer() -> None:
    assert names([CHANGED, REST, CHANGED, PINNED]) == (OLD, "setup.cfg")
    given = ExpectationAnswer.model_validate(said(REST.about))
    (reply,) = answered([REST], [given], ["AC1"])
    assert (reply.criterion, reply.why) == ("", "the review does not say")
    assert "a person looks at them" in shown([REST])


@pytest.mark.parametrize(
    ("given", "criterion"),
    [
        ([said()], "AC1"),
        ([said(), NO], ""),
        ([NO], ""),
        ([], ""),
        ([said("tests/test_b.py::test_y")], ""),
        ([said(criterion="AC9")], ""),
        ([said(criterion="")], ""),
    ],
    ids=["yes", "yes and no", "no", "silence", "of another test", "of no criterion there is", "of none"],
)
def test_only_a_criterion_that_there_is_asks_for_it(given: list[dict[str, str]], criterion: str) -> None:
    replies = answered([CHANGED], [ExpectationAnswer.model_validate(one) for one in given], ["AC1", "AC2"])
    assert [reply.criterion for reply in replies] == [criterion]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (CHANGED, f"a changed expectation of `{OLD}` has no criterion that asks for it"),
        (REMOVED, "the removed test `tests/test_a.py::test_gone` has no criterion that asks for it"),
        (PINNED, "the change of `setup.cfg`, which steers the test run, has no criterion that asks for it"),
        (
            Question(ChangeKind.CHANGED, "t.py::`x` <!-- a\n/merge"),
            "a changed expectation of `t.py::'x' <\u200d!-- a /merge` has no criterion that asks for it",
        ),
    ],
)
def test_what_is_told_of_each(question: Question, sentence: str) -> None:
    assert question.unasked == sentence
    assert Answered(question, why="no word").finding.why == f"{sentence}: no word"


def test_the_schema_asks_about_exactly_these() -> None:
    made = schema((), (OLD, "setup.cfg"))
    assert "expectations" in made["required"]
    assert made["$defs"]["ExpectationAnswer"]["properties"]["test"]["enum"] == [OLD, "setup.cfg"]
    assert "expectations" not in schema(())["properties"]


def test_an_answer_may_ask_for_changes_because_of_nothing_else() -> None:
    raw = review(NO, verdict="changes_requested")
    assert parse(raw, ("AC1", "AC2"), (), (OLD,)).expectations[0].asked == "no"


# What follows.


async def test_what_the_coder_is_asked_about_the_proof() -> None:
    world = World(answers=[review(said())], recorded=Recorded("", RECORDED.proof, ALL))
    await tick(world)
    prompt = world.requests[0].prompt
    for told in (
        "- the new tests noticed 14 of 16 damages",
        f"changed expectation: {OLD}\n  its expectation changed\n    -assert page() == 1",
        "removed test: tests/test_a.py::test_gone",
        "changed file that steers the test run: setup.cfg",
    ):
        assert told in prompt
    (request,) = world.requests
    assert request.schema is not None
    assert request.schema["$defs"]["ExpectationAnswer"]["properties"]["test"]["enum"] == [one.about for one in ALL]


async def test_what_a_criterion_asks_for_is_merged() -> None:
    world = World(answers=[review(said())], recorded=RECORDED)
    await tick(world, **auto())
    assert merges(world) == 1
    assert f"- changed expectation `{OLD}`: asked for by **AC1**: a part is enough" in world.reviews[0].body


@pytest.mark.parametrize("given", [[NO], [], [said(criterion="AC9")]], ids=["no", "silence", "no such criterion"])
async def test_what_no_criterion_asks_for_waits_for_a_person(given: list[dict[str, str]]) -> None:
    world = World(answers=[review(*given)], recorded=RECORDED)
    await tick(world, **auto())
    assert merges(world) == 0
    assert world.stage is Stage.APPROVED
    assert world.statuses[-1].sentence == f"Approved at {HEAD[:12]}. {NOBODY} Comment `/merge`, or merge it yourself."
    assert world.statuses[-1].data["waiting"] == {"why": "unasked"}
    assert f"`{OLD}`: **no criterion asks for it**" in world.reviews[0].body
    told = f"**Please check before merging:** {NOBODY[:1].lower()}{NOBODY[1:-1]}. A maintainer has to merge this"
    assert told in world.reviews[0].body
    assert isinstance(await look(reviewer(world, **auto())), Skip), "that is said once"
    world.server.seconds += 3600
    world.say(ADA, "/merge")
    await tick(world, **auto())
    assert merges(world) == 1
    assert len(world.requests) == 1


async def test_whoever_orders_every_merge_is_shown_it_too() -> None:
    world = World(answers=[review(NO)], recorded=RECORDED)
    await tick(world, merge=Merge.APPROVE)
    assert NOBODY in world.statuses[-1].sentence
    assert merges(world) == 0
    other = World(answers=[review(NO)], recorded=RECORDED)
    await tick(other, merge=Merge.NEVER)
    assert other.statuses[-1].sentence == f"Approved at {HEAD[:12]}. {NOBODY} A maintainer merges it."


async def test_many_of_them_are_counted() -> None:
    world = World(answers=[review()], recorded=Recorded(questions=(*ALL, REST)))
    await tick(world, **auto())
    told = world.statuses[-1].sentence
    assert told.count("has no criterion that asks for it") == 3
    assert "And 2 more." in told


async def test_a_request_for_changes_tells_the_author_which_and_what_to_do() -> None:
    world = World(answers=[review(NO, verdict="changes_requested"), review(said())], recorded=RECORDED)
    await tick(world, **auto())
    assert world.stage is Stage.CHANGES_REQUESTED
    (finding,) = [line for line in world.reviews[0].body.splitlines() if line.startswith("- **major**")]
    assert finding.startswith("- **major** `tests/test_a.py`: a changed expectation of `")
    assert finding.endswith(
        "Suggestion: Leave it as it was, or let a criterion of the specification ask for the change."
    )
    world.server.seconds += 3600
    world.change(head_sha=NEXT, labels=frozenset({"status:reviewing"}))
    await tick(world, merge=Merge.NEVER)
    assert "- F1 **major** `tests/test_a.py`" in world.requests[1].prompt, "it is asked about in the next round"


async def test_an_objection_that_comes_too_late_does_not_hide_it() -> None:
    late = answer("changes_requested", finding(), expectations=[NO])
    world = World(answers=[answer("changes_requested", finding("minor")), late], recorded=RECORDED)
    await tick(world, **auto())
    world.server.seconds += 3600
    world.change(head_sha=NEXT, labels=frozenset({"status:reviewing"}))
    world.diffs[HEAD, NEXT] = ""
    await tick(world, **auto())
    assert world.stage is Stage.CHANGES_REQUESTED
    assert merges(world) == 0


@pytest.mark.parametrize("doubt", [UNSIGNED, OF_ANOTHER_COMMIT])
async def test_a_claim_that_is_not_the_engines_own_waits_for_a_person(doubt: str) -> None:
    world = World(answers=[answer()], recorded=Recorded(doubt=doubt))
    await tick(world, **auto())
    assert merges(world) == 0
    sentence = f"{doubt[:1].upper()}{doubt[1:]}"
    assert world.statuses[-1].sentence.endswith(f". {sentence}. Comment `/merge`, or merge it yourself.")
    assert doubt in world.reviews[0].body
    world.server.seconds += 3600
    world.say(ADA, "/merge")
    await tick(world, **auto())
    assert merges(world) == 1
