"""The real Claude Code by a subscription's token, as `claude setup-token` gives it: without a key and the proxy."""

from __future__ import annotations

import pytest

from cli.claude_calls import bash, write
from cli.coding import SCHEMA, Desk
from cli.refusals import refused
from lab.model.script import Tokens
from shared.llm import coder
from shared.llm.backend import Program, Setup
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import Coder, CoderCall, Ending, RunLimits
from shared.loop.real_clock import RealClock

LOGIN = "sk-ant-oat01-c4n4ry-of-a-subscription-0123456789"


def signed_in(desk: Desk) -> Coder:
    """Return the backend as the daemon builds it for a login."""
    fixed = Fixed(Endpoint(desk.server.url, LOGIN, login=True))
    return coder("claude", Setup(RealClock(), program=Program(desk.executable.resolve(), desk.launcher(), fixed)))


async def test_it_works_by_a_login_alone(desk: Desk) -> None:
    desk.script(write("a.py", "x = 1\n"), bash("cat /proc/*/environ > seen; true"), {"say": "Done."})
    outcome = await signed_in(desk).run(desk.request(CoderCall.IMPLEMENT, "Do it."))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")
    assert {seen.headers.get("authorization") for seen in desk.server.journal} == {f"Bearer {LOGIN}"}
    assert not any("x-api-key" in seen.headers for seen in desk.server.journal)
    assert (desk.tree / "a.py").exists()
    assert LOGIN.encode() in (desk.tree / "seen").read_bytes(), "its tools can see the login, as it is said"


async def test_a_question_is_answered_by_a_login_too(desk: Desk) -> None:
    desk.script({"answer": {"verdict": "approve", "why": None}})
    outcome = await signed_in(desk).run(desk.request(CoderCall.REVIEW, "Review it.", schema=SCHEMA))
    assert (outcome.ending, outcome.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    assert {seen.token for seen in desk.server.journal} == {LOGIN}


async def test_its_own_limit_stops_a_run_at_its_budget(desk: Desk) -> None:
    desk.script({**bash("date >> seen"), "usage": Tokens(input=200_000, output=20_000).model_dump()})
    request = desk.request(CoderCall.IMPLEMENT, "Do it.", limits=RunLimits(budget_usd=0.5, deadline_seconds=90))
    outcome = await signed_in(desk).run(request)
    assert (outcome.ending, len(desk.server.journal)) == (Ending.MAX_BUDGET, 1)


@pytest.mark.fault(22)
async def test_a_login_that_is_refused_is_a_matter_of_signing_in(desk: Desk) -> None:
    desk.script(refused(401, message="OAuth token has expired"))
    outcome = await signed_in(desk).run(desk.request(CoderCall.IMPLEMENT, "Do it."))
    assert outcome.ending is Ending.AUTH, outcome
    assert LOGIN not in outcome.text
