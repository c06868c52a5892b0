"""The real programs go on with their own session of an earlier call: in another home, each paid for once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli import claude_calls, codex_calls
from cli.coding import Desk
from cli.metering import metered
from shared.llm.kept_sessions import Continuation, KeptSession, ResumeLimits, SessionStore, session_file
from shared.llm.port import Coder, CoderCall, Ending, RunOutcome
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Isolation, Wrap

CHANGED = "These files are not as you left them: hello.py."


class Visits:
    """Calls of one kind for one item, each of which may go on with the session of the one before."""

    def __init__(self, desk: Desk, *, tokens: int = 100_000) -> None:
        self.desk = desk
        self.store = SessionStore(desk.root / "state" / "sessions", RealClock(), ResumeLimits(300, tokens))
        self.file = session_file(self.store.root / "ada__directory" / "issue-1" / "worker-1", "implement")
        self.coder: Coder = desk.coder()

    async def call(self, prompt: str, **changes: Any) -> RunOutcome:
        """Run one call, which begins with the kept session and leaves its own."""
        continues = Continuation(self.store, self.file, "the text", self.store.read(self.file), CHANGED)
        request = self.desk.request(CoderCall.IMPLEMENT, prompt, **{"continues": continues, **changes})
        outcome = await self.coder.run(request)
        continues.leave("t1")
        return outcome

    @property
    def kept(self) -> KeptSession:
        """The session that the next call would continue."""
        kept = self.store.read(self.file)
        assert kept is not None
        return kept


def conversation(desk: Desk, number: int) -> str:
    """Return everything that the request of this number tells the model."""
    body: Mapping[str, Any] = desk.server.journal[number].body
    return json.dumps(body.get("messages") or body.get("input"))


def told(desk: Desk) -> tuple[bool, bool, bool, bool]:
    """Return whether the newest request holds the first prompt, the first answer, the change, and the second prompt."""
    text = conversation(desk, -1)
    return "Write it." in text, "All written." in text, CHANGED in text, "Once more." in text


async def test_claude_goes_on_where_it_was_and_is_charged_for_the_second_call_alone(desk: Desk) -> None:
    visits = Visits(desk)
    desk.script(claude_calls.write("hello.py", "x = 1\n"), {"say": "All written."}, {"say": "Better."})
    first = await visits.call("Write it.")
    assert (first.ending, first.resumed, first.usage.input_tokens) == (Ending.COMPLETED, None, 2000)
    assert visits.kept.found.tokens == 1550
    second = await visits.call("Once more.")
    assert (second.ending, second.text, second.resumed) == (Ending.COMPLETED, "Better.", 300)
    assert told(desk) == (True, True, True, True)
    assert (second.usage.input_tokens, second.usage.cached_tokens, second.usage.output_tokens) == (1000, 300, 50)
    assert second.usage.cost_usd == pytest.approx((first.usage.cost_usd or 0) / 2)
    third = await visits.call("And again.")
    assert (third.resumed, third.usage.input_tokens) == (300, 1000)
    assert third.usage.cost_usd == pytest.approx(second.usage.cost_usd)
    assert len(desk.server.journal) == 4


async def test_codex_goes_on_where_it_was_and_is_charged_for_the_second_call_alone(codex: Desk) -> None:
    visits = Visits(codex)
    codex.script(codex_calls.write("hello.py", "x = 1"), {"say": "All written."}, {"say": "Better."})
    first = await visits.call("Write it.", model="gpt-5.5")
    assert (first.ending, first.resumed, first.usage.input_tokens) == (Ending.COMPLETED, None, 1400)
    assert visits.kept.found.tokens == 1050
    second = await visits.call("Once more.", model="gpt-5.5")
    assert (second.ending, second.resumed) == (Ending.COMPLETED, 300)
    assert told(codex) == (True, True, True, True)
    assert (second.usage.input_tokens, second.usage.cached_tokens, second.usage.output_tokens) == (700, 300, 50)
    assert second.usage.cost_usd == pytest.approx((first.usage.cost_usd or 0) / 2)
    third = await visits.call("And again.", model="gpt-5.5")
    assert (third.resumed, third.usage.input_tokens) == (300, 700)
    assert len(codex.server.journal) == 4


async def test_claude_begins_anew_once_where_its_session_is_no_session_any_more(desk: Desk) -> None:
    await _begins_anew(desk)


async def test_codex_begins_anew_once_where_its_session_is_no_session_any_more(codex: Desk) -> None:
    await _begins_anew(codex)


async def _begins_anew(desk: Desk) -> None:
    """Show that a session of another format costs nothing and fails nothing; the next call continues the new one."""
    visits = Visits(desk)
    desk.script({"say": "All written."})
    first = await visits.call("Write it.")
    kept = visits.kept
    visits.store.write(visits.file, replace(kept, found=replace(kept.found, content=b"another format\n")))
    second = await visits.call("Once more.")
    assert (second.ending, second.resumed) == (Ending.COMPLETED, None)
    assert second.usage == first.usage
    assert told(desk) == (False, False, False, True)
    assert visits.kept.found.id != kept.found.id
    assert (await visits.call("And again.")).resumed == 300
    assert len(desk.server.journal) == 3


async def test_claude_begins_anew_where_the_vendor_does_not_take_its_session(desk: Desk) -> None:
    await _refused_by_the_vendor(desk)


async def test_codex_begins_anew_where_the_vendor_does_not_take_its_session(codex: Desk) -> None:
    await _refused_by_the_vendor(codex)


async def _refused_by_the_vendor(desk: Desk) -> None:
    visits = Visits(desk)
    desk.script({"say": "All written."})
    first = await visits.call("Write it.")
    refused = {"kind": "status", "status": 400, "type": "invalid_request_error", "message": "no such reasoning item"}
    desk.script({"say": "All written."}, {"say": "Better.", "trouble": refused})
    second = await visits.call("Once more.")
    assert (second.ending, second.text, second.resumed) == (Ending.COMPLETED, "All written.", None)
    assert second.usage == first.usage
    assert told(desk) == (False, False, False, True)


@pytest.mark.parametrize("change", [{"model": "opus"}, {"protected": ()}])
async def test_a_call_that_is_made_in_another_way_begins_anew(desk: Desk, change: dict[str, Any]) -> None:
    visits = Visits(desk)
    desk.script({"say": "All written."})
    await visits.call("Write it.")
    assert (await visits.call("Once more.", **change)).resumed is None
    assert told(desk) == (False, False, False, True)
    assert (await visits.call("And again.")).resumed is None, "what the other call left is of its own kind"


async def test_a_call_in_another_sandbox_begins_anew(desk: Desk) -> None:
    desk.script({"say": "All written."})
    await Visits(desk).call("Write it.")
    desk.wrap = Wrap(Isolation.TREE_BY_UNSHARE)
    assert (await Visits(desk).call("Once more.")).resumed is None


@pytest.mark.parametrize("wrap", [Wrap(Isolation.SANDBOX)], ids=["no network"])
async def test_claude_s_further_calls_are_metered_and_stopped_one_by_one(desk: Desk) -> None:
    await _metered_one_by_one(desk, claude_calls.bash("echo once >> turns"))


@pytest.mark.parametrize("wrap", [Wrap(Isolation.SANDBOX)], ids=["no network"])
async def test_codex_s_further_calls_are_metered_and_stopped_one_by_one(codex: Desk) -> None:
    await _metered_one_by_one(codex, codex_calls.shell("echo once >> turns"))


async def _metered_one_by_one(desk: Desk, tool: dict[str, Any]) -> None:
    """Show that each call has its own budget at $3 a request: the first makes two, the second is stopped within one."""
    visits = Visits(desk)
    visits.coder, proxy = metered(desk)
    desk.script(tool, {"say": "All written."})
    first = await visits.call("Write it.", run="r1")
    assert (first.ending, first.usage.cost_usd) == (Ending.COMPLETED, 6.0)
    desk.script(tool)
    second = await visits.call("Once more.", run="r2", limits=replace(desk.limits, budget_usd=5.0))
    assert (second.ending, second.usage.cost_usd, second.resumed) == (Ending.MAX_BUDGET, 6.0, 300)
    assert told(desk) == (True, True, True, True)
    measured = proxy.measurement("r2")
    assert (measured.requests, measured.refused, measured.usage.cost_usd) == (2, True, 6.0)
    assert visits.store.read(visits.file) is None, "it did not end well"


async def test_a_session_that_is_too_long_is_not_gone_on_with(codex: Desk) -> None:
    visits = Visits(codex, tokens=1000)
    codex.script({"say": "All written."})
    await visits.call("Write it.")
    assert visits.kept.found.tokens == 1050
    assert (await visits.call("Once more.")).resumed is None


async def test_what_is_kept_lies_where_no_call_sees_it(desk: Desk, root: Path) -> None:
    visits = Visits(desk)
    desk.script(
        claude_calls.bash(f"cat {visits.store.root}/*/*/*/* > seen 2>&1; ls ~/.claude/projects > homes"), {"say": "."}
    )
    await visits.call("Write it.")
    await visits.call("Once more.")
    assert "No such file" in (desk.tree / "seen").read_text()
    assert visits.file.stat().st_mode & 0o777 == 0o600
    assert visits.store.root.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in (root / "state").iterdir()) == ["calls", "logs", "sessions"]
