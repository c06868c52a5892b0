"""The lock's modules know no event loop, no clock and no chance, so that a simulator can drive them by hand."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from shared import lock

ROOM = Path(lock.__file__).parent
PURE = sorted(set(ROOM.glob("*.py")) - {ROOM / "scope.py", ROOM / "gateway.py", ROOM / "__init__.py"})
FORBIDDEN = {"asyncio", "anyio", "time", "random", "secrets", "uuid", "os", "threading", "aiohttp", "sniffio"}
FORBIDDEN_CALLS = {"now", "utcnow", "today"}


def violations(source: str) -> list[str]:
    """Return imports that the lock must not have, and readings of a clock."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found += [one.name for one in names if one.name.partition(".")[0] in FORBIDDEN]
            case ast.ImportFrom(module=str(module), names=names):
                found += [module] if module.partition(".")[0] in FORBIDDEN else []
            case ast.Attribute(value=ast.Name(id="datetime" | "date" as owner), attr=name):
                found += [f"{owner}.{name}"] if name in FORBIDDEN_CALLS else []
            case ast.Call(func=ast.Name(id="__import__" | "import_module" as name)):
                found.append(name)
            case _:
                continue
    return found


@pytest.mark.parametrize("module", PURE, ids=lambda path: path.stem)
def test_a_module_of_the_lock_is_pure(module: Path) -> None:
    assert violations(module.read_text(encoding="utf-8")) == []


def test_the_whole_protocol_is_checked() -> None:
    assert {path.stem for path in PURE} >= {"claim", "codec", "fence", "format_1", "hold", "port"}


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio",
        "import anyio.abc",
        "from time import monotonic",
        "import random as r",
        "async def f():\n    from asyncio import sleep",
        "from datetime import datetime\nat = datetime.now()",
        "__import__('time')",
    ],
)
def test_the_check_finds_what_it_looks_for(source: str) -> None:
    assert violations(source) != []
