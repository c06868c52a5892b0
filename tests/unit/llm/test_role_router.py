"""Roles: who gets which request, on which model, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from shared.llm.port import CoderCall, Ending, Request, RunLimits, RunOutcome
from shared.llm.role_router import (
    CLIMBING,
    ROLE_OF_CALL,
    BackendMissing,
    RoleOverride,
    RoleRouter,
    Rung,
    has_role,
    rung_of,
)

REQUEST = Request(CoderCall.IMPLEMENT, "#1", "A thing", "developer", "Do it.", limits=RunLimits(50, 5.0, 600.0, 60.0))


@dataclass
class Backend:
    """Remembers what it was asked."""

    name: str
    asked: list[Request] = field(default_factory=list)

    async def run(self, request: Request) -> RunOutcome:
        self.asked.append(request)
        return RunOutcome(Ending.COMPLETED, self.name)


ONE, TWO = Backend("one"), Backend("two")


async def test_a_role_without_a_part_is_played_as_it_was_asked() -> None:
    one = Backend("one")
    assert (await RoleRouter(one, {"code-reviewer": RoleOverride(TWO)}).run(REQUEST)).text == "one"
    assert one.asked == [REQUEST]


@pytest.mark.parametrize(("role", "name"), [("code-reviewer", "two"), ("developer", "one")])
async def test_a_role_has_its_own_backend(role: str, name: str) -> None:
    outcome = await RoleRouter(ONE, {"code-reviewer": RoleOverride(TWO)}).run(replace(REQUEST, role=role))
    assert (outcome.text, outcome.role, outcome.backend) == (name, role, name)


async def test_a_role_names_its_model_and_lowers_limits_but_raises_none() -> None:
    one = Backend("one")
    part = RoleOverride(model="small", max_turns=9, budget_usd=99.0, deadline_seconds=30.0)
    await RoleRouter(one, {"developer": part}).run(REQUEST)
    assert one.asked == [replace(REQUEST, model="small", limits=RunLimits(9, 5.0, 30.0, 60.0))]


async def test_the_generalist_stands_for_roles_without_a_part() -> None:
    cast = RoleRouter(ONE, {"generalist": RoleOverride(TWO), "debugger": RoleOverride(ONE)})
    assert (await cast.run(REQUEST)).text == "two"
    assert (await cast.run(replace(REQUEST, role="debugger"))).text == "one"


async def test_what_a_person_chose_for_an_item_goes_before_its_role_and_brings_no_model_of_another_backend() -> None:
    one, two = Backend("one"), Backend("two")
    part = RoleOverride(coder=one, model="small", max_turns=9)
    chosen = {REQUEST.item: "two"}
    cast = RoleRouter(one, {"developer": part}, built={"one": one, "two": two}, choices=chosen)
    outcome = await cast.run(REQUEST)
    assert (outcome.backend, two.asked[0].model, two.asked[0].limits.max_turns) == ("two", None, 9)
    await cast.run(replace(REQUEST, item="#9999"))
    chosen.clear()
    await cast.run(REQUEST)
    assert (len(one.asked), len(two.asked)) == (2, 1)


async def test_a_backend_that_this_machine_lacks_stops_the_item_in_one_sentence() -> None:
    with pytest.raises(BackendMissing, match="'three', which is not configured on this machine"):
        await RoleRouter(ONE, built={"one": ONE}, choices={REQUEST.item: "three"}).run(REQUEST)


@pytest.mark.parametrize(
    ("size", "attempt", "retry", "rung"),
    [
        ("", 1, 0, 0),
        ("", 2, 0, 1),
        ("", 1, 2, 2),
        ("small", 1, 0, 0),
        ("medium", 1, 0, 1),
        ("medium", 2, 0, 2),
        ("large", 1, 0, 2),
        ("large", 9, 9, 2),
        ("huge", 1, 0, 0),
    ],
)
def test_a_further_try_climbs_the_ladder_from_where_its_size_begins(
    size: str, attempt: int, retry: int, rung: int
) -> None:
    request = replace(REQUEST, size=size, attempt=attempt, retry=retry)
    assert rung_of(request, 3) == rung
    assert rung_of(request, 1) == 0
    assert rung_of(request, 0) is None


@pytest.mark.parametrize("call", sorted(set(CoderCall) - CLIMBING))
def test_what_writes_no_code_of_its_own_has_no_rung(call: CoderCall) -> None:
    assert rung_of(replace(REQUEST, call=call), 3) is None


async def test_a_rung_goes_before_a_role_and_is_told_and_a_persons_choice_goes_before_both() -> None:
    one, two = Backend("one"), Backend("two")
    chosen: dict[str, str] = {}
    router = RoleRouter(
        one,
        {"developer": RoleOverride(coder=two, model="other", max_turns=9)},
        built={"one": one, "two": two},
        choices=chosen,
        ladder=(Rung(model="small"), Rung(model="large"), Rung(two)),
    )
    told = [await router.run(replace(REQUEST, attempt=attempt)) for attempt in (1, 2, 3, 4)]
    assert [outcome.rung for outcome in told] == ["1 of 3: small", "2 of 3: large", "3 of 3: two", "3 of 3: two"]
    assert [(asked.model, asked.limits.max_turns) for asked in one.asked] == [("small", 9), ("large", 9)]
    assert [asked.model for asked in two.asked] == [None, None]
    assert [router.backend_of(replace(REQUEST, attempt=attempt)) for attempt in (1, 3)] == ["one", "two"]
    chosen[REQUEST.item] = "two"
    outcome = await router.run(REQUEST)
    assert (outcome.backend, outcome.rung) == ("two", "")


def test_every_call_has_a_role() -> None:
    assert set(ROLE_OF_CALL) == set(CoderCall)


@pytest.mark.parametrize(
    ("roles", "expected"), [((), True), (("generalist",), True), (("developer",), True), (("debugger", "qa"), False)]
)
def test_who_plays_a_role(roles: tuple[str, ...], expected: bool) -> None:
    assert has_role(frozenset(roles), "developer") is expected


@pytest.mark.parametrize(
    ("role", "choice", "name"),
    [("developer", "", "one"), ("debugger", "", "two"), ("debugger", "one", "one"), ("developer", "gone", "gone")],
)
def test_whose_call_it_is_is_known_before_it_is_made(role: str, choice: str, name: str) -> None:
    cast = RoleRouter(ONE, {"debugger": RoleOverride(TWO)}, choices={REQUEST.item: choice} if choice else {})
    assert cast.backend_of(replace(REQUEST, role=role)) == name
