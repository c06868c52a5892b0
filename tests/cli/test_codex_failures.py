"""Every way in which a run of the real Codex can fail, and the one word that it leads to."""

from __future__ import annotations

import pytest

from cli.codex_calls import shell, write
from cli.coding import CODEX_VERSIONS, TOKEN, Desk, rows
from cli.refusals import broken, refused
from shared.llm.port import Ending, RunLimits

LATER = "You exceeded your current quota, please check your plan and billing details."

REFUSED = {
    "401": (refused(401, message="Incorrect API key provided"), Ending.AUTH),
    "403": (refused(403, message="no access"), Ending.AUTH),
    "402": (refused(402, message="pay first"), Ending.BILLING),
    "no credit": (refused(429, type="insufficient_quota", message=LATER), Ending.BILLING),
    "usage limit": (refused(429, type="usage_limit_reached", message="used up"), Ending.USAGE_LIMIT),
    "unknown model": (refused(404, type="model_not_found", message="The model `x` does not exist"), Ending.CONFIG),
    "bad request": (refused(400, type="invalid_request_error", message="too many"), Ending.PERSISTENT),
    "429": (refused(429), Ending.OVERLOADED),
    "429, a second": (refused(429, retry_after=1), Ending.OVERLOADED),
    "429, an hour": (refused(429, retry_after=3600), Ending.OVERLOADED),
    "overloaded": (refused(503, type="server_is_overloaded", message="overloaded"), Ending.OVERLOADED),
    "500": (refused(500), Ending.TRANSIENT),
    "503": (refused(503), Ending.TRANSIENT),
    "malformed": (broken("malformed"), Ending.TRANSIENT),
    "empty stream": (broken("empty"), Ending.TRANSIENT),
    "cut stream": (broken("cut"), Ending.TRANSIENT),
    "cut off": ({"say": "Half a", "cut_off": True}, Ending.PERSISTENT),
    "declined": ({"say": "I cannot help with that.", "refuses": True}, Ending.EMPTY),
    "says nothing": ({"say": ""}, Ending.EMPTY),
}


OLDER = {"401", "usage limit", "429, an hour", "500", "cut stream", "cut off", "says nothing"}
"""One row of each kind, for the words by which a failed turn is classed."""


@pytest.mark.fault(24)
@pytest.mark.parametrize(("codex_program", "name"), rows(CODEX_VERSIONS, REFUSED, OLDER), indirect=["codex_program"])
async def test_a_failed_request_ends_the_run_with_its_word(codex: Desk, name: str) -> None:
    turn, ending = REFUSED[name]
    codex.script(turn)
    outcome = await codex.edit()
    assert outcome.ending is ending, outcome
    assert outcome.text
    assert TOKEN not in outcome.text
    assert outcome.answer is None
    assert outcome.log is not None
    assert outcome.log.parent == codex.logs
    assert list(codex.tree.iterdir()) == []


async def test_a_server_error_is_tried_again(codex: Desk) -> None:
    codex.script({**refused(500, times=2), "say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert [seen.answered for seen in codex.server.journal] == [500, 500, 200]


async def test_a_limit_that_asks_for_an_hour_is_not_waited_out(codex: Desk) -> None:
    codex.script(refused(429, retry_after=3600))
    assert (await codex.edit(limits=RunLimits(deadline_seconds=20))).ending is Ending.OVERLOADED
    assert [seen.answered for seen in codex.server.journal] == [429]


async def test_nobody_at_the_other_end_is_a_passing_failure(codex: Desk) -> None:
    codex.script({"say": "Done."})
    await codex.server.__aexit__(None, None, None)
    outcome = await codex.edit(limits=RunLimits(deadline_seconds=30))
    assert outcome.ending is Ending.TRANSIENT, outcome


@pytest.mark.fault(23)
@pytest.mark.parametrize("kind", ["silent", "stalled"])
async def test_a_silent_server_is_left_at_our_limit(codex: Desk, kind: str) -> None:
    codex.script(broken(kind))
    outcome = await codex.edit(limits=RunLimits(deadline_seconds=90, silence_seconds=4))
    assert outcome.ending is Ending.TIMED_OUT
    assert len(codex.server.journal) == 1


@pytest.mark.fault(23)
async def test_a_run_past_its_deadline_is_stopped_and_what_it_took_is_known(codex: Desk) -> None:
    codex.script(write("a.py", "x = 1"), shell("touch begun; sleep 600"))
    outcome = await codex.edit(limits=RunLimits(deadline_seconds=5), model="gpt-5.5")
    assert outcome.ending is Ending.TIMED_OUT
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (1400, 100)
    assert outcome.usage.cost_usd
    assert {path.name for path in codex.tree.iterdir()} == {"a.py", "begun"}


async def test_what_a_run_took_before_it_failed_is_known(codex: Desk) -> None:
    codex.script(write("a.py", "x = 1"), refused(401, message="expired"))
    outcome = await codex.edit(model="gpt-5.5")
    assert (outcome.ending, outcome.usage.output_tokens) == (Ending.AUTH, 50)
    assert outcome.usage.cost_usd == pytest.approx((700 * 5 + 300 * 0.5 + 50 * 30) / 1e6)


@pytest.mark.parametrize("text", ["approve", "[]", "", '{"verdict": '])
async def test_an_answer_that_is_no_object_is_malformed(codex: Desk, text: str) -> None:
    codex.script({"say": text})
    outcome = await codex.ask()
    assert (outcome.ending, outcome.answer, outcome.text) == (Ending.MALFORMED, None, text)
    assert len(codex.server.journal) == 1


async def test_more_than_it_reads_is_not_even_begun(codex: Desk) -> None:
    outcome = await codex.edit("x" * (2**20 + 1))
    assert outcome.ending is Ending.PERSISTENT
    assert "1,048,577 characters" in outcome.text
    assert codex.server.journal == []
    codex.script({"say": "Read."})
    assert (await codex.edit("ä" * 2**20)).ending is Ending.COMPLETED


async def test_a_pattern_that_it_cannot_protect_is_refused_and_not_dropped(codex: Desk) -> None:
    outcome = await codex.edit(protected=(".github/**", "**/*.lock"))
    assert (outcome.ending, codex.server.journal) == (Ending.PERSISTENT, [])
    assert "**/*.lock" in outcome.text
