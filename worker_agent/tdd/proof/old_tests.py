"""The effects of a change on old tests, by meaning: additions are free, changes need a reason, removals permission."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from shared.git.notes import ChangedTest
from worker_agent.tdd.comparison.compare import compare, diff, old_versions
from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What
from worker_agent.tdd.comparison.renames import with_rewritten
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import FailureKind, PurposeKind, RunPurpose, TestResult, TestRun
from worker_agent.tdd.test_file_names import is_test_file

_NAME_GONE = re.compile(
    r"AttributeError|NameError|ImportError|ModuleNotFoundError|unexpected keyword argument|positional arguments? but"
    r"|required positional argument|is not a function|is not a constructor|is not defined|does not provide an export"
    r"|Cannot find module|undefined method|undefined function|undefined local variable|uninitialized constant"
    r"|NoMethodError|wrong number of arguments|Call to undefined|not found in|undefined:|cannot find symbol"
    r"|cannot find (?:function|type|value|struct|macro|method)|no method named|unresolved import"
)
"""Messages of runners about a missing name, module or parameter."""

REMEDY = "Keep it, or let the specification say that it goes: under Tests that may change, as `{}`."

DAMAGES = 6
"""The most damages of the code that the changed tests run, also of unchanged code, tried on both versions."""

OTHER_VALUES = "another value of the same type from the functions that it names"
SOFTER = "{}: it notices less than before: {} in {}:{} turned the old version red and leaves the new one green. {}"
FEWER = "{}: it checks less than before. {}"
KEEP_CHECKS = "Keep what it expected, or let the specification list `{}` under Tests that may change."


@dataclass(frozen=True)
class OldTests:
    """The effects on old tests. `gone` are tests (units) that `judge_green` leaves to this judgement."""

    comparison: Comparison = field(default_factory=Comparison)
    refusals: tuple[str, ...] = ()
    changed: tuple[ChangedTest, ...] = ()
    removed: tuple[str, ...] = ()
    gone: frozenset[str] = frozenset()

    @cached_property
    def known(self) -> frozenset[str]:
        """Tests of the head that are old ones: under another name, or with another helper or fixture."""
        found = self.comparison
        same = (*found.renamed, *(entry for entry in found.changed if entry.what is What.SUPPORT))
        return frozenset(entry.now or entry.name for entry in same)


def compared(subject: ProofSubject) -> OldTests:
    """Return the findings before there is any code: a skipped test needs the specification's permission."""
    change = subject.change
    head = {path: content for path, content in change.support.items() if path not in change.changed}
    head |= change.side(change.tests, head=True)
    base = {**change.support, **change.side(change.tests, head=False)}
    found = with_rewritten(compare(base, head))
    if subject.rules.old_tests == "strict":
        touched = [entry for entry in (*found.changed, *found.removed, *found.skipped) if not _is_free(subject, entry)]
        return OldTests(found, tuple(_strict_sentence(entry) for entry in touched))
    skipped = [entry for entry in found.skipped if not _is_allowed(subject, entry)]
    removed = tuple(entry.text for entry in (*found.removed, *found.skipped))
    return OldTests(found, tuple(_end_sentence(entry) for entry in skipped), (), removed)


async def on_head(subject: ProofSubject, old: OldTests, red: TestRun) -> OldTests:
    """Return the complete findings: old versions of changed and removed tests run on the head as justification."""
    found = old.comparison
    judged = [entry for entry in found.changed if not _is_free(subject, entry)]
    removals = [entry for entry in found.removed if not _is_allowed(subject, entry)]
    gone = frozenset(entry.name for entry in (*found.changed, *found.removed, *found.skipped, *found.renamed))
    data = tuple(ChangedTest(entry.path, entry.text, diff(entry)) for entry in found.data if entry.before)
    if not judged and not removals:
        return replace(old, gone=gone, changed=data)
    change = subject.change
    laid = old_versions(change.support, change.side(change.tests, head=True), [*judged, *removals])
    concerned = (*judged, *removals)
    paths, names = {entry.path for entry in concerned}, {entry.name for entry in concerned}
    run = await subject.variant(paths, laid, names, purpose=RunPurpose(PurposeKind.OLD_TESTS))
    refusals = [sentence for entry in removals if (sentence := _removal_fault(subject, run, entry))]
    changed: list[ChangedTest] = []
    doubtful: dict[bool, list[ComparedTest]] = {True: [], False: []}
    for entry in judged:
        was_green, is_red = _passes(subject, run, entry), _is_red(subject, red, entry)
        if not was_green:
            changed.append(_changed_test(entry, is_red=is_red))
        if not is_red and entry.loses:
            doubtful[was_green].append(entry)
    alone = max(run.seconds, red.seconds)
    refusals += await weakened(subject, doubtful[True], laid, alone_seconds=alone)
    refusals += await weakened(subject, doubtful[False], laid, on_base=True, alone_seconds=alone)
    return replace(old, refusals=tuple(refusals), changed=(*changed, *data), gone=gone)


