"""Faults that chaos reports in a world: each is planted once and named; an orderly world has none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab.__main__ import ENGINE
from lab.chaos import verdict
from lab.chaos.setup import OWNER, REPOSITORY, TrialHost, furnished
from lab.github.server import Lab
from shared.lock.codec import Ack, ItemKey
from shared.lock.comment import write_ack
from shared.lock.fence import Fence, write_fence
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

KEYS = Keyring(1, (Key.of(b"5a" * 32),))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[TrialHost]:
    """Yield a lab with one closed issue whose one pull request is merged, and its fence."""
    async with Lab(tmp_path / "github") as lab:
        site = await furnished(lab, tmp_path, ["guest_001"])
        site.tell("guest_001")
        await pull(site)
        site.repository.pulls.merge(2, ENGINE, "0" * 40)
        lab.unlabel(REPOSITORY, 1, "status:ready", actor=ENGINE)
        lab.close(REPOSITORY, 1, actor=ENGINE)
        await fence(site, Stage.DONE)
        yield site


async def pull(site: TrialHost) -> None:
    """Open a pull request for the issue."""
    tip = await site.repository.bare.sha("main")
    assert tip is not None
    thread = site.repository.issues.open(ENGINE, "[auto]", "", is_pull=True)
    site.repository.pulls.open(thread, ("auto/issue-1", tip), ("main", tip), draft=False)


async def fence(site: TrialHost, stage: Stage) -> None:
    """Push the worker's fence of the issue with `stage`."""
    key = ItemKey(Role.WORKER, 1)
    text = write_fence(Fence(key, 1, "0" * 32, "worker-1", stage, datetime(2026, 1, 1, tzinfo=UTC)))
    bare = site.repository.bare
    tip = await bare.sha("main")
    made = await bare.git.check("commit-tree", f"{tip}^{{tree}}", "-F", "-", stdin=text.encode(), env=_AUTHOR)
    await bare.update_ref(key.ref, made.text)


_AUTHOR = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


async def second_pull_request(site: TrialHost) -> None:
    await pull(site)


async def left_lock(site: TrialHost) -> None:
    ack = Ack(ItemKey(Role.WORKER, 1), "worker-1", 1706123456789, 0, "0" * 32, 24)
    site.lab.comment(REPOSITORY, 1, write_ack(ack, KEYS), author=ENGINE)


async def same_comment_twice(site: TrialHost) -> None:
    for _ in range(2):
        site.lab.comment(REPOSITORY, 1, "<!-- engine-status/1 kind=worker n=1 rev=1 mac= -->", author=ENGINE)


async def same_review_twice(site: TrialHost) -> None:
    for _ in range(2):
        site.repository.pulls.review(2, ENGINE, "COMMENTED", "", "0" * 40)


async def childless_story(site: TrialHost) -> None:
    site.lab.close(REPOSITORY, site.lab.issue(REPOSITORY, "S", author=OWNER, labels=("story",)).number, actor=OWNER)


async def forgotten_fence(site: TrialHost) -> None:
    await fence(site, Stage.REVIEWING)


async def left_label(site: TrialHost) -> None:
    site.lab.label(REPOSITORY, 1, "status:testing", actor=ENGINE)


async def left_open(site: TrialHost) -> None:
    site.repository.issues.reopen(1, OWNER)
    site.lab.label(REPOSITORY, 1, "status:failed", actor=ENGINE)


@pytest.mark.parametrize(
    ("plant", "sentence"),
    [
        (second_pull_request, "#1 has 2 pull requests."),
        (left_lock, "A lock is left: refs/ack/worker/1: worker-1."),
        (same_comment_twice, "#1 has 2 comments '<!-- engine-status/1 kind=worker'."),
        (same_review_twice, "#2 was reviewed 2 times at 000000000000 by engine-bot."),
        (childless_story, "The story #3 became 0 specifications."),
        (forgotten_fence, "#1 shows [], its worker fence says reviewing though it is closed."),
        (left_label, "#1 shows ['testing'], its worker fence says done; what is done shows no stage."),
        (left_open, "#1 is not finished: open True, merged 1, halted True."),
    ],
)
async def test_a_fault_is_named(plant: Callable[[TrialHost], Awaitable[None]], sentence: str, site: TrialHost) -> None:
    assert await verdict.violations(site, {}) == []
    await plant(site)
    assert sentence in await verdict.violations(site, {})


async def test_a_persons_commit_that_is_gone_is_named(site: TrialHost) -> None:
    found = await verdict.violations(site, {"README.md": "auto/issue-1", "person_1.txt": "auto/issue-1"})
    assert found == ["The commit of a person on auto/issue-1 (person_1.txt) is gone."]


@pytest.mark.parametrize("plant", [left_lock, left_open, forgotten_fence])
async def test_a_trial_goes_on_until_nothing_is_open_held_or_at_a_stage(
    plant: Callable[[TrialHost], Awaitable[None]], site: TrialHost
) -> None:
    assert await verdict.at_rest(site)
    await plant(site)
    assert not await verdict.at_rest(site)
