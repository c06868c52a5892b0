"""Old tests stay byte-identical: what a change does to the tests and helpers that exist on the base (pure)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from worker_agent.tdd.judging.python_source import Source, Statement, parameters, parse, used

_SKIP = re.compile(r"skip|xfail|expectedFailure", re.IGNORECASE)
_SELF_ACTING = re.compile(
    r"pytestmark|__test__|pytest_\w+|collect_ignore\w*|(?:setup|teardown)(?:_(?:module|function|class|method))?"
    r"|(?:setUp|tearDown)(?:Class|Module)?|asyncSetUp|asyncTearDown"
)
"""Names that a test runner acts on by itself, so that adding one changes tests that do not mention it."""


def changed_old_tests(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """One sentence for each old test or shared helper that a change deletes, alters, skips or shadows.

    `base` and `head` hold the test files (conftest files too) by path; a path that is only in
    `base` was deleted. Files that are not Python may only grow at their end.
    """
    return tuple(sentence for sentences in changes_by_file(base, head).values() for sentence in sentences)


def changes_by_file(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> dict[str, tuple[str, ...]]:
    """The sentences of `changed_old_tests` by path; files without any are left out."""
    found = {path: tuple(_changes(path, content, head.get(path))) for path, content in sorted(base.items())}
    return {path: sentences for path, sentences in found.items() if sentences}


def _changes(path: str, old: bytes, new: bytes | None) -> Iterator[str]:
    if new is None:
        yield f"{path} was deleted."
    elif new != old:
        before, after = (parse(old), parse(new)) if path.endswith(".py") else (None, None)
        if before is None:
            if not _only_grown(old, new):
                yield f"{path}: existing content was changed; only additions at its end are allowed."
        elif after is None:
            yield f"{path} cannot be read as Python any more."
        else:
            module = _Block("", before.statements(before.tree.body), after.statements(after.tree.body))
            yield from (f"{path}: {what}" for what in _Comparison(before, after).block(module, used(before.tree)))


def _only_grown(old: bytes, new: bytes) -> bool:
    return new.startswith(old) and (old[-1:] in {b"", b"\n"} or new[len(old) :][:1] in {b"\n", b"\r"})


@dataclass(frozen=True, slots=True)
class _Block:
    """The same module or class body before and after; `scope` ends in a dot inside a class."""

    scope: str
    before: Sequence[Statement]
    after: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class _Comparison:
    before: Source
    after: Source

    def block(self, block: _Block, names_used: Collection[str]) -> Iterator[str]:
        """What became of each old statement, then what the new ones do to them."""
        unmatched = Counter(statement.text for statement in block.after)
        missing = []
        for statement in block.before:
            if unmatched[statement.text]:
                unmatched[statement.text] -= 1
            else:
                missing.append(statement)
        added = []
        for statement in block.after:
            if unmatched[statement.text]:
                unmatched[statement.text] -= 1
                added.append(statement)
        kept = [statement for statement in missing if not statement.is_import and not _is_text(statement)]
        for statement in kept:
            yield from self._fate(block, statement, added)
        yield from _imports(block, names_used)
        replaced = {name for statement in kept for name in statement.names}
        yield from _additions(block, [s for s in added if not replaced & set(s.names)], names_used)

    def _fate(self, block: _Block, old: Statement, added: Sequence[Statement]) -> Iterator[str]:
        name = block.scope + (", ".join(old.names) or ast.unparse(old.node).split("\n")[0][:60])
        same = [statement for statement in added if set(statement.names) & set(old.names)]
        if not same:
            yield f"{name} was deleted."
        elif isinstance(old.node, ast.ClassDef) and isinstance(same[-1].node, ast.ClassDef) and len(same) == 1:
            yield from self._class(block, old.node, same[-1].node)
        elif _newly_skipped(old.node, same[-1].node):
            yield f"{name} is skipped by a decorator."
        else:
            yield f"{name} was changed."

    def _class(self, block: _Block, old: ast.ClassDef, new: ast.ClassDef) -> Iterator[str]:
        if self.before.header(old) != self.after.header(new):
            skipped = _newly_skipped(old, new)
            yield f"{block.scope}{old.name} {'is skipped by a decorator' if skipped else 'was changed'}."
        inner = _Block(
            f"{block.scope}{old.name}.",
            self.before.statements(old.body),
            self.after.statements(new.body),
        )
        yield from self.block(inner, parameters(old) | _own_members(old))


def _own_members(node: ast.ClassDef) -> set[str]:
    """What its methods take from `self` or `cls`, wherever it comes from."""
    taken = (found for found in ast.walk(node) if isinstance(found, ast.Attribute))
    return {found.attr for found in taken if isinstance(found.value, ast.Name) and found.value.id in {"self", "cls"}}


def _imports(block: _Block, names_used: Collection[str]) -> Iterator[str]:
    """An old import that old code uses must still import the same thing under the same name."""
    before, after = _aliases(block.before), _aliases(block.after)
    for name, source in sorted(before - after):
        if name in names_used or name == "*":
            rebound = any(name == other for other, _ in after)
            yield f"the import of {block.scope}{name} from {source} was {'changed' if rebound else 'removed'}."


def _additions(block: _Block, added: Sequence[Statement], names_used: Collection[str]) -> Iterator[str]:
    """New statements may add names, but not take those of old code, nor act on it."""
    taken = {name for statement in block.before for name in statement.names} | set(names_used)
    known = _aliases(block.before)
    for statement in added:
        fresh = {name for name, _ in _aliases([statement]) - known} if statement.is_import else set(statement.names)
        for name in sorted(fresh & taken | fresh & {"*"}):
            yield f"{block.scope}{name} is shadowed by a new definition."
        for name in sorted(name for name in fresh - taken if _SELF_ACTING.fullmatch(name)):
            yield f"{block.scope}{name} was added and acts on old tests."
        if _is_autouse(statement.node):
            yield f"{block.scope}{', '.join(statement.names)} is a new autouse fixture and acts on old tests."
        elif not _only_defines(statement.node):
            yield f"new code runs when the file is imported: {ast.unparse(statement.node).split(chr(10))[0][:60]}"


def _aliases(statements: Sequence[Statement]) -> set[tuple[str, str]]:
    """Bound name and where it comes from, for every import of a block."""
    found: set[tuple[str, str]] = set()
    for statement in statements:
        if isinstance(statement.node, ast.Import):
            for alias in statement.node.names:
                found.add((alias.asname or alias.name.partition(".")[0], alias.name if alias.asname else "itself"))
        elif isinstance(statement.node, ast.ImportFrom):
            module = "." * statement.node.level + (statement.node.module or "")
            found |= {(alias.asname or alias.name, f"{module}.{alias.name}") for alias in statement.node.names}
    return found


def _newly_skipped(old: ast.stmt, new: ast.stmt) -> bool:
    return any(_SKIP.search(decorator) for decorator in _decorators(new) - _decorators(old))


def _decorators(node: ast.stmt) -> set[str]:
    listed = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
    return {ast.unparse(decorator) for decorator in listed}


def _is_autouse(node: ast.stmt) -> bool:
    return not isinstance(node, ast.ClassDef) and any("autouse=True" in decorator for decorator in _decorators(node))


def _is_text(statement: Statement) -> bool:
    return isinstance(statement.node, ast.Expr) and isinstance(statement.node.value, ast.Constant)


def _only_defines(node: ast.stmt) -> bool:
    """Importing it binds names and does nothing else that old tests could notice."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
        case ast.AnnAssign(target=target):
            return isinstance(target, ast.Name)
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
        case ast.If(test=test, body=body, orelse=orelse):
            main = ast.unparse(test) == "__name__ == '__main__'" and not orelse
            return main or all(_only_defines(inner) for inner in [*body, *orelse])
        case _:
            return False
