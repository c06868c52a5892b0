"""Every function that changes something at GitHub or on the git server takes what entitles it to: a write permit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import shared
from shared.lock import write_permit

ROOMS = [Path(shared.__path__[0]) / room for room in ("github", "git")]
PERMITS = {"WritePermit", "Held", "OperatorPermit", "Notice", "RegisterPermit"}
SENDERS = {"write", "push"}
"""`GitHub.write` and `Git.push`: whatever leaves this machine as a change goes through one of them."""

WITHOUT = {
    "git/command.py Git.push": "the command itself, which knows refs and no leases",
    "git/fences.py Fences.advance": "the compare-and-swap by which a lease is proved",
    "git/fences.py Fences.probe": "a scratch ref of nobody, before anything is claimed",
    "github/tokens.py Installation.__call__": "signing in changes nothing; its POST is an OperatorPermit's",
    "github/tokens.py Installation.admit": "signing in, too",
}
"""Functions that send without a write permit of their caller, and the reason why that is right."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield functions and methods, as `name` or `Class.name`."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, Function))


def called(function: Function) -> set[str]:
    """Return the last names of everything that a function calls."""
    names = [one.func for one in ast.walk(function) if isinstance(one, ast.Call)]
    plain = {name.id for name in names if isinstance(name, ast.Name)}
    return plain | {name.attr for name in names if isinstance(name, ast.Attribute)}


def sends(function: Function) -> bool:
    """Return whether a function calls a sender: `x.write(method, ...)`, `x.push(url, moves)`, or `git push`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SENDERS and len(node.args) >= 2:
                return True
        elif isinstance(node, ast.Constant) and node.value in {"push", "send-pack"}:
            return True
    return False


def permitted(function: Function) -> bool:
    """Return whether a parameter of the function is a write permit, of one kind or of several."""
    parameters = [*function.args.args, *function.args.kwonlyargs]
    kinds = [set(ast.unparse(one.annotation).split(" | ")) for one in parameters if one.annotation is not None]
    return any(of_one <= PERMITS for of_one in kinds)


def unpermitted(source: str) -> tuple[set[str], int]:
    """Return entries of a module that lead to a sender without a write permit, and the number that lead to one.

    A private function may leave it to the public ones that call it, because nothing else can.
    """
    found = dict(functions(ast.parse(source)))
    reaching = {name for name, function in found.items() if sends(function)}
    while True:
        private = {name.rpartition(".")[2] for name in reaching if _is_private(name)}
        more = {name for name, function in found.items() if called(function) & private} - reaching
        if not more:
            break
        reaching |= more
    return {name for name in reaching if not _is_private(name) and not permitted(found[name])}, len(reaching)


def _is_private(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.endswith("__")


def test_every_write_takes_a_warrant() -> None:
    without, writes = set(), 0
    for room in ROOMS:
        for path in sorted(room.glob("*.py")):
            names, count = unpermitted(path.read_text(encoding="utf-8"))
            without |= {f"{room.name}/{path.name} {name}" for name in names}
            writes += count
    assert without == set(WITHOUT), "a new write takes `permit: WritePermit` and lets the adapter ask it"
    assert writes >= 20, "the search finds what there is"


def test_nothing_else_is_a_warrant() -> None:
    assert {part.__name__ for part in write_permit.WritePermit.__args__} == PERMITS - {"WritePermit"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("async def close(g): await g.write('PATCH', '/x', {}, OperatorPermit('me'))", {"close"}),
        ("class A:\n async def drop(self, git): await git.push(url, moves)", {"A.drop"}),
        ("class A:\n async def go(self): await self._go()\n async def _go(self): await g.write('PUT', p)", {"A.go"}),
        ("async def run(git): await git.run('push', url)", {"run"}),
        ("async def close(g, permit: WritePermit): await g.write('PATCH', '/x', {}, permit)", set()),
        ("async def open(g, held: Held | OperatorPermit): await g.write('POST', '/x', {}, held)", set()),
        ("async def open(g, held: Held | None): await g.write('POST', '/x', {}, held)", {"open"}),
        ("async def merge(g, *, held: Held): await _put(g)\nasync def _put(g): await g.write('PUT', p)", set()),
        ("def save(file): file.write('text')", set()),
    ],
)
def test_the_search_finds_what_it_looks_for(source: str, names: set[str]) -> None:
    assert unpermitted(source)[0] == names
