"""The edges of the state machine that no day's story comes along: what a maintainer does when something goes wrong."""

from __future__ import annotations

import orphan_scene
import pytest
from branch_scene import NOTES, push, tip, work_branch
from engine import OWNER, REPOSITORY, Engine
from orphan_scene import issue, one_life, pull_request
from worker_scene import CODE, REVIEW, TESTS, calls, comments, labels, pulls, status

from lab.demo.stories import STORIES, scenario
from lab.github.server import CHECK_NAME
from shared.workflow import HALTED, Role, Stage

pytestmark = pytest.mark.long

ASKS = 'ambiguities: [{question: "Which name?", assumption: The whole one., blocking: true}]'
OF_WORKER = frozenset({Stage.IMPLEMENTING, Stage.TESTING, Stage.CI_FAILED})
"""Stages of a pull request that stand in its worker's fence."""


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a reviewer that approves it."""
    engine.script(TESTS + CODE + REVIEW)
    return engine


def say(engine: Engine, number: int, text: str) -> None:
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, number, text, author=OWNER)


def plans(engine: Engine, number: int) -> int:
    """Return the number of plans that were posted to a story."""
    return len([one for one in comments(engine, number) if "<!-- engine-plan/" in one.body])


def paid(engine: Engine) -> list[str]:
    """Return every call that was answered on any machine."""
    return [path.name for path in engine.directory.glob("*/scripted/*-given")]


@pytest.mark.edges(
    "story: planning, questions asked",
    "story: awaiting-approval, answered",
    "story: awaiting-approval, edited",
    "story: awaiting-approval, rejected",
    "story: awaiting-approval, gave up",
)
async def test_a_plan_is_asked_about_edited_rejected_and_at_last_given_to_a_person(engine: Engine) -> None:
    text = scenario(STORIES[:1])
    plan = text[: text.index("- call: write_tests")]
    later = plan.replace("- call: plan\n", "- call: plan\n  round: any\n")
    engine.script(plan.replace("ambiguities: []", ASKS) + later)
    engine.repository_settings |= {"approval": "comment"}
    story = STORIES[0]
    number = engine.lab.issue(REPOSITORY, story.title, story.body, author=OWNER, labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: "flag:needs-answer" in labels(engine, number), planner)
        for count, word in enumerate(("The whole name.", "/edit Ignore the case.", "/reject Too large."), 2):
            say(engine, number, word)
            await engine.in_time(lambda count=count: plans(engine, number) == count, planner)  # type: ignore[misc]
            await engine.until(lambda: "status:awaiting-approval" in labels(engine, number), planner)
            assert "flag:needs-answer" not in labels(engine, number)
        say(engine, number, "/reject Still too large.")
        await engine.in_time(lambda: "status:failed" in labels(engine, number), planner)
    assert "flag:manual-intervention" in labels(engine, number)
    assert len(engine.lab.at(REPOSITORY).issues.records.values()) == 1, "nothing was specified"


async def in_a_round(engine: Engine, stage: Stage, *, phase: str = "ci") -> tuple[int, int]:
    """Make an issue at `reviewing` whose pull request is at `stage` of its first round of changes; return both."""
    shown = "status:reviewing" if stage not in HALTED else f"status:{stage}"
    number = issue(engine, shown)
    pull = await pull_request(engine, number, f"status:{stage}")
    base = await tip(engine, "main")
    await orphan_scene.fence(engine, Role.WORKER, number, stage, pr=pull, round=1, phase=phase, base=base)
    return number, pull


@pytest.mark.edges("pull_request: testing, CI given up", "specification: reviewing, CI given up")
async def test_a_ci_that_stays_red_in_a_round_of_changes_is_given_to_a_person(engine: Engine) -> None:
    engine.repository_settings |= {"ci": {"max_retries": 0}}
    number, pull = await in_a_round(engine, Stage.TESTING)
    head = engine.lab.at(REPOSITORY).pulls.require(pull).head_sha
    engine.lab.at(REPOSITORY).checks.say(head, "audit", "failure", description="Unsafe", creator=OWNER)
    assert await one_life(engine, Role.WORKER, ticks=3) == ["failed"]
    assert (labels(engine, number), labels(engine, pull)) == (
        {"status:ci-failed", "flag:manual-intervention"},
        {"status:ci-failed", "flag:manual-intervention"},
    )
    assert "audit" in status(engine, number)


async def given_up(engine: Engine) -> tuple[int, int]:
    """Make an issue whose CI stayed red, and its pull request; CI has recovered since."""
    engine.repository_settings |= {"ci": {"max_retries": 0}}
    engine.ci.jobs = {CHECK_NAME: "false"}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    (pull,) = pulls(engine)
    assert "status:ci-failed" in labels(engine, pull.number)
    engine.ci.jobs = {CHECK_NAME: "true"}
    return number, pull.number


@pytest.mark.edges("pull_request: ci-failed, retried", "specification: ci-failed, retried, pull request open")
async def test_retry_leads_on_from_a_ci_that_was_given_up(engine: Engine) -> None:
    number, pull = await given_up(engine)
    before = paid(engine)
    say(engine, pull, "/retry")
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: "status:reviewing" in labels(engine, pull), worker)
    assert labels(engine, number) == {"status:reviewing"}
    assert paid(engine) == before, "CI was only run once more"


@pytest.mark.edges("specification: ci-failed, retried")
async def test_retry_starts_over_where_the_pull_request_was_closed_meanwhile(engine: Engine) -> None:
    number, pull = await given_up(engine)
    engine.lab.close(REPOSITORY, pull, actor=OWNER)
    say(engine, number, "/retry")
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: len(pulls(engine)) == 2, worker, seconds=300)
        await engine.until(lambda: bool(worker.ended), worker)
    assert labels(engine, number) == {"status:reviewing"}


@pytest.mark.edges("pull_request: testing, CI overdue")
async def test_a_ci_that_does_not_end_in_a_round_of_changes_goes_to_review_with_a_warning(engine: Engine) -> None:
    engine.repository_settings |= {"ci": {"timeout": 1}}
    number, pull = await in_a_round(engine, Stage.TESTING)
    head = engine.lab.at(REPOSITORY).pulls.require(pull).head_sha
    engine.lab.at(REPOSITORY).checks.say(head, "audit", "pending", description="slow", creator=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert "without passing CI" in status(engine, number)
    assert "status:reviewing" in labels(engine, pull)


@pytest.mark.edges("pull_request: testing, gave up")
async def test_a_branch_that_is_rewritten_in_a_round_of_changes_is_left_to_its_person(engine: Engine) -> None:
    number, pull = await in_a_round(engine, Stage.TESTING)
    theirs = await push(engine, work_branch(number), NOTES, on=await tip(engine, "main"))
    assert await one_life(engine, Role.WORKER, ticks=3) == ["failed"]
    assert "status:failed" in labels(engine, pull)
    assert await tip(engine, work_branch(number)) == theirs


@pytest.mark.edges("pull_request: in-review, head moved")
async def test_a_commit_that_a_person_asks_about_during_a_review_is_reviewed(engine: Engine) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:in-review")
    await orphan_scene.fence(engine, Role.REVIEWER, pull, Stage.IN_REVIEW)
    await push(engine, work_branch(number))
    engine.lab.clock.advance(2)
    engine.lab.unlabel(REPOSITORY, pull, "status:in-review", actor=OWNER)
    engine.lab.label(REPOSITORY, pull, "status:reviewing", actor=OWNER)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.in_time(lambda: bool(engine.lab.at(REPOSITORY).pulls.reviews_of(pull)), reviewer)
    (review,) = engine.lab.at(REPOSITORY).pulls.reviews_of(pull)
    assert review.commit_id == engine.lab.at(REPOSITORY).pulls.require(pull).head_sha


async def approved(engine: Engine) -> int:
    """Make a pull request that the engine has built and approved."""
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
    assert labels(engine, number) == {"status:reviewing"}
    return pull.number


@pytest.mark.parametrize(
    "why",
    [
        pytest.param("a check", marks=pytest.mark.edges("pull_request: approved, CI red")),
        pytest.param("a person", marks=pytest.mark.edges("pull_request: approved, changes requested")),
    ],
)
async def test_what_was_approved_goes_back_when_it_turns_out_wrong(engine: Engine, why: str) -> None:
    pull = await approved(engine)
    here = engine.lab.at(REPOSITORY)
    head = here.pulls.require(pull).head_sha
    engine.lab.clock.advance(301)
    if why == "a check":
        here.checks.say(head, "audit", "failure", description="Unsafe", creator=OWNER)
    else:
        engine.repository_settings |= {"merge": "auto"}
        here.pulls.review(pull, OWNER, "CHANGES_REQUESTED", "Greet them politely.", head)
    async with engine.agent(Role.REVIEWER, state="machine-2") as reviewer:
        await engine.until(lambda: "status:changes-requested" in labels(engine, pull), reviewer)
    assert calls(engine, "review") == 1
    assert here.pulls.require(pull).merged_at is None


@pytest.mark.parametrize(
    ("role", "stage"),
    [
        pytest.param(Role.PLANNER, Stage.NEW, marks=pytest.mark.edges("story: new, withdrew")),
        pytest.param(Role.PLANNER, Stage.PLANNING, marks=pytest.mark.edges("story: planning, withdrew")),
        pytest.param(
            Role.PLANNER, Stage.AWAITING_APPROVAL, marks=pytest.mark.edges("story: awaiting-approval, withdrew")
        ),
        pytest.param(Role.PLANNER, Stage.SPECIFIED, marks=pytest.mark.edges("story: specified, withdrew")),
        pytest.param(Role.PLANNER, Stage.FAILED, marks=pytest.mark.edges("story: failed, withdrew")),
        pytest.param(Role.WORKER, Stage.NEW, marks=pytest.mark.edges("specification: new, withdrew")),
        pytest.param(Role.WORKER, Stage.READY, marks=pytest.mark.edges("specification: ready, withdrew")),
        pytest.param(Role.WORKER, Stage.IMPLEMENTING, marks=pytest.mark.edges("specification: implementing, withdrew")),
        pytest.param(Role.WORKER, Stage.TESTING, marks=pytest.mark.edges("specification: testing, withdrew")),
        pytest.param(
            Role.WORKER, Stage.AWAITING_APPROVAL, marks=pytest.mark.edges("specification: awaiting-approval, withdrew")
        ),
        pytest.param(Role.WORKER, Stage.REVIEWING, marks=pytest.mark.edges("specification: reviewing, withdrew")),
        pytest.param(Role.WORKER, Stage.CI_FAILED, marks=pytest.mark.edges("specification: ci-failed, withdrew")),
        pytest.param(Role.WORKER, Stage.FAILED, marks=pytest.mark.edges("specification: failed, withdrew")),
    ],
)
async def test_a_story_or_an_issue_that_a_person_closes_stays_closed_wherever_it_stood(
    engine: Engine, role: Role, stage: Stage
) -> None:
    shown = () if stage is Stage.NEW else (f"status:{stage}",)
    number = issue(engine, *(("story",) if role is Role.PLANNER else ()), *shown)
    if stage not in {Stage.NEW, Stage.READY}:
        await orphan_scene.fence(engine, role, number, stage)
    engine.lab.close(REPOSITORY, number, actor=OWNER)
    held = stage not in {Stage.NEW, Stage.READY}
    left = labels(engine, number) - (set(shown) if held else set())
    await one_life(engine, role, ticks=2)
    assert (engine.issue(number).open, labels(engine, number), paid(engine)) == (False, left, [])


@pytest.mark.parametrize(
    ("stage", "merged"),
    [
        pytest.param(Stage.NEW, False, marks=pytest.mark.edges("pull_request: new, withdrew")),
        pytest.param(Stage.REVIEWING, False, marks=pytest.mark.edges("pull_request: reviewing, withdrew")),
        pytest.param(Stage.IN_REVIEW, False, marks=pytest.mark.edges("pull_request: in-review, withdrew")),
        pytest.param(Stage.APPROVED, False, marks=pytest.mark.edges("pull_request: approved, withdrew")),
        pytest.param(
            Stage.CHANGES_REQUESTED, False, marks=pytest.mark.edges("pull_request: changes-requested, withdrew")
        ),
        pytest.param(Stage.IMPLEMENTING, False, marks=pytest.mark.edges("pull_request: implementing, withdrew")),
        pytest.param(Stage.TESTING, False, marks=pytest.mark.edges("pull_request: testing, withdrew")),
        pytest.param(Stage.CI_FAILED, False, marks=pytest.mark.edges("pull_request: ci-failed, withdrew")),
        pytest.param(Stage.FAILED, False, marks=pytest.mark.edges("pull_request: failed, withdrew")),
        pytest.param(Stage.REVIEWING, True, marks=pytest.mark.edges("pull_request: reviewing, merged")),
        pytest.param(Stage.IN_REVIEW, True, marks=pytest.mark.edges("pull_request: in-review, merged")),
        pytest.param(Stage.CHANGES_REQUESTED, True, marks=pytest.mark.edges("pull_request: changes-requested, merged")),
        pytest.param(Stage.TESTING, True, marks=pytest.mark.edges("pull_request: testing, merged")),
        pytest.param(Stage.CI_FAILED, True, marks=pytest.mark.edges("pull_request: ci-failed, merged")),
        pytest.param(Stage.FAILED, True, marks=pytest.mark.edges("pull_request: failed, merged")),
    ],
)
async def test_a_pull_request_that_a_person_closes_or_merges_has_ended_wherever_it_stood(
    engine: Engine, stage: Stage, merged: bool
) -> None:
    shown = () if stage is Stage.NEW else (f"status:{stage}",)
    number = issue(engine, "status:testing" if stage is Stage.NEW else "status:reviewing")
    pull = await pull_request(engine, number, *shown)
    at_work = Stage.TESTING if stage is Stage.NEW else stage if stage in OF_WORKER else Stage.REVIEWING
    round = 0 if stage is Stage.NEW else 1
    base = await tip(engine, "main")
    await orphan_scene.fence(engine, Role.WORKER, number, at_work, pr=pull, round=round, phase="ci", base=base)
    if stage not in OF_WORKER | {Stage.NEW, Stage.REVIEWING}:
        await orphan_scene.fence(engine, Role.REVIEWER, pull, stage)
    if merged:
        orphan_scene.merge(engine, pull, number)
    else:
        engine.lab.close(REPOSITORY, pull, actor=OWNER)
    for role in (Role.REVIEWER, Role.WORKER):
        await one_life(engine, role, ticks=2)
    assert not engine.issue(pull).open
    assert engine.issue(number).open is not merged
    assert paid(engine) == []
