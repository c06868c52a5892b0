"""After a merge: the base's CI turns red because of it, and one issue or one pull request follows, or nothing does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from branch_scene import push
from engine import OWNER, REPOSITORY, REVIEWER, Engine
from fakes.clock import QuickClock
from merge_scene import SCRIPT, Change, opened

from lab.github.ci.behaviours import GREEN, NEVER, RED, CiBehaviour
from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.world.issues import IssueRecord
from reviewer_agent.after_merge.answering import LOST
from reviewer_agent.after_merge.watch import LOOK_SECONDS, WATCHED
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False, "after_merge": "report"}
    engine.clock = QuickClock(engine.lab.clock.advance)
    return engine


def pass_by(engine: Engine, seconds: float = LOOK_SECONDS) -> None:
    assert isinstance(engine.clock, QuickClock)
    engine.clock.skip(seconds)


async def merged(
    engine: Engine,
    reviewer: Loop,
    *,
    before: CiBehaviour = GREEN,
    after: CiBehaviour = RED,
    more: Mapping[str, str] | None = None,
) -> Change:
    """Have a pull request reviewed and merged onto a base whose CI was in one mood and is in another then.

    `more` are the files of a second commit.
    """
    engine.lab.ci_mood(REPOSITORY, before, branch="main")
    await engine.lab.ci_run(REPOSITORY)
    await engine.lab.idle()
    change = await opened(engine, "page")
    if more:
        await push(engine, change.branch, more)
        await engine.lab.idle()
    engine.lab.ci_mood(REPOSITORY, after, branch="main")
    await engine.until(lambda: change.merged, reviewer)
    return change


async def watched(engine: Engine, *reviewers: Loop, looks: int = 3) -> None:
    for _ in range(looks):
        pass_by(engine)
        await engine.tick(*reviewers)


def by_engine(engine: Engine, *, pulls: bool = False) -> Sequence[IssueRecord]:
    """Return the issues or pull requests that the reviewer has opened."""
    issues = engine.lab.at(REPOSITORY).issues.records.values()
    return [one for one in issues if one.author == REVIEWER and one.is_pull is pulls]


def told(engine: Engine, change: Change) -> list[str]:
    """Return the comments about the base in the thread of a merged pull request."""
    said = engine.lab.at(REPOSITORY).comments.records.values()
    return [one.body for one in said if one.number == change.number and "fail since this was merged" in one.body]


async def test_a_base_that_turns_red_gets_one_issue_for_a_person_to_decide_about(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer)
        await watched(engine, reviewer)
    (issue,) = by_engine(engine)
    assert not issue.labels, "nobody works on it before a person says so"
    assert f"/pull/{change.number}" in (issue.body or "")
    assert "Process completed with exit code 1." in (issue.body or "")
    (sentence,) = told(engine, change)
    assert f"#{issue.number}" in sentence
    async with engine.agent(Role.REVIEWER) as reviewer:
        await watched(engine, reviewer)
    assert len(by_engine(engine)) == len(told(engine, change)) == 1, "also after a restart"


async def test_two_reviewers_on_two_machines_open_one_issue(engine: Engine) -> None:
    async with (
        engine.agent(Role.REVIEWER, state="a") as first,
        engine.agent(Role.REVIEWER, state="b") as second,
    ):
        change = await merged(engine, first)
        for _ in range(3):
            pass_by(engine)
            await engine.look(first)
            await engine.look(second)
            await engine.tick(first, second)
    assert len(by_engine(engine)) == len(told(engine, change)) == 1


async def test_an_issue_whose_answer_was_lost_is_found_by_who_goes_on(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER, state="a") as first:
        change = await merged(engine, first)
        engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/issues$"))
        await watched(engine, first, looks=1)
        assert len(by_engine(engine)) == 1
        assert not told(engine, change), "nobody knows its number yet"
    async with engine.agent(Role.REVIEWER, state="b") as second:
        await watched(engine, second)
        assert not told(engine, change), "somebody may still be at it"
        pass_by(engine, LOST.total_seconds())
        await watched(engine, second)
    (issue,) = by_engine(engine)
    (sentence,) = told(engine, change)
    assert f"#{issue.number}" in sentence


async def test_a_merge_is_taken_back_by_a_pull_request_that_only_a_person_merges(engine: Engine) -> None:
    engine.repository_settings["after_merge"] = "revert"
    bare = engine.lab.at(REPOSITORY).bare
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer)
        await push(engine, "main")  # somebody goes on on top of it
        await watched(engine, reviewer)
    async with engine.agent(Role.REVIEWER, state="b") as other:
        await watched(engine, other)
        (pull,) = by_engine(engine, pulls=True)
        branch = f"refs/heads/auto/revert-{change.number}"
        assert pull.title.startswith("Revert: ")
        assert await bare.read(branch, f"{change.branch}.md") is None
        assert await bare.read(branch, "NOTES.md") is not None
        (sentence,) = told(engine, change)
        assert f"#{pull.number}" in sentence
        assert not by_engine(engine)
        engine.lab.ci_mood(REPOSITORY, GREEN)
        await engine.lab.ci_run(REPOSITORY)
        await engine.lab.ci_run(REPOSITORY, f"auto/revert-{change.number}")
        engine.lab.label(REPOSITORY, pull.number, "status:reviewing", actor=OWNER)
        await engine.until(lambda: "status:approved" in engine.issue(pull.number).labels, other)
        await watched(engine, other)
    assert engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is None


async def test_what_cannot_be_taken_back_is_told_in_an_issue(engine: Engine) -> None:
    engine.repository_settings["after_merge"] = "revert"
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer)
        await push(engine, "main", {f"{change.branch}.md": "Written anew by a person.\n"})
        await watched(engine, reviewer)
    assert len(by_engine(engine)) == len(told(engine, change)) == 1
    assert not by_engine(engine, pulls=True)
    assert await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/auto/revert-{change.number}") is None


@pytest.mark.parametrize("method", ["merge", "rebase"])
async def test_however_several_commits_were_merged_what_was_there_before_is_found(engine: Engine, method: str) -> None:
    engine.repository_settings |= {"after_merge": "revert", "merge_method": method}
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer, more={"MORE.md": "More.\n"})
        await watched(engine, reviewer)
    (pull,) = by_engine(engine, pulls=True)
    bare = engine.lab.at(REPOSITORY).bare
    for path in ("MORE.md", f"{change.branch}.md"):
        assert await bare.read("refs/heads/main", path) is not None
        assert await bare.read(f"refs/heads/auto/revert-{change.number}", path) is None
    assert len(told(engine, change)) == 1, pull.title


@pytest.mark.parametrize(("before", "after"), [(NEVER, RED), (GREEN, GREEN), (GREEN, NEVER)])
async def test_without_proof_that_it_is_ours_nothing_is_done(
    engine: Engine, before: CiBehaviour, after: CiBehaviour
) -> None:
    engine.repository_settings["ci"] = {"timeout": 1}
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer, before=before, after=after)
        await watched(engine, reviewer)
    assert not by_engine(engine)
    assert not told(engine, change)


async def test_a_base_that_was_red_before_is_not_ours(engine: Engine) -> None:
    """The engine merges nothing onto a red base; here it turns out to be red after the merge."""
    here = engine.lab.at(REPOSITORY)
    parent = await here.bare.sha("refs/heads/main")
    assert parent is not None
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer, after=GREEN)
        tip = await here.bare.sha("refs/heads/main")
        assert tip is not None
        for commit in (parent, tip):
            here.checks.say(commit, "audit", "failure", description="Found something", creator=OWNER)
        await watched(engine, reviewer)
    assert not by_engine(engine)
    assert not told(engine, change)


async def test_after_an_hour_nobody_looks_any_more(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer, after=GREEN)
        pass_by(engine, WATCHED.total_seconds())
        await engine.tick(reviewer)
        tip = await engine.lab.at(REPOSITORY).bare.sha("refs/heads/main")
        assert tip is not None
        asked = len(engine.lab.exchanges)
        engine.lab.at(REPOSITORY).checks.say(tip, "audit", "failure", description="Found something", creator=OWNER)
        await watched(engine, reviewer)
    assert not any(tip in one.path for one in list(engine.lab.exchanges)[asked:])
    assert not by_engine(engine)
    assert not told(engine, change)


async def test_off_asks_nothing_and_does_nothing(engine: Engine) -> None:
    engine.repository_settings["after_merge"] = "off"
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await merged(engine, reviewer)
        tip = await engine.lab.at(REPOSITORY).bare.sha("refs/heads/main")
        assert tip is not None
        await watched(engine, reviewer)
    assert not any(tip in one.path for one in engine.lab.exchanges)
    assert not by_engine(engine)
    assert not told(engine, change)


@pytest.mark.prompt("it counts requests")
async def test_what_does_not_change_is_watched_for_free(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        await merged(engine, reviewer, after=GREEN)
        await watched(engine, reviewer)
        asked = len(engine.lab.exchanges)
        await watched(engine, reviewer)
    looked = [one for one in list(engine.lab.exchanges)[asked:] if "/commits/" in one.path]
    assert looked
    assert {one.status for one in looked} == {304}
