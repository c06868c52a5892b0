"""Every way in which a run of a program that speaks chat completions can fail, and the one word that it leads to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cli.compatible import KEY, ProxiedDesk
from cli.refusals import broken, refused
from shared.llm.port import Ending, RunLimits

LATER = "You exceeded your current quota, please check your plan and billing details."

LONG = "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens."

REFUSED = {
    "401": (refused(401, message="Incorrect API key provided"), Ending.AUTH),
    "403": (refused(403, message="no access"), Ending.AUTH),
    "402": (refused(402, message="pay first"), Ending.BILLING),
    "no credit": (refused(429, type="insufficient_quota", message=LATER), Ending.BILLING),
    "unknown model": (refused(404, type="model_not_found", message="The model `x` does not exist"), Ending.CONFIG),
    "bad request": (refused(400, type="invalid_request_error", message="too many"), Ending.PERSISTENT),
    "context window": (refused(400, type="context_length_exceeded", message=LONG), Ending.PERSISTENT),
    "account closed": (refused(400, message="This organization has been disabled."), Ending.AUTH),
    "429": (refused(429), Ending.OVERLOADED),
    "429, an hour": (refused(429, retry_after=3600), Ending.USAGE_LIMIT),
    "500": (refused(500), Ending.TRANSIENT),
    "503": (refused(503), Ending.TRANSIENT),
    "529": (refused(529, message="overloaded"), Ending.OVERLOADED),
    "malformed": (broken("malformed"), Ending.TRANSIENT),
    "empty stream": (broken("empty"), Ending.TRANSIENT),
    "cut stream": (broken("cut"), Ending.TRANSIENT),
    "declined": ({"say": "I cannot help with that.", "refuses": True}, Ending.EMPTY),
    "says nothing": ({"say": ""}, Ending.EMPTY),
}

OTHERWISE = {("mini", "declined"): Ending.REFUSED}
"""Endings of programs that report more about a failure than the others do."""

PATIENT = RunLimits(max_turns=10, deadline_seconds=120, silence_seconds=90)


@pytest.mark.fault(24)
@pytest.mark.parametrize("name", REFUSED)
async def test_a_failed_request_ends_the_run_with_its_word(proxied: ProxiedDesk, name: str) -> None:
    turn, usual = REFUSED[name]
    ending = OTHERWISE.get((proxied.backend, name), usual)
    proxied.script(turn)
    outcome = await proxied.edit(limits=PATIENT)
    assert outcome.ending is ending, outcome
    assert outcome.text
    assert KEY not in outcome.text
    assert proxied.server.url.removeprefix("http://") not in outcome.text
    assert outcome.answer is None
    assert outcome.log is not None
    assert outcome.log.parent == proxied.logs
    assert list(proxied.tree.iterdir()) == []
    assert len(proxied.server.journal) <= 8


async def test_a_server_error_is_tried_again(proxied: ProxiedDesk) -> None:
    proxied.script({**refused(500, times=2), "say": "Done."})
    assert (await proxied.edit()).ending is Ending.COMPLETED
    assert [seen.answered for seen in proxied.server.journal] == [500, 500, 200]


async def test_a_limit_that_asks_for_an_hour_is_not_waited_out(proxied: ProxiedDesk) -> None:
    proxied.script(refused(429, retry_after=3600))
    outcome = await proxied.edit(limits=RunLimits(deadline_seconds=60))
    assert outcome.retry_at is not None
    assert 3000 < (outcome.retry_at - datetime.now(UTC)).total_seconds() < 3700
    assert [seen.answered for seen in proxied.server.journal] == [429]


async def test_nobody_at_the_other_end_is_a_passing_failure(proxied: ProxiedDesk) -> None:
    proxied.script({"say": "Done."})
    await proxied.server.__aexit__(None, None, None)
    outcome = await proxied.edit(limits=PATIENT)
    assert outcome.ending is Ending.TRANSIENT, outcome


@pytest.mark.fault(23)
@pytest.mark.parametrize("kind", ["silent", "stalled"])
async def test_a_silent_server_is_left_at_our_limit(proxied: ProxiedDesk, kind: str) -> None:
    proxied.script(broken(kind))
    outcome = await proxied.edit(limits=RunLimits(deadline_seconds=90, silence_seconds=30))
    assert outcome.ending is Ending.TIMED_OUT
    assert len(proxied.server.journal) == 1


@pytest.mark.fault(23)
async def test_a_run_past_its_deadline_is_stopped_and_what_it_took_is_known(proxied: ProxiedDesk) -> None:
    proxied.script(proxied.tools.write("a.py", "x = 1\n"), proxied.tools.shell("touch begun; sleep 600"))
    outcome = await proxied.edit(limits=RunLimits(deadline_seconds=40))
    assert outcome.ending is Ending.TIMED_OUT
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (1400, 100)
    assert outcome.usage.cost_usd
    assert {path.name for path in proxied.tree.iterdir()} == {"a.py", "begun"}


async def test_what_a_run_took_before_it_failed_is_known(proxied: ProxiedDesk) -> None:
    proxied.script(proxied.tools.write("a.py", "x = 1\n"), refused(401, message="expired"))
    outcome = await proxied.edit()
    assert (outcome.ending, outcome.usage.output_tokens) == (Ending.AUTH, 50)
    assert outcome.usage.cost_usd == pytest.approx((700 * 10 + 300 * 1 + 50 * 30) / 1e6)
