"""A git server that refuses fences for an hour, by a rule or because it is down: next to nothing is posted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from claim_scene import PUSH, Scene, scene_at
from github_bench import NAME

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import Blocked, Transient
from shared.lock.claim import Intent, claim
from shared.lock.codec import ItemKey
from shared.lock.lease import Lease
from shared.lock.view import observe
from shared.workflow import Role, Stage

ISSUES = 4
HOUR_SECONDS, TICK_SECONDS = 3600.0, 150.0

RULES = {
    "everything below refs/ack": 'case "$1" in refs/ack/*) echo "GH013: Repository rule violations" >&2; exit 1;; esac',
    "moves alone": 'case "$1" in refs/ack/*) [ "$2" = 0000000000000000000000000000000000000000 ] || exit 1;; esac',
}


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene_at(tmp_path) as here:
        for number in range(2, ISSUES + 1):
            here.bench.lab.issue(NAME, f"Search {number}", author="ada", labels=("status:ready",))
        yield here


async def an_hour(scene: Scene, ticks: int = int(HOUR_SECONDS / TICK_SECONDS)) -> int:
    """Have every agent try every issue as often as its loop would; return the number of claims that were won."""
    won = 0
    for _ in range(ticks):
        scene.bench.clock.seconds += TICK_SECONDS
        for agent in scene.agents:
            for number in range(1, ISSUES + 1):
                if agent.claimant.breaker.remaining_seconds(agent.port.boot()):
                    continue  # as `shared.loop.claims` does
                with suppress(Blocked, Transient):
                    key = ItemKey(Role.WORKER, number)
                    view = await observe(agent.port, key, agent.claimant)
                    if not view.other_holder:
                        won += isinstance(
                            await claim(agent.port, view, agent.claimant, Intent(Stage.IMPLEMENTING)), Lease
                        )
    return won


def posted(scene: Scene) -> list[int]:
    """Return the number of comments in each issue's thread."""
    return [len(scene.bench.lab.at(NAME).comments.of(number)) for number in range(1, ISSUES + 1)]


def refuse(scene: Scene, rule: str) -> Path:
    hook = scene.bench.lab.at(NAME).bare.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{rule}\nexit 0\n", encoding="utf-8")
    hook.chmod(0o755)
    return hook


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
async def test_a_rule_that_refuses_fences_gets_no_comment_and_few_pushes(scene: Scene, rule: str) -> None:
    hook = refuse(scene, rule)
    assert await an_hour(scene) == 0
    assert posted(scene) == [0] * ISSUES
    pushes = [one for one in scene.bench.lab.exchanges if one.method == "POST" and "git-receive-pack" in one.path]
    assert len(pushes) <= 12 * len(scene.agents), "waits grow"
    hook.unlink()
    scene.bench.clock.seconds += 2 * HOUR_SECONDS
    assert await an_hour(scene, 2) >= ISSUES, "it goes on by itself when the rule is gone"
    assert posted(scene) == [1] * ISSUES


async def test_a_git_server_that_is_down_gets_no_comment(scene: Scene) -> None:
    scene.bench.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", PUSH, lasting=1e6, status=503))
    assert await an_hour(scene) == 0
    assert posted(scene) == [0] * ISSUES
    scene.bench.lab.faults.clear()
    scene.bench.clock.seconds += HOUR_SECONDS
    assert await an_hour(scene, 2) >= ISSUES
    assert posted(scene) == [1] * ISSUES


async def test_refusals_that_begin_right_after_a_comment_leave_two_at_most(scene: Scene) -> None:
    """The rule begins while a comment is posted, which cannot be recorded; the comment is used when the rule ends."""
    hooks: list[Path] = []

    def person(one: object) -> None:
        if getattr(one, "method", "") == "POST" and str(getattr(one, "path", "")).endswith("/comments") and not hooks:
            hooks.append(refuse(scene, RULES["everything below refs/ack"]))

    scene.bench.lab.exchanges.observe(person)
    assert await an_hour(scene) == 0
    assert sum(posted(scene)) == 1
    hooks[0].unlink()
    scene.bench.clock.seconds += 2 * HOUR_SECONDS
    assert await an_hour(scene, 2) >= 1
    assert max(posted(scene)) == 1
