"""Fixtures of every ring. Because this file is here, tests import what stands beside it (`judge`, `lab_scene`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from case_counts import pytest_terminal_summary
from frozen_garbage import pytest_collection
from required import pytest_make_collect_report, pytest_runtest_makereport

if TYPE_CHECKING:  # imported when used: most unit tests need neither HTTP nor the description
    from engine import Engine
    from fakes.lock_port import FakeAgent
    from fakes.lock_server import Server
    from judge import Judge
    from lab_scene import Scene

    from shared.lock.hold import Held

__all__ = [
    "alice",
    "bob",
    "engine",
    "held",
    "judge",
    "pytest_collection",
    "pytest_make_collect_report",
    "pytest_runtest_makereport",
    "pytest_terminal_summary",
    "scene",
    "server",
]


@pytest.fixture
def judge() -> Judge:
    """Return a judge that has seen nothing yet; let it observe a lab's exchanges."""
    from judge import Judge

    return Judge()


@pytest.fixture
async def scene(tmp_path: Path, judge: Judge) -> AsyncIterator[Scene]:
    """Yield a lab with one repository and three people; every exchange is judged."""
    from lab_scene import scene_at

    async with scene_at(tmp_path / "lab", judge) as here:
        yield here


@pytest.fixture
async def engine(tmp_path: Path, judge: Judge, request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    """Yield the demo's project in a lab; assert at the end that nothing is left over and every exchange was valid.

    The edges of the state machine that the test says it walks were walked.
    """
    import lateness
    from engine import REPOSITORY, Engine
    from engine_calls import ENGINE, GRAPHQL
    from walked_edges import check

    from lab.github.server import Lab

    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        async with Engine.of(lab, tmp_path, tmp_path / "scenario.yml") as engine:
            lateness.begin(engine, request.node)
            yield engine
        claimed = [one for mark in request.node.iter_markers("edges") for one in mark.args]
        if claimed:
            check(lab.at(REPOSITORY), claimed)
        assert lab.unlisted == []
        assert lab.faults.unused == []
        assert engine.held_locks() == []
        called = {f"{one.method} {one.template}" for one in lab.exchanges}
        assert called <= ENGINE | {GRAPHQL}, "see tests/engine_calls.py"
    assert judge.complaints == []
    assert judge.judged > 0


@pytest.fixture
def server() -> Iterator[Server]:
    """Yield the lock's server in memory; assert at the end that each planned fault happened and no write is pending."""
    from fakes.lock_server import Server

    server = Server()
    yield server
    server.check_all_met()


@pytest.fixture
def alice(server: Server) -> FakeAgent:
    """Return a worker that claims."""
    from fakes.lock_port import FakeAgent

    return FakeAgent(server, "worker-a")


@pytest.fixture
def bob(server: Server) -> FakeAgent:
    """Return a second worker, on another machine."""
    from fakes.lock_port import FakeAgent

    return FakeAgent(server, "worker-b")


@pytest.fixture
def held(alice: FakeAgent) -> Held:
    """Return the lease that the first worker has won."""
    return alice.win()
