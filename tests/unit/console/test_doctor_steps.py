"""Next steps in the doctor's findings: each finding that is not in order has one, by type, in words that lead on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.doctor.finding import AGAIN, Finding, Status, failed, passed, skipped, unanswered, warned

ROOT = Path(__file__).parents[3]
SOURCES = [*sorted((ROOT / "console/doctor").glob("*.py")), ROOT / "console/start/signing_in.py"]
WITH_STEP = {"warned", "failed", "skipped"}

LEAST_WORDS = 4
"""Words that a step needs at least: a shorter one does not name both the thing to change and the change."""

_POINTS_BACK = re.compile(
    r"\b(?:see there|set it\.|correct the key|then try again|what the sentence says)", re.IGNORECASE
)


def leads_on(step: str) -> bool:
    """Return whether a step says more than that there is something to do; `{}` stands for values that are filled in.

    A step that is composed of others, which are looked at by themselves, says nothing of its own.
    """
    return not step.replace("{}", "").strip() or (not _POINTS_BACK.search(step) and len(step.split()) >= LEAST_WORDS)


def texts(node: ast.expr, tree: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression can produce, with those of the names and functions of its own file."""
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr():
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        case _:
            for one in meant(node, tree):
                yield from texts(one, tree)


def meant(node: ast.expr, tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions behind a choice, a name or a call: both sides, assigned values, returned values."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    for one in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == node.id:
            yield one.value
        if isinstance(node, ast.Call) and isinstance(one, ast.FunctionDef) and one.name == ast.unparse(node.func):
            yield from (each.value for each in ast.walk(one) if isinstance(each, ast.Return) and each.value)


def steps(source: str) -> Iterator[str]:
    """Yield every next step that a file of the doctor writes."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WITH_STEP and len(node.args) > 2:
            yield from texts(node.args[2], tree)


def test_every_step_leads_on() -> None:
    found = {step for file in SOURCES for step in steps(file.read_text(encoding="utf-8"))}
    assert len(found) > 50
    assert [step for step in [*found, AGAIN] if not leads_on(step)] == []


@pytest.mark.parametrize(
    "source",
    [
        "failed('model key', str(error), 'Set it.')",
        "step = 'See there.'\nwarned('state directory', 'It is older.', step, where)",
        "def _step():\n    return 'Correct the key.' if found else 'Write another, please.'\nfailed('a', 'b', _step())",
    ],
)
def test_a_step_that_says_nothing_would_be_seen(source: str) -> None:
    assert not all(leads_on(step) for step in steps(source))


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_a_finding_without_a_step_cannot_be_made(nothing: str) -> None:
    for make in (warned, failed, skipped):
        with pytest.raises(ValueError, match="git: "):
            make("git", "It is too old.", nothing)
    with pytest.raises(ValueError, match="git: pass"):
        Finding(Status.PASS, "git", "It is new.", "Install it.")


def test_what_passes_needs_none_and_what_was_not_answered_has_one() -> None:
    assert passed("git", "It is new.").next_step == ""
    assert unanswered("token", "No answer.").next_step == AGAIN
