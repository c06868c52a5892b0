"""Instructions on stopped items: whoever does just that, word for word, has the work done."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from engine import OWNER, REPOSITORY, Engine
from office import Office, office
from worker_scene import eventually, labels

from lab.github.server import CHECK_NAME

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"
STOPPED = "Stopped: "

SWEPT_LOOKS = 45
"""Looks until what rests was swept, and looked at again after a doubt."""


_STEPS = re.compile(r"(reopen|unlock) this |(?<!:)set (?:the label )?`([^`]+)`", re.IGNORECASE)


def follow(here: Office, number: int, told: str) -> list[str]:
    """Do what `told` says until its first label, in its order; return the steps that were done."""
    issues, done = here.engine.lab.at(REPOSITORY).issues, list[str]()
    for verb, label in _STEPS.findall(told):
        here.engine.lab.clock.advance(2)
        if verb.casefold() == "reopen":
            here.engine.lab.reopen(REPOSITORY, number, actor=OWNER)
        elif verb.casefold() == "unlock":
            issues.unlock(number, OWNER)
        elif label in labels(here.engine, number):  # "(again)"
            here.unlabel(number, label)
        done.append(verb.casefold() or label)
        if label:
            here.label(number, label)
            return done
    return done


def _slow(call: str, answer: str) -> str:
    """Return a scripted answer about the bee that comes when nobody waits for it any more."""
    return f"\n- call: {call}\n  for: greet bee\n  takes: 600\n  {answer}\n"


def closes(here: Office, number: int) -> None:
    here.engine.lab.close(REPOSITORY, number, actor=OWNER)


def locks(here: Office, number: int) -> None:
    here.engine.lab.at(REPOSITORY).issues.lock(number, OWNER)


def takes_the_stage_off(here: Office, number: int) -> None:
    for label in labels(here.engine, number):
        if label.startswith("status:"):
            here.unlabel(number, label)


def says_stop(here: Office, number: int) -> None:
    here.say(number, "/stop")


Stop = Callable[[Office, int], None]


@pytest.mark.parametrize(
    ("stop", "steps"),
    [
        (closes, ["reopen", "status:planning"]),
        (takes_the_stage_off, ["status:planning"]),
        (says_stop, ["status:planning"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
async def test_a_stopped_story_is_planned_anew(engine: Engine, stop: Stop, steps: list[str]) -> None:
    async with office(engine, "ant", approval="comment") as here:
        number = here.issue("Greet ant", "Greet them.", "story")
        await here.until(lambda: "status:awaiting-approval" in labels(engine, number), here.planner)
        stop(here, number)
        await here.until(lambda: "Stopped" in here.status(number), here.planner, looks=SWEPT_LOOKS)
        assert follow(here, number, here.status(number)) == steps
        await here.until(lambda: any("Plan, version 2" in one.body for one in here.said(number)), here.planner)
        await here.look(2, here.planner)
        assert "Stopped" not in here.status(number), "what waits now is the plan"
        assert "Version 2 of the plan waits for your decision" in here.status(number)
        here.say(number, "/approve")
        await here.until(lambda: "status:specified" in labels(engine, number), here.planner)
        assert "1 specification issue created" in here.status(number)


def takes_story_off(here: Office, number: int) -> None:
    here.unlabel(number, "story")


@pytest.mark.parametrize(
    ("stop", "steps"),
    [(takes_story_off, ["story"]), (locks, ["unlock", "status:planning"])],
    ids=["no story any more", "locked"],
)
async def test_a_story_that_is_stopped_while_it_is_planned_is_planned_anew(
    engine: Engine, stop: Stop, steps: list[str]
) -> None:
    async with office(engine, "ant", knows=_slow("plan", "answer: {}"), approval="comment") as here:
        number = here.issue("Greet bee", "Greet them.", "story")
        await engine.look(here.planner)
        await eventually(lambda: "status:planning" in labels(engine, number))
        stop(here, number)
        await here.until(lambda: STOPPED in here.status(number), here.planner)
        here.edit(number, title="Greet ant")
        assert follow(here, number, here.status(number)) == steps
        await here.until(lambda: "status:awaiting-approval" in labels(engine, number), here.planner)
        assert STOPPED not in here.status(number)


@pytest.mark.parametrize(("stop", "step"), [(closes, "reopen"), (locks, "unlock")], ids=["closed", "locked"])
async def test_a_stopped_issue_is_implemented_anew(engine: Engine, stop: Stop, step: str) -> None:
    async with office(engine, "ant", knows=_slow("write_tests", "edits: []")) as here:
        number = here.ready("Greet bee", BODY)
        await engine.look(here.worker)
        await eventually(lambda: "status:implementing" in labels(engine, number))
        stop(here, number)
        await here.until(lambda: STOPPED in here.status(number), here.worker)
        here.edit(number, title="Greet ant")
        assert follow(here, number, here.status(number)) == [step, "status:ready"]
        await here.until(lambda: here.is_merged(number))


@pytest.mark.parametrize("on_pull_request", [False, True], ids=["on the issue", "on the pull request"])
async def test_a_text_that_is_to_be_corrected_says_where_it_goes_on(engine: Engine, on_pull_request: bool) -> None:
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.say(pull if on_pull_request else number, "/spec-review")
        await here.until(lambda: "flag:spec-review-needed" in labels(engine, number))
        await here.look()
        told = "\n".join(one.body for one in here.said(number))
        assert f"#{pull} was closed by `/spec-review` of ada." in told
        assert "correct the text of this issue, then comment `/close-and-reset` here" in told
        if on_pull_request:
            where = f"it waits until the text of #{number} is corrected; then `/close-and-reset` there starts over"
            assert where in here.status(pull)
        else:
            assert f"CI is green; #{pull} waits for review" not in here.status(number), "that is over"
        here.failed.clear()
        here.protect()
        here.edit(number, body=f"{BODY}And the fly.\n")
        here.say(number, "/close-and-reset")
        await here.until(lambda: here.is_merged(number))
        here.failed.clear()


async def test_a_text_in_doubt_names_the_thread_whose_label_is_set_again(engine: Engine) -> None:
    """A stranger edits the issue after the label on its pull request was set, before a worker has read it."""
    async with office(engine, "ant", ci={"max_retries": 0}) as here:
        engine.ci.jobs = {CHECK_NAME: "false"}
        number = here.issue("Greet ant", BODY, by="mallory")
        here.label(number, "status:ready")
        await here.until(lambda: number in here.failed or bool(here.failed), here.worker)
        here.failed.clear()
        pull, branch = here.pull(number).number, here.pull(number).head_branch
        engine.ci.jobs = {CHECK_NAME: "true"}
        await engine.lab.ci_run(REPOSITORY, branch)
        await engine.lab.idle()
        here.label(pull, "status:changes-requested")
        here.edit(number, body=f"{BODY}And the fly.\n", by="mallory")
        told = f"Please read it, then remove `status:changes-requested` on #{pull} and set it again."
        await here.until(lambda: told in here.status(number), here.worker)
        here.unlabel(pull, "status:changes-requested")
        here.label(pull, "status:changes-requested")
        await here.until(lambda: here.is_merged(number))
        here.failed.clear()