def later_losses(
    before: Mapping[str, bytes], after: Mapping[str, bytes], free: Collection[str] = ()
) -> tuple[str, ...]:
    """Return one sentence for each test that a change after the proof removes, skips, or makes check less or else.

    Such a change is a repair, a review round or a merge. `before` and `after` hold the changed files as far as they
    exist; those of `free` may change as they like.
    """
    old = {path: content for path, content in before.items() if is_test_file(path) and path not in free}
    if not old:
        return ()
    new = {path: content for path, content in after.items() if is_test_file(path) and path not in free}
    found = compare(old, new)
    ended = (*found.removed, *found.skipped, *(entry for entry in found.changed if entry.loses))
    return tuple(f"{entry.text}: a later change may add tests, not take from them." for entry in ended)


def _removal_fault(subject: ProofSubject, run: TestRun, entry: ComparedTest) -> str:
    """Return the fault of a removal; empty if the code under test is gone.

    The old test must need a name, a module or a parameter that the head does not have, so that it could not stay.
    """
    if _passes(subject, run, entry):
        return f"{entry.text}, but what it tests is there: it passes on the head. {REMEDY.format(entry.name)}"
    results = [run.results[test] for test in subject.index.cases(run, entry.name)]
    broken = run.broken(entry.path)
    seen = [result for result in (*results, broken) if result is not None and result.kind is not None]
    if seen and all(_is_name_gone(result) for result in seen):
        return ""
    return _end_sentence(entry)


def _is_name_gone(result: TestResult) -> bool:
    return result.kind is FailureKind.FIRST_PARTY_IMPORT or (
        not result.asserted and bool(_NAME_GONE.search(result.message))
    )


def _is_free(subject: ProofSubject, entry: ComparedTest) -> bool:
    """Return whether the specification lists the test or its file under "Tests that may change"."""
    may = subject.specification.may_change
    return entry.path in may or entry.name in may


def _is_allowed(subject: ProofSubject, entry: ComparedTest) -> bool:
    return _is_free(subject, entry) or subject.specification.allows(entry.path, entry.unit)


def _passes(subject: ProofSubject, run: TestRun, entry: ComparedTest) -> bool:
    cases = subject.index.cases(run, entry.name)
    return bool(cases) and all(test in run.passed for test in cases)


def _is_red(subject: ProofSubject, red: TestRun, entry: ComparedTest) -> bool:
    now = entry.now or entry.name
    cases = subject.index.cases(red, now)
    return any(test in red.failed for test in cases) or (not cases and red.broken(now.partition("::")[0]) is not None)


def _changed_test(entry: ComparedTest, *, is_red: bool) -> ChangedTest:
    why = "the new version fails on the base" if is_red else "the new version passes on the base, too"
    return ChangedTest(entry.name, f"{entry.text}; the old version fails on the head, {why}", diff(entry))


def _strict_sentence(entry: ComparedTest) -> str:
    return f"{entry.text}; with old_tests: strict, list `{entry.path}` under Tests that may change to allow it."


def _end_sentence(entry: ComparedTest) -> str:
    return f"{entry.text}. {REMEDY.format(f'{entry.path}::{entry.unit}')}"


async def weakened(
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
                told = SOFTER.format(entry.name, damage.what, damage.path, damage.line, KEEP_CHECKS.format(entry.name))
                found.setdefault(entry.name, told)
    for entry in entries:
        if entry.fewer_checks and entry.name not in noticed:
            found[entry.name] = FEWER.format(entry.name, KEEP_CHECKS.format(entry.name))
    return list(found.values())


def _damages(change: Change, entries: Sequence[ComparedTest], *, on_base: bool) -> Iterator[Damage]:
    """Yield damages of the changed code, then of other code that the tests name: of called functions, if there are any.

    Other values come first: with them a test that checks less passes, wherever in the functions the damage is.
    """
    from worker_agent.tdd.damage.code import chosen, damages

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
