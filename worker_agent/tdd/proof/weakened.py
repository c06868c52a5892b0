"""A check that a changed old test notices no less than before: both versions run on the same damaged code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from worker_agent.tdd.comparison.model import ComparedTest
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.purpose import PurposeKind, RunPurpose
from worker_agent.tdd.runners.test_run import TestRun

DAMAGES = 6
"""The most damages of the code that the changed tests run, also of unchanged code, tried on both versions."""

OTHER_VALUES = "another value of the same type from the functions that it names"

SOFTER = "{}: it notices less than before: {} in {}:{} turned the old version red and leaves the new one green. {}"
FEWER = "{}: it checks less than before. {}"
REMEDY = "Keep what it expected, or let the specification list `{}` under Tests that may change."


async def sentences(
    subject: ProofSubject,
    entries: Sequence[ComparedTest],
    old: Mapping[str, bytes],
    *,
    on_base: bool = False,
    alone_seconds: float | None = None,
) -> list[str]:
    """Return a sentence for each of `entries` that has become weaker; `old` are their old versions, by path.

    They are compared on the damaged head, or `on_base` on the damaged base if the old ones fail on the head. If the old
    version notices no damage either, the number of its checks decides. `alone_seconds` is their time on undamaged code:
    a damage with which they loop says nothing.
    """
    if not entries:
        return []
    change, files = subject.change, {entry.path for entry in entries}
    before_it = {} if on_base else old
    after_it = change.side(change.tests, head=True) if on_base else {}
    names = {name for entry in entries for name in (entry.name, entry.now or entry.name)}
    purpose = RunPurpose(PurposeKind.DAMAGE)
    run = partial(subject.variant, files, tests=names, alone_seconds=alone_seconds, purpose=purpose, on_base=on_base)
    found: dict[str, str] = {}
    noticed: set[str] = set()
    for damage in _damages(change, entries, on_base=on_base):
        before = await run(over={**before_it, damage.path: damage.content})
        if before.broken_files or before.timed_out or not before.results:
            continue
        after = await run(over={**after_it, damage.path: damage.content})
        if after.timed_out:
            continue
        for entry in entries:
            if not _fails(subject, before, entry.name):
                continue
            noticed.add(entry.name)
            if not _fails(subject, after, entry.now or entry.name):
                told = SOFTER.format(entry.name, damage.what, damage.path, damage.line, REMEDY.format(entry.name))
                found.setdefault(entry.name, told)
    for entry in entries:
        if entry.fewer_checks and entry.name not in noticed:
            found[entry.name] = FEWER.format(entry.name, REMEDY.format(entry.name))
    return list(found.values())


def _damages(change: Change, entries: Sequence[ComparedTest], *, on_base: bool) -> Iterator[Damage]:
    """Yield damages of the changed code, then of other code that the tests name: of called functions, if there are any.

    Other values come first: with them a test that checks less passes, wherever in the functions the damage is.
    """
    from worker_agent.tdd.damage.code import damages
    from worker_agent.tdd.damage.selection import chosen

    words, after = (_words(entry.before for entry in entries), _words(entry.after for entry in entries))
    for code in (change.side(change.code, head=not on_base), change.reached):
        yield from _other_values(code, words & after)
        made = damages({}, code)
        called = [damage for damage in made if damage.function.rpartition(".")[2] in words]
        yield from chosen(called or made, DAMAGES)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", text)}


def _other_values(code: Mapping[str, bytes], names: set[str]) -> Iterator[Damage]:
    """Yield one damage for each file: its functions of these names return other values."""
    from worker_agent.tdd.damage.code_changes import changes  # grammars are loaded late
    from worker_agent.tdd.damage.code_other_values import otherwise
    from worker_agent.tdd.syntax.source import line_of

    for change in changes({}, code):
        called = tuple(each for each in change.functions if each.name.rpartition(".")[2] in names)
        content = otherwise(replace(change, functions=called)) if called else None
        if content is not None:
            yield Damage(change.path, line_of(called[0].node), DamageKind.LIKE, content, OTHER_VALUES)


def _fails(subject: ProofSubject, run: TestRun, name: str) -> bool:
    return any(subject.index.of(run.results[test]) == name for test in run.failed)
