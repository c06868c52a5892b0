"""`/metrics`, `/healthz` and `/readyz` over HTTP, and the port that each agent of a machine finds."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from fakes.clock import HandClock
from structlog.testing import capture_logs

from shared.errors import Misconfigured
from shared.telemetry.event_log import NoEventLog
from shared.telemetry.fold import Tallies
from shared.telemetry.health import Health, listener
from shared.telemetry.health_state import STUCK_SECONDS, HealthState
from shared.workflow import Role


@asynccontextmanager
async def asked(health: HealthState) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    served = Health("worker-a", Role.WORKER, Tallies(), health, NoEventLog())
    async with served.served("127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        yield session, f"http://127.0.0.1:{port}"


async def answer(session: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    async with session.get(url) as response:
        return response.status, (await response.text()).strip()


async def test_a_probe_is_told_how_the_agent_is() -> None:
    health = HealthState(HandClock())
    async with asked(health) as (session, url):
        assert await answer(session, f"{url}/readyz") == (503, "It is still starting.")
        assert await answer(session, f"{url}/healthz") == (200, "alive")
        health.join("a/b", lambda: 30.0)
        assert (await answer(session, f"{url}/readyz"))[0] == 503
        health.ticked("a/b")
        health.answered("a/b")
        assert await answer(session, f"{url}/readyz") == (200, "ready")
        health.clock.seconds += STUCK_SECONDS + 91  # type: ignore[attr-defined]
        assert (await answer(session, f"{url}/healthz"))[0] == 503
        assert (await answer(session, f"{url}/readyz"))[0] == 503


async def test_figures_are_text_for_prometheus_and_nothing_else_is_answered() -> None:
    async with asked(HealthState(HandClock())) as (session, url):
        async with session.get(f"{url}/metrics") as response:
            assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
            text = await response.text()
        assert 'workflow_engine_agent_online{agent="worker-a",kind="worker"} 0.0' in text.splitlines()
        assert (await answer(session, f"{url}/"))[0] == 404


def test_agents_of_one_machine_get_different_ports() -> None:
    with listener("127.0.0.1", 0) as first:
        taken = first.getsockname()[1]
        if taken > 2**16 - 3:
            pytest.skip("no port above this one")
        with listener("127.0.0.1", taken) as second:
            assert second.getsockname()[1] != taken


def test_a_range_without_a_free_port_falls_back_to_any() -> None:
    with listener("127.0.0.1", 0) as first, listener("127.0.0.1", 2**16 - 1) as last:
        assert first.getsockname()[1]
        with listener("127.0.0.1", 2**16 - 1) as other:
            assert other.getsockname()[1] != last.getsockname()[1]


def test_an_address_that_is_not_ours_is_said() -> None:
    with pytest.raises(Misconfigured, match=r"health: nothing can listen at 192\.0\.2\.1"):
        listener("192.0.2.1", 0).close()


async def test_where_it_listens_stands_in_the_log_and_nobody_listens_afterwards() -> None:
    with capture_logs() as logs:
        async with Health("worker-a", Role.WORKER, Tallies(), HealthState(HandClock()), NoEventLog()).served(
            "127.0.0.1", 0
        ) as port:
            pass
    assert {"event": "health_served", "port": port}.items() <= logs[0].items()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()
