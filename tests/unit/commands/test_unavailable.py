"""A command that does nothing here is refused in one sentence, and words that mean a command are pointed to it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from command_thread import reader
from command_world import World
from fakes.unasked import UnaskedStatus

from shared.commands.command import Verb, consents
from shared.commands.command_loop import APPROVE, CommandLoop, CommandProfile
from shared.commands.command_rules import BY_CONFIGURATION, NOT_CLEARED, not_merged
from shared.commands.command_target import CommandTarget
from shared.commands.recovery import Case, Recovery
from shared.models import Issue
from shared.workflow import Role, Stage, Track
from shared.workflow.labels import Labels


@dataclass
class Scene(World, UnaskedStatus):
    """One thread at `stage`, whose status comment says `waiting` to programs."""

    stage: Stage = Stage.APPROVED
    track: Track = Track.PULL_REQUEST
    role: Role = Role.REVIEWER
    waiting: dict[str, Any] = field(default_factory=dict)
    replies: list[tuple[str, str]] = field(default_factory=list)

    @property
    def listed(self) -> Mapping[int, Issue]:
        is_pull = self.track is Track.PULL_REQUEST
        return {7: replace(self.thread.listed, labels=self.labels, is_pull_request=is_pull)}

    async def target(self, number: int) -> CommandTarget:
        issue = self.listed[7]
        return CommandTarget(
            Case(issue, replace(self.fence, stage=self.stage), issue), self.track, self.stage, self.role
        )

    async def data(self, number: int) -> dict[str, Any]:
        return {"waiting": self.waiting}

    async def once(self, number: int, purpose: str, text: str) -> bool:
        new = purpose not in [known for known, _ in self.replies]
        self.replies += [(purpose, text)] if new else []
        return new


def desk(scene: Scene, *unavailable: Verb) -> CommandLoop:
    all_else: Any = scene
    recovery = Recovery(all_else, all_else, all_else, all_else, Labels())
    rules = CommandProfile(scene.role, all_else, unavailable=frozenset(unavailable))
    return CommandLoop(rules, reader(scene.thread), all_else, recovery, scene, all_else)


def of_pull_request(waiting: dict[str, Any]) -> Scene:
    return Scene(labels=frozenset({"status:approved"}), waiting=waiting)


def of_story() -> Scene:
    return Scene(
        labels=frozenset({"story", "status:awaiting-approval"}),
        stage=Stage.AWAITING_APPROVAL,
        track=Track.STORY,
        role=Role.PLANNER,
    )


@pytest.mark.parametrize("why", [*NOT_CLEARED, "not_ordered", "large", ""])
async def test_a_merge_that_does_nothing_now_is_refused_with_the_reason(why: str) -> None:
    scene = of_pull_request({"why": why})
    scene.thread.say(9, "/merge")
    assert await desk(scene).attend(7, scene.listed, scene.is_free) == ""
    expected = [f"not merged yet: {NOT_CLEARED[why]}"] if why in NOT_CLEARED else []
    assert [entry["outcome"] for entry in scene.told] == expected
    assert scene.replies == []


async def test_a_merge_that_people_make_is_refused_and_not_offered() -> None:
    scene = of_pull_request({})
    one = desk(scene, Verb.MERGE)
    scene.thread.say(9, "/merge")
    scene.thread.say(10, "/shipit")
    await one.attend(7, scene.listed, scene.is_free)
    assert [entry["outcome"] for entry in scene.told] == [BY_CONFIGURATION[Verb.MERGE].sentence]
    ((purpose, text),) = scene.replies
    assert purpose == "unknown-command"
    assert "`/merge`" not in text


async def test_words_of_approval_under_a_plan_are_pointed_to_the_command_once() -> None:
    scene = of_story()
    one = desk(scene)
    scene.thread.say(9, "LGTM, go ahead")
    await one.attend(7, scene.listed, scene.is_free)
    scene.thread.say(10, "Ship it!")
    await one.attend(7, scene.listed, scene.is_free)
    assert scene.replies == [("approve-by-command", APPROVE)]
    assert (scene.told, scene.reactions) == ([], []), "nothing was started and nothing recorded"


async def test_where_plans_are_approved_at_a_terminal_that_is_said() -> None:
    scene = of_story()
    scene.thread.say(9, "/approve")
    one = desk(scene, Verb.APPROVE)
    await one.attend(7, scene.listed, scene.is_free)
    assert [entry["outcome"] for entry in scene.told] == [BY_CONFIGURATION[Verb.APPROVE].sentence]
    scene.thread.say(10, "LGTM")
    await one.attend(7, scene.listed, scene.is_free)
    assert scene.replies == [("approve-by-command", BY_CONFIGURATION[Verb.APPROVE].sentence)]


@pytest.mark.parametrize("said", ["Please split the first step.", "LGTM, but rename it", "> LGTM", "Looks good?"])
async def test_other_words_under_a_plan_get_no_hint(said: str) -> None:
    scene = of_story()
    scene.thread.say(9, said)
    await desk(scene).attend(7, scene.listed, scene.is_free)
    assert scene.replies == []


@pytest.mark.parametrize(
    ("said", "approves"),
    [
        ("LGTM, go ahead", True),
        ("+1", True),
        ("👍", True),
        (":+1:", True),
        ("Looks good to me!", True),
        ("approved", True),
        ("```\nLGTM\n```", False),
        ("Not approved.", False),
        ("Please use JWT", False),
        ("Looks good, " + "x" * 200, False),
        ("", False),
    ],
)
def test_only_words_that_approve_and_nothing_else_are_taken_so(said: str, *, approves: bool) -> None:
    assert consents(said) is approves


@pytest.mark.parametrize("data", [{}, {"waiting": "x"}, {"waiting": {}}, {"waiting": {"why": "new word"}}])
def test_a_status_comment_that_says_nothing_refuses_nothing(data: dict[str, Any]) -> None:
    assert not_merged(data) == ""
