"""New functions that tests run and whose results none looks at: one run each with another value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_other_values import FAR, otherwise
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof import behaviour_probes
from worker_agent.tdd.proof.behaviour_probes import untested
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.damage_detection import Noticed
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import TestRun

PATH = "shop/fees.py"
CODE = b"""def rate(percent):
    return 1 - percent / 1000


def cut(amount, percent):
    return amount * rate(percent)


class Fee:
    def __hash__(self):
        return 3
"""


@dataclass(frozen=True)
class Known(behaviour_probes.Probe):
    """A probe of one new file, whose tests fail when one of these texts is in it."""

    noticed: tuple[str, ...] = ()
    runs: list[str] = field(default_factory=list)

    def changes(self) -> tuple[FileChange, ...]:
        return changes({}, {PATH: CODE})

    async def fails(self, over: Mapping[str, bytes | None]) -> bool:
        content = (over[PATH] or b"").decode()
        self.runs.append(content)
        return any(text in content for text in self.noticed)


async def never(*_: object) -> TestRun:
    raise AssertionError("nothing is run but by the probe")


def probe(*noticed: str) -> Known:
    found = Noticed(noticed=[Damage(PATH, 6, DamageKind.RET, b"", "what", "cut")])
    return Known(ProofSubject(Change("a", "b"), never), (), TestRun(), found, noticed)


RAISES = "raise RuntimeError"


async def test_a_function_that_is_run_and_whose_result_no_test_looks_at_is_told() -> None:
    (told,) = (await untested(probe(RAISES))).doubts
    assert told.startswith("shop/fees.py::rate: it is new, and no test that the change concerns fails when it returns")


async def test_a_result_that_a_test_looks_at_is_left_alone() -> None:
    asked = probe(RAISES, f"-v - {FAR}")
    assert (await untested(asked)).doubts == []
    assert not [content for content in asked.runs if "def __hash__(self):\n        return (lambda" in content]


async def test_what_is_not_run_at_all_is_told_once() -> None:
    doubts = (await untested(probe())).doubts
    assert [told for told in doubts if "::rate:" in told] == [
        "shop/fees.py::rate: it is new, and no test that the change concerns fails when it raises"
    ]


def _returns(value: str) -> Any:
    (change,) = changes({}, {"a.py": f"def f():\n    return {value}\n".encode()})
    content = otherwise(change, unknown_raises=True)
    assert content is not None
    scope: dict[str, Any] = {}
    exec(content, scope)  # the damaged code is what is tested
    return scope["f"]()


@pytest.mark.parametrize(
    ("value", "becomes"),
    [("3", -3 - FAR), ("True", False), ("'a'", "damaged"), ("[1]", ["damaged"]), ("None", "damaged")],
)
def test_known_types_have_another_value_and_numbers_the_other_order(value: str, becomes: object) -> None:
    assert _returns(value) == becomes


def test_a_value_of_an_unknown_type_raises() -> None:
    with pytest.raises(RuntimeError):
        _returns("object()")


@pytest.mark.parametrize(
    ("path", "code", "has"),
    [
        ("a.js", "export const f = (n) => { return n; };\n", 'throw new Error("damaged")'),
        ("a.ts", "export function f(n: number) { return n; }\n", f"-v - {FAR}"),
        ("a.rb", "def f(n)\n  return n\nend\n", 'raise "damaged"'),
        ("a.php", "<?php\nfunction f($n) { return $n; }\n", f"-$v - {FAR}"),
        ("a.go", "package a\n\nfunc F(n int) int { return n }\n", "-(n) - 41"),
    ],
)
def test_other_languages_still_parse(path: str, code: str, has: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    content = otherwise(change, unknown_raises=True)
    assert content is not None
    assert has in content.decode()
