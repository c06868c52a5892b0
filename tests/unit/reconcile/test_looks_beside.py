"""Another look beside that of an agent: it is given what is listed, and its failure keeps nobody from work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shared.errors import EngineError, Transient
from shared.models import Issue
from shared.reconcile.complete_inbox import CompleteInbox


class Looks:
    """The lists and the sweep of an agent, and what was looked at."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {7: "an issue"}
        self.seen: list[object] = []

    async def look(self, *known: object) -> Mapping[int, Any]:
        self.seen += known
        return self.known

    async def fails(self, known: Mapping[int, Issue]) -> None:
        raise Transient("502")

    async def breaks(self, known: Mapping[int, Issue]) -> None:
        raise ZeroDivisionError


def inbox(looks: Any) -> CompleteInbox:
    return CompleteInbox(looks, looks)


async def test_each_is_given_what_is_listed_whatever_becomes_of_another() -> None:
    looks = Looks()
    beside = inbox(looks).add_look("failing", looks.fails).add_look("second", looks.look)
    assert await beside.look() == looks.known
    assert looks.seen == [looks.known, looks.known], "the sweep's, then the second one's"


async def test_a_mistake_of_the_program_is_not_hidden() -> None:
    looks = Looks()
    with pytest.raises(ZeroDivisionError):
        await inbox(looks).add_look("broken", looks.breaks).look()


async def test_lists_that_fail_are_not_gone_on_from() -> None:
    looks = Looks()
    with pytest.raises(EngineError):
        await CompleteInbox(FailingLists(), looks).add_look("second", looks.look).look()  # type: ignore[arg-type]
    assert looks.seen == []


class FailingLists:
    """Lists that GitHub does not give."""

    async def look(self) -> Mapping[int, Issue]:
        raise Transient("502")
