"""Roles: who gets which request, on which model, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from shared.llm.port import Call, Ending, Limits, Outcome, Request
from shared.llm.role_router import PHASES, BackendMissing, RoleOverride, RoleRouter, plays

REQUEST = Request(Call.IMPLEMENT, "#1", "A thing", "developer", "Do it.", limits=Limits(50, 5.0, 600.0, 60.0))


@dataclass
class Backend:
    """Remembers what it was asked."""

    name: str
    asked: list[Request] = field(default_factory=list)

    async def run(self, request: Request) -> Outcome:
        self.asked.append(request)
        return Outcome(Ending.COMPLETED, self.name)


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
    assert one.asked == [replace(REQUEST, model="small", limits=Limits(9, 5.0, 30.0, 60.0))]


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


def test_every_call_has_a_role() -> None:
    assert set(PHASES) == set(Call)


@pytest.mark.parametrize(
    ("roles", "expected"), [((), True), (("generalist",), True), (("developer",), True), (("debugger", "qa"), False)]
)
def test_who_plays_a_role(roles: tuple[str, ...], expected: bool) -> None:
    assert plays(frozenset(roles), "developer") is expected


@pytest.mark.parametrize(
    ("role", "choice", "name"),
    [("developer", "", "one"), ("debugger", "", "two"), ("debugger", "one", "one"), ("developer", "gone", "gone")],
)
def test_whose_call_it_is_is_known_before_it_is_made(role: str, choice: str, name: str) -> None:
    cast = RoleRouter(ONE, {"debugger": RoleOverride(TWO)}, choices={REQUEST.item: choice} if choice else {})
    assert cast.backend_of(replace(REQUEST, role=role)) == name
