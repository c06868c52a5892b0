"""The order of damages to run: quiet ones, each function, each kind; and the loud one of a file."""

from __future__ import annotations

from itertools import product

from worker_agent.tdd.damage.code import chosen, damages, of_file
from worker_agent.tdd.damage.model import Damage, DamageKind

QUIET = (DamageKind.NEGATE, DamageKind.CONST, DamageKind.RET)


def damage(function: str, kind: DamageKind, line: int = 1, *, quiet: bool = True, direct: bool = True) -> Damage:
    return Damage("a.py", line, kind, b"", f"{kind} of {function} in {line}", function, quiet, direct)


def test_quiet_ones_come_before_loud_ones() -> None:
    every = [
        damage("f", DamageKind.RAISE, quiet=False),
        damage("", DamageKind.GONE, quiet=False),
        damage("f", DamageKind.CONST),
    ]
    assert [each.kind for each in chosen(every, 3)] == [DamageKind.CONST, DamageKind.GONE, DamageKind.RAISE] or [
        each.kind for each in chosen(every, 3)
    ] == [DamageKind.CONST, DamageKind.RAISE, DamageKind.GONE]
    assert [each.kind for each in chosen(every, 1)] == [DamageKind.CONST]


def test_each_function_has_one_before_any_has_two() -> None:
    every = [damage(name, kind, line) for name, kind, line in product("fgh", QUIET, (1, 2))]
    assert {each.function for each in chosen(every, 3)} == set("fgh")
    assert sorted(each.function for each in chosen(every, 6)) == list("ffgghh")


def test_kinds_take_turns() -> None:
    every = [damage("f", kind, line) for kind, line in product(QUIET, (1, 2, 3))]
    assert {each.kind for each in chosen(every, 3)} == set(QUIET)
    over_functions = [damage(name, kind) for name, kind in product("fgh", QUIET)]
    assert {each.kind for each in chosen(over_functions, 3)} == set(QUIET)


def test_touched_lines_come_first_in_a_function() -> None:
    every = [
        damage("f", DamageKind.NEGATE, direct=False),
        damage("f", DamageKind.CONST, 2),
        damage("f", DamageKind.CONST, 3),
    ]
    assert [each.direct for each in chosen(every, 3)] == [True, True, False]


def test_the_order_depends_on_nothing_else() -> None:
    every = [damage(name, kind, line) for name, kind, line in product("fgh", QUIET, (1, 2))]
    assert chosen(every, 20) == chosen(list(reversed(every)), 20)
    assert len(chosen(every, 20)) == 18
    assert chosen([], 20) == ()


def test_every_changed_function_gets_a_quiet_one() -> None:
    code = "".join(f"def f{number}(a):\n    return a + {number}\n\n\n" for number in range(15)).encode()
    found = chosen(damages({}, {"a.py": code}), 20)
    assert {each.function for each in found if each.quiet} == {f"f{number}" for number in range(15)}


def test_the_loud_one_of_a_file() -> None:
    base = {"a.py": b"def f(a):\n    return a\n", "b.py": b"X = 1\n"}
    head = {"a.py": b"def f(a):\n    return a + 1\n", "b.py": b"X = 2\n", "c.css": b"a { }\n"}
    found = of_file(base, head, "a.py")
    assert found is not None
    assert (found.kind, found.quiet) == (DamageKind.GONE, False)
    assert b"raise RuntimeError('damaged')" in found.content
    assert of_file(base, head, "b.py") is None
    assert of_file(base, head, "c.css") is None
    assert of_file(base, base, "a.py") is None
    assert of_file(base, head, "gone.py") is None
