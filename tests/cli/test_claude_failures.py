"""Every way in which a run of the real Claude Code can fail, and the one word that it leads to."""

from __future__ import annotations

from typing import Any

import pytest

from cli.claude_calls import bash
from cli.coding import CLAUDE_VERSIONS, TOKEN, Desk, rows
from cli.refusals import broken, refused
from lab.model.script import Tokens
from shared.llm.port import Ending, RunLimits

CREDIT = "Your credit balance is too low to access the Anthropic API."

REFUSED = {
    "401": (refused(401, message="invalid x-api-key"), Ending.AUTH),
    "403": (refused(403, message="no access"), Ending.AUTH),
    "402": (refused(402, message="pay first"), Ending.BILLING),
    "no credit": (refused(400, message=CREDIT), Ending.BILLING),
    "unknown model": (refused(404, message="model: nope"), Ending.CONFIG),
    "bad request": (refused(400, message="messages: too many"), Ending.PERSISTENT),
    "429": (refused(429), Ending.OVERLOADED),
    "429, an hour": (refused(429, retry_after=3600), Ending.OVERLOADED),
    "529": (refused(529), Ending.OVERLOADED),
    "500": (refused(500), Ending.TRANSIENT),
    "503": (refused(503), Ending.TRANSIENT),
    "malformed": (broken("malformed"), Ending.TRANSIENT),
    "empty stream": (broken("empty"), Ending.TRANSIENT),
    "cut stream": (broken("cut"), Ending.TRANSIENT),
    "declined": ({"say": "I cannot help with that.", "refuses": True}, Ending.REFUSED),
    "says nothing": ({"say": ""}, Ending.EMPTY),
}


OLDER = {"401", "bad request", "529", "500", "cut stream", "declined", "says nothing"}
"""Failures that some versions of Claude Code word differently or retry differently: older versions are run for them."""


@pytest.mark.fault(24)
@pytest.mark.parametrize(("claude_program", "name"), rows(CLAUDE_VERSIONS, REFUSED, OLDER), indirect=["claude_program"])
async def test_a_failed_request_ends_the_run_with_its_word(desk: Desk, name: str) -> None:
    turn, ending = REFUSED[name]
    desk.script(turn)
    outcome = await desk.edit()
    assert outcome.ending is ending, outcome
    assert outcome.text
    assert TOKEN not in outcome.text
    assert outcome.answer is None
    assert outcome.log is not None
    assert outcome.log.stat().st_mode & 0o077 == 0
    assert outcome.log.parent == desk.logs


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_a_request_that_fails_once_costs_nothing(desk: Desk, status: int) -> None:
    desk.script({**refused(status, times=1, retry_after=1), "say": "Done."})
    assert (await desk.edit()).ending is Ending.COMPLETED
    assert [seen.answered for seen in desk.server.journal] == [status, 200]


async def test_nobody_at_the_other_end_is_a_passing_failure(desk: Desk) -> None:
    desk.script({"say": "Done."})
    await desk.server.__aexit__(None, None, None)
    outcome = await desk.edit()
    assert outcome.ending is Ending.TRANSIENT, outcome


@pytest.mark.fault(23)
@pytest.mark.parametrize("kind", ["silent", "stalled"])
async def test_a_silent_server_is_left_at_our_limit(desk: Desk, kind: str) -> None:
    desk.script(broken(kind))
    desk.limits = RunLimits(deadline_seconds=90, silence_seconds=5)
    outcome = await desk.edit()
    assert outcome.ending is Ending.TIMED_OUT
    assert outcome.text == "it said nothing for 5 seconds and was stopped"


@pytest.mark.fault(23)
async def test_a_run_that_never_ends_is_stopped_at_its_deadline_and_what_it_used_is_known(desk: Desk) -> None:
    desk.script(bash("sleep 600"))
    desk.limits = RunLimits(deadline_seconds=10, silence_seconds=60)
    outcome = await desk.edit()
    assert outcome.ending is Ending.TIMED_OUT
    assert "did not end within 10 seconds" in outcome.text
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (1000, 50)
    assert outcome.usage.cost_usd is None


async def test_it_stops_after_its_turns(desk: Desk) -> None:
    desk.script(bash("date >> seen"))
    outcome = await desk.edit(limits=RunLimits(max_turns=2, deadline_seconds=90))
    assert outcome.ending is Ending.MAX_TURNS
    assert len(desk.server.journal) == 2
    assert outcome.usage.cost_usd


async def test_it_stops_at_its_budget(desk: Desk) -> None:
    dear = Tokens(input=200_000, output=20_000).model_dump()
    desk.script({**bash("date >> seen"), "usage": dear})
    outcome = await desk.edit(limits=RunLimits(budget_usd=0.5, deadline_seconds=90))
    assert outcome.ending is Ending.MAX_BUDGET
    assert len(desk.server.journal) == 1
    assert (outcome.usage.cost_usd or 0) > 0.5
    assert outcome.usage.input_tokens == 200_000


@pytest.mark.parametrize("turn", [{"say": "approve"}, {"answer": {"verdict": "perhaps", "why": None}}])
async def test_an_answer_that_never_fits_is_malformed(desk: Desk, turn: dict[str, Any]) -> None:
    desk.script(turn)
    outcome = await desk.ask()
    assert (outcome.ending, outcome.answer) == (Ending.MALFORMED, None)
    assert len(desk.server.journal) <= 6


async def test_more_than_it_reads_is_not_even_begun(desk: Desk) -> None:
    outcome = await desk.edit("x" * 10_000_001)
    assert outcome.ending is Ending.PERSISTENT
    assert "10,000,001 bytes" in outcome.text
    assert desk.server.journal == []
