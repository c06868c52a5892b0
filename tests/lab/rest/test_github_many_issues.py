"""A long list that nobody touches: read page by page once, and for hours only asked whether it has changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from github_bench import NAME, bench

from lab.github.world.accounts import CORE
from shared.github.cache import MAX_BYTES
from shared.github.inbox import SWEEP_SECONDS, Inbox
from shared.github.issues import Issues

MANY = 350
PAGES = 4


@pytest.mark.fault(50)
async def test_hours_without_a_change_are_answered_by_304_alone(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        for number in range(MANY):
            b.lab.issue(NAME, f"Issue {number}", author="ada", labels=("status:ready",))
        inbox = Inbox(Issues(b.client("engine"), NAME), ["status:ready"], b.clock)
        assert sorted(await inbox.look()) == list(range(1, MANY + 1))
        assert Counter(exchange.status for exchange in b.lab.exchanges) == {200: PAGES + 1}
        for _ in range(60):
            b.clock.seconds += 30
            assert len(await inbox.look()) == MANY
        assert Counter(exchange.status for exchange in b.lab.exchanges) == {200: PAGES + 1, 304: 60 + 3 * PAGES}
        account = b.lab.world.quotas[CORE].allowance("engine", b.lab.world.registrar.now())
        assert account.used == PAGES + 1


LONG = 20_000
"""Characters of a body: a thousand of them are more than the cache takes as text."""


@pytest.mark.fault(50)
async def test_long_bodies_cost_neither_a_charged_sweep_nor_memory(tmp_path: Path) -> None:
    many, text = 1_000, "x" * LONG
    assert many * LONG > MAX_BYTES
    async with bench(tmp_path) as b:
        for number in range(1, many + 1):
            b.lab.issue(
                NAME, f"Issue {number}", f"{text}\nDepends on #{number}", author="ada", labels=("status:ready",)
            )
        inbox = Inbox(Issues(b.client("engine"), NAME), ["status:ready"], b.clock)
        first = await inbox.look()
        assert sum(len(issue.body) for issue in first.values()) < many * 40
        b.clock.seconds += SWEEP_SECONDS
        assert await inbox.look() is await inbox.look(), "nothing to look at anew for whoever has looked"
        pages = many // 100 + 1  # the last full one is followed by a look at the next
        assert Counter(exchange.status for exchange in b.lab.exchanges) == {200: pages + 1, 304: pages + 2}
        assert list(inbox.known) == list(range(1, many + 1)), "oldest first"
