"""Specifications that touch the same files wait for each other, in one order and never in a circle."""

from __future__ import annotations

import json

import pytest
from fakes.planner_coder import plan
from fakes.planner_github import Bench

from planner_agent.overlap import Shared, blockers, elsewhere, overlaps
from planner_agent.plan import Plan, read
from shared.specification import Specification
from shared.specification import read as read_specification


def planned(*entries: str) -> Plan:
    """Return the plan of lines `key: files > keys it depends on`."""
    found = []
    for entry in entries:
        key, _, rest = entry.partition(":")
        files, _, after = rest.partition(">")
        one = {"key": key, "title": key, "goal": "Goal.", "criteria": ["It is."]}
        found.append(one | {"files": files.split(), "depends_on": after.split()})
    return read(json.dumps(plan(specifications=found)))


@pytest.mark.parametrize(
    ("entries", "added"),
    [
        pytest.param(["a: x", "b: y"], {}, id="nothing in common"),
        pytest.param(["a: x", "b: x"], {"b": (Shared("a", ("x",)),)}, id="the later one waits"),
        pytest.param(["a: x", "b: ./x"], {"b": (Shared("a", ("x",)),)}, id="one path, two spellings"),
        pytest.param(["a: x", "b: x > a"], {}, id="the plan says so already"),
        pytest.param(["a: x", "b: y > a", "c: x > b"], {}, id="through another one"),
        pytest.param(["a: t.py::x", "b: t.py::y"], {"b": (Shared("a", ("t.py",)),)}, id="one test of a file each"),
        pytest.param(["a: x > b", "b: x"], {}, id="against the order of the list"),
        pytest.param(
            ["a: x", "b: x", "c: x"], {"b": (Shared("a", ("x",)),), "c": (Shared("b", ("x",)),)}, id="a chain"
        ),
        pytest.param(["a: x > c", "b: x", "c: y"], {"a": (Shared("b", ("x",)),)}, id="no circle by a dependency"),
    ],
)
def test_who_waits_for_whom(entries: list[str], added: dict[str, tuple[Shared, ...]]) -> None:
    assert overlaps(planned(*entries)) == added


def test_every_pair_that_shares_a_file_ends_up_in_an_order() -> None:
    keys = "abcdefgh"
    one = planned(
        *(
            f"{key}: f{number % 3} g{number % 2} > {keys[number - 4] if number >= 4 else ''}"
            for number, key in enumerate(keys)
        )
    )
    order = [spec.key for _, spec in one.ordered]
    before: dict[str, set[str]] = {}
    for _, spec in one.ordered:
        direct = blockers(one, spec)
        assert all(order.index(key) < order.index(spec.key) for key in direct)
        before[spec.key] = {key for each in direct for key in (each, *before[each])}
    for first, second in ((a, b) for a in one.specifications for b in one.specifications if a.key < b.key):
        if set(first.files) & set(second.files):
            assert first.key in before[second.key] or second.key in before[first.key]


async def test_the_issues_depend_on_each_other_and_the_plan_says_why() -> None:
    bench = Bench(auto=True)
    specifications = [
        {"key": key, "title": key, "goal": "Goal.", "criteria": ["It is."], "files": ["directory/search.py"]}
        for key in ("search", "export")
    ]
    unclear = [{"question": "Which order?", "assumption": "The directory's."}]
    bench.coder.answers = [plan(specifications=specifications, ambiguities=unclear)]
    number = bench.world.story()
    await bench.tick()
    first, second = bench.world.specifications()
    assert read_specification(first.body).depends_on == ()
    assert read_specification(second.body).depends_on == (first.number,)
    assert read_specification(second.body).part_of == number
    (posted,) = bench.world.bodies("engine-plan")
    assert "- `export` waits for `search`, because both touch `directory/search.py`." in posted
    assert "- Which order? The directory's." in read_specification(first.body).goal
    assert len(read_specification(first.body).criteria) == 1


def under_way(*entries: str) -> dict[int, Specification]:
    """Return the specifications of lines `number: files > numbers it depends on`."""
    found = {}
    for entry in entries:
        number, _, rest = entry.partition(":")
        files, _, after = rest.partition(">")
        found[int(number)] = Specification(
            goal="Goal.", files=tuple(files.split()), depends_on=tuple(int(one) for one in after.split())
        )
    return found


@pytest.mark.parametrize(
    ("others", "waits_for"),
    [
        pytest.param([], (), id="nothing is under way"),
        pytest.param(["7: z"], (), id="nothing in common"),
        pytest.param(["7: ./x", "9: y"], (7,), id="the same file"),
        pytest.param(["7: x", "9: x"], (7, 9), id="two that do not know of each other"),
        pytest.param(["7: x", "9: x > 7"], (9,), id="one waits for the other"),
    ],
)
def test_a_specification_waits_for_those_of_other_stories(others: list[str], waits_for: tuple[int, ...]) -> None:
    _, one = planned("a: x").ordered[0]
    assert elsewhere(one, under_way(*others)) == waits_for
