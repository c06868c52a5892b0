"""A round that finds no remark to work on: nobody is paid, and CI is read anew, unless the text was edited."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from fakes.lock_port import FencePort

from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.models import Account, Issue
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from worker_agent.decide import NextStep
from worker_agent.feedback.items import Item
from worker_agent.repairs import Repairs

AT = datetime(2026, 1, 5, tzinfo=UTC)
ISSUE = Issue(42, "Title", "", frozenset(), Account(99, "engine-bot"), AT, AT)


class Nonces:
    """One nonce."""

    def fresh(self) -> str:
        return "a" * 32

    def mine(self, nonce: str) -> bool:
        return True

    def forget(self, nonce: str) -> None:
        raise AssertionError("nothing ends here")


class Silent:
    """A pull request of which nothing was said."""

    async def round_items(self, held: Held) -> tuple[Item, ...]:
        return ()


class Begun(Exception):
    """A paid step has begun."""


class Shop:
    """The start of paid steps, which raises `Begun`."""

    async def open(self, held: Held, issue: Issue) -> None:
        raise Begun


def holding(approved_by: str, phase: NextStep = NextStep.FEEDBACK) -> Held:
    key, nonce = ItemKey(Role.WORKER, 42), Nonces().fresh()
    begun = Fence(key, 1, nonce, "worker-a", Stage.IMPLEMENTING, AT, phase=phase, pr=57, round=1)
    fence = replace(begun, oid="0" * 40, approved_by=approved_by)
    lease = Lease(Ack(key, "worker-a", 1, 0, nonce, 1800, id=1, updated_at=AT), fence, AT, 0.0)
    keys = Keyring(1, (Key.of(b"w" * 32),))
    return begin(FencePort(AT), lease, Claimant("worker-a", frozenset({1}), keys, Nonces()))


def repairs() -> Repairs:
    fakes = cast(Any, Shop()), cast(Any, None), cast(Any, Silent()), cast(Any, None)
    return Repairs(*fakes)


@pytest.mark.parametrize("approved_by", ["/retry by ada in comment 7", "ada", ""])
async def test_whoever_leads_on_where_nothing_was_said_has_ci_read_anew(approved_by: str) -> None:
    held = holding(approved_by)
    await repairs().address_review(held, ISSUE)
    assert (held.fence.stage, held.fence.phase) == (Stage.TESTING, NextStep.CI)


@pytest.mark.parametrize("approved_by", ["", "ada"])
async def test_an_edited_text_is_worked_on_though_nothing_was_said(approved_by: str) -> None:
    held = holding(approved_by, NextStep.TEXT)
    with pytest.raises(Begun):
        await repairs().address_review(held, ISSUE)
    assert (held.fence.stage, held.fence.phase) == (Stage.IMPLEMENTING, NextStep.TEXT)
