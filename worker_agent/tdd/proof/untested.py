"""Changed code that no test notices: doubts about new functions and values, remarks about the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from worker_agent.tdd.damage.code import gone
from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_other_values import otherwise
from worker_agent.tdd.proof.behaviour_probes import Probe, new_functions
from worker_agent.tdd.proof.damage_detection import Noticed
from worker_agent.tdd.syntax.functions import statements
from worker_agent.tdd.syntax.source import parse

FILES = 3
"""The most files that are examined, one run each."""

SINGLY = 8
"""The most new functions that are examined one by one, if other changed functions are noticed."""

RESULTS = 3
"""The most new functions without a noticed damage whose results are changed, one run each."""

NEW = "{}::{}: it is new, and no test that the change concerns fails when it raises"
UNREAD = "{}::{}: it is new, and no test that the change concerns fails when it returns another value of the same type"
_OF_CONTAINERS = re.compile(r"__\w+__|__\w+|hash|hashCode|eql\?|toString|to_s|inspect|valueOf|String|Error|<=>|==")
"""Methods that others call; their results need not show anywhere."""

FUNCTIONS = "No test that the change concerns fails when these changed functions raise: {}"
_BINDS = re.compile(r"(?:(?:export|const|let|var|final|static|public|private|pub)\s+)*(\w+)\s*(?::[^=]*)?=(?![=>~])")
"""A statement that assigns a value to a name, by its tokens."""

VALUE = "{}: `{}` has another value than on the base, and no test that the change concerns fails with the old one"
STATEMENTS = "No test that the change concerns fails with these files as they were on the base: {}"


@dataclass
class Untested:
    """Changed code that no test notices: `doubts` are about new functions, `sentences` are remarks about the rest."""

    doubts: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    silent: set[tuple[str, str]] = field(default_factory=set)
    """Path and name of the functions that no test notices."""


async def untested(probe: Probe) -> Untested:
    """Return the doubts and remarks about changed functions and other changed code that no test notices.

    The test files that the change concerns are run; if the suite is quick, those that name a changed file, too.
    Functions in which a damage was noticed are not tried again. If any test fails, nothing is said about old functions;
    new ones are tried one by one.
    """
    made, found = probe.changes(), probe.found
    seen = Untested()
    silent_ones: list[str] = []
    for change in [change for change in made if list(_silent_functions(change, found))][:FILES]:
        silent, new = set(_silent_functions(change, found)), new_functions(change)
        notice = partial(_notices, probe, change)
        if gone(change, silent) is None or probe.is_over():
            continue
        if not await notice(silent):
            silent_ones += [f"`{name}` in `{change.path}`" for name in sorted(silent - new)]
            seen.doubts += [NEW.format(change.path, name) for name in sorted(silent & new)]
            seen.silent |= {(change.path, name) for name in silent}
            continue
        for name in sorted(silent & new)[:SINGLY] if len(silent) > 1 else ():
            if not probe.is_over() and not await notice({name}):
                seen.doubts.append(NEW.format(change.path, name))
                seen.silent.add((change.path, name))
        run = {name for name in silent & new if (change.path, name) not in seen.silent}
        seen.doubts += [UNREAD.format(change.path, name) for name in await _unread_functions(probe, change, run)]
    plain = {
        change.path: change.base
        for change in made
        if change.base is not None and not change.functions and change.lines and change.path not in found.files
    }
    still = bool(plain) and not probe.is_over() and not await probe.fails(plain)
    seen.doubts += [
        VALUE.format(one.path, name) for one in made if still and one.path in plain for name in revalued(one)
    ]
    seen.sentences += [FUNCTIONS.format(", ".join(silent_ones))] if silent_ones else []
    seen.sentences += [STATEMENTS.format(", ".join(f"`{path}`" for path in sorted(plain)))] if still else []
    return seen


def revalued(change: FileChange) -> tuple[str, ...]:
    """Return names outside of functions whose value differs from the base, except those that describe a module."""
    before = parse(change.path, change.base) if change.base is not None else None
    old = {_bound_name(each.text): each.text for each in statements(before)} if before is not None else {}
    names = {_bound_name(each.text): each.text for each in change.statements}
    return tuple(name for name, text in names.items() if name and old.get(name, text) != text)


def _bound_name(text: str) -> str:
    found = _BINDS.match(text)
    return found[1] if found is not None and not found[1].startswith("__") else ""


async def _notices(probe: Probe, change: FileChange, names: Collection[str]) -> bool:
    """Return whether a test fails when these functions raise; True if they cannot be made to raise."""
    loud = gone(change, names)
    return loud is None or await probe.fails({change.path: loud.content})


async def _unread_functions(probe: Probe, change: FileChange, names: Collection[str]) -> list[str]:
    """Return those of these functions that tests need to run, but whose results no test checks.

    That is so if a test takes its expectation from the code that it tests.
    """
    asked = sorted(name for name in names if not _OF_CONTAINERS.fullmatch(name.rpartition(".")[2]))[:RESULTS]
    found = []
    for name in asked:
        only = tuple(function for function in change.functions if function.name == name)
        content = otherwise(replace(change, functions=only), unknown_raises=True)
        if content is not None and not probe.is_over() and not await probe.fails({change.path: content}):
            found.append(name)
    return found


def _silent_functions(change: FileChange, found: Noticed) -> Iterator[str]:
    """Yield the changed functions of a file in which no damage was noticed."""
    noticed = {damage.function for damage in found.noticed if damage.path == change.path}
    yield from (function.name for function in change.functions if function.name not in noticed)
