"""A long list that nobody touches: read page by page once, and for hours only asked whether it has changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from github_bench import NAME, bench

from shared.github.inbox import Inbox
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
            b.clock.time += 30
            assert len(await inbox.look()) == MANY
        assert Counter(exchange.status for exchange in b.lab.exchanges) == {200: PAGES + 1, 304: 60 + 3 * PAGES}
        account = b.lab.world.meter.allowance("engine", b.lab.world.registrar.now())
        assert account.used == PAGES + 1
