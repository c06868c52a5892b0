"""Fixtures of the ring in which the real coding CLIs run against the scripted model server."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from cli.coding import CLAUDE_VERSIONS, CODEX_VERSIONS, Desk, left_behind, program
from cli.compatible import VERSIONS, ProxiedDesk
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.sandbox.confinement import Isolation, Wrap

D = TypeVar("D", bound=Desk)


@pytest.fixture(params=CLAUDE_VERSIONS)
def claude_program(request: pytest.FixtureRequest) -> Path:
    """Return the program, in each version."""
    return program("claude", request.param)


@pytest.fixture(params=CODEX_VERSIONS)
def codex_program(request: pytest.FixtureRequest) -> Path:
    """Return the native program, in each version."""
    return program("codex", request.param)


@pytest.fixture
def wrap() -> Wrap:
    """Return the wrapper of bubblewrap, which this ring needs; skip the test without it."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bwrap on this machine: install bubblewrap")
    return Wrap(Isolation.TREE_BY_BUBBLEWRAP)


@pytest.fixture
async def root(tmp_path: Path) -> AsyncIterator[Path]:
    """Yield a test's own directory; assert at its end that no process relates to it, and nothing new is in /tmp."""
    before = _litter()
    yield tmp_path
    assert await left_behind(tmp_path) == []
    assert _litter() - before == set()


@pytest.fixture
async def desk(root: Path, claude_program: Path, wrap: Wrap) -> AsyncIterator[Desk]:
    """Yield Claude Code at a model server."""
    async with _served(root, lambda server: Desk(server, root, claude_program, "claude", wrap)) as desk:
        yield desk


@pytest.fixture
async def codex(root: Path, codex_program: Path, wrap: Wrap) -> AsyncIterator[Desk]:
    """Yield Codex at a model server."""
    async with _served(root, lambda server: Desk(server, root, codex_program, "codex", wrap)) as desk:
        yield desk


@pytest.fixture(params=VERSIONS, ids=lambda one: one[0])
async def proxied(root: Path, request: pytest.FixtureRequest, wrap: Wrap) -> AsyncIterator[ProxiedDesk]:
    """Yield each program that speaks chat completions, behind the proxy."""
    name, version = request.param
    executable = program(name, version)
    async with _served(root, lambda server: ProxiedDesk(server, root, executable, name, wrap)) as desk:
        yield desk


@pytest.fixture
async def mini(root: Path, wrap: Wrap) -> AsyncIterator[ProxiedDesk]:
    """Yield mini-swe-agent alone, behind the proxy."""
    executable = program("mini", dict(VERSIONS)["mini"])
    async with _served(root, lambda server: ProxiedDesk(server, root, executable, "mini", wrap)) as desk:
        yield desk


@asynccontextmanager
async def _served(root: Path, make: Callable[[ModelServer], D]) -> AsyncIterator[D]:
    """Yield a desk; assert at its end that every request was scripted and no call directory is left."""
    (root / "tree").mkdir()
    async with ModelServer(Script(())) as server:
        desk = make(server)
        yield desk
        assert server.unscripted == []
        assert not desk.calls.exists() or list(desk.calls.iterdir()) == []


def _litter() -> set[Path]:
    """Return the files that CLIs are known to leave in /tmp, but not Codex's directory of an account if it is empty."""
    place = Path(tempfile.gettempdir())
    found = {path for pattern in ("claude-*", "cc-*", "codex-*") for path in place.glob(pattern)}
    kept = place / f"codex-daemon-{os.getuid()}"
    return found - {kept} if kept.is_dir() and not any(kept.iterdir()) else found
