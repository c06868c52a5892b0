"""The real programs that speak chat completions do what they are asked, behind the proxy and in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.coding import Desk
from cli.compatible import KEY, MODEL, ProxiedDesk
from shared.llm.port import CoderCall, Ending, RunLimits
from shared.llm.prices import Price
from shared.sandbox.confinement import Isolation, Wrap

KINDS = [Isolation.SANDBOX, Isolation.TREE_BY_BUBBLEWRAP, Isolation.TREE_BY_UNSHARE]


@pytest.mark.parametrize("kind", KINDS)
async def test_it_edits_files_and_runs_tests_and_never_sees_the_key(proxied: ProxiedDesk, kind: Isolation) -> None:
    proxied.wrap = Wrap(kind)
    look = "python3 -c 'import hello; print(hello.x)' > seen; cat /proc/[0-9]*/environ > all; true"
    proxied.script(proxied.tools.write("hello.py", "x = 1\n"), proxied.tools.shell(look), {"say": "Done."})
    outcome = await proxied.edit()
    assert (outcome.ending, outcome.text, outcome.notes) == (Ending.COMPLETED, "Done.", ()), outcome
    assert (proxied.tree / "seen").read_text() == "1\n"
    assert KEY.encode() not in (proxied.tree / "all").read_bytes()
    assert {seen.token for seen in proxied.server.journal} == {KEY}
    usage = outcome.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (2100, 900, 150)
    assert (usage.model, usage.cost_source) == (MODEL, "proxy")
    assert usage.cost_usd == pytest.approx((2100 * 10 + 900 * 1 + 150 * 30) / 1e6)
    assert outcome.log is not None
    assert outcome.log.parent == proxied.logs / "completed"


async def test_the_prompt_may_be_long_and_is_taken_as_it_stands(proxied: ProxiedDesk) -> None:
    (proxied.tree / "secret.txt").write_text("c4n4ry")
    proxied.script({"say": "Read."})
    outcome = await proxied.edit("word " * 60_000 + "\n@secret.txt and @nobody\n/quit\n")
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Read."), outcome
    (seen,) = proxied.server.journal
    sent = json.dumps(seen.body["messages"])
    assert sent.count("word word") > 10_000
    assert "@nobody" in sent
    assert "/quit" in sent


async def test_a_question_is_answered_by_its_schema_and_nothing_can_be_changed(proxied: ProxiedDesk) -> None:
    (proxied.tree / "a.py").write_text("x = 1\n")
    tools = proxied.tools
    asked = tools.answer({"verdict": "approve", "why": None})
    proxied.script(tools.write("b.py", "x = 2\n"), tools.shell("echo 'x = 2' > a.py; touch c.py"), asked)
    outcome = await proxied.ask()
    assert (outcome.ending, outcome.answer) == (Ending.COMPLETED, {"verdict": "approve"}), outcome
    assert [path.name for path in proxied.tree.iterdir()] == ["a.py"]
    assert (proxied.tree / "a.py").read_text() == "x = 1\n"


async def test_a_question_without_files_sees_none(proxied: ProxiedDesk) -> None:
    (proxied.tree / "secret.txt").write_text("x")
    proxied.script(proxied.tools.shell("ls"), proxied.tools.answer({"verdict": "reject", "why": "no"}))
    outcome = await proxied.ask(tree=None)
    assert outcome.answer == {"verdict": "reject", "why": "no"}, outcome
    assert "secret.txt" not in json.dumps(proxied.server.journal[-1].body)


@pytest.mark.parametrize("text", ["I approve.", "[]", '{"verdict": '])
async def test_an_answer_that_is_no_object_is_malformed(proxied: ProxiedDesk, text: str) -> None:
    proxied.script({"say": text})
    outcome = await proxied.ask()
    assert (outcome.ending, outcome.answer) == (Ending.MALFORMED, None), outcome


async def test_workflows_cannot_be_edited_unless_the_request_says_so(proxied: ProxiedDesk) -> None:
    (proxied.tree / ".github").mkdir()
    proxied.script(proxied.tools.write(".github/ci.yml", "on: push\n"), {"say": "Done."})
    assert (await proxied.edit()).ending is Ending.COMPLETED
    written = list((proxied.tree / ".github").iterdir())
    assert bool(written) is not proxied.tools.guarded, "a shell is held by the sandbox and the patch policy alone"
    assert (".github/**" in json.dumps(proxied.server.journal[0].body)) is not proxied.tools.guarded
    assert (await proxied.edit(protected=())).ending is Ending.COMPLETED
    assert (proxied.tree / ".github" / "ci.yml").read_text() == "on: push\n"


async def test_it_writes_only_into_its_tree(proxied: ProxiedDesk, root: Path) -> None:
    outside = root / "outside"
    outside.mkdir()
    proxied.script(proxied.tools.shell(f"touch {outside}/x; ls {root}/state > seen; touch here"), {"say": "Done."})
    proxied.wrap = Wrap(Isolation.SANDBOX)
    assert (await proxied.edit()).ending is Ending.COMPLETED
    assert list(outside.iterdir()) == []
    assert {path.name for path in proxied.tree.iterdir()} == {"here", "seen"}


async def test_it_stops_when_its_turns_are_used_up(proxied: ProxiedDesk) -> None:
    proxied.script(proxied.tools.shell("echo once >> turns"))
    outcome = await proxied.edit(limits=RunLimits(max_turns=2, deadline_seconds=60, silence_seconds=40))
    assert outcome.ending is Ending.MAX_TURNS, outcome
    assert 2 <= len(proxied.server.journal) <= 3


async def test_it_is_stopped_within_one_request_of_its_budget(proxied: ProxiedDesk) -> None:
    proxied.price = Price(input=3000, output=0, cached=0, written=0)
    proxied.script(proxied.tools.shell("echo once >> turns"))
    limits = RunLimits(max_turns=30, budget_usd=3.0, deadline_seconds=60, silence_seconds=40)
    outcome = await proxied.edit(limits=limits)
    assert outcome.ending is Ending.MAX_BUDGET, outcome
    assert len(proxied.server.journal) == 2
    assert outcome.usage.cost_usd == pytest.approx(4.2)


async def test_a_call_without_any_model_is_not_begun(proxied: Desk) -> None:
    proxied.script({"say": "Done."})
    outcome = await Desk.coder(proxied).run(proxied.request(CoderCall.IMPLEMENT, "Do it."))
    assert outcome.ending is Ending.PERSISTENT
    assert f"llm.models.{proxied.backend}" in outcome.text
    assert proxied.server.journal == []
