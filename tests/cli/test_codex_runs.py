"""The real Codex does what it is asked: it edits, it runs tests, it answers by a schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.codex_calls import shell, write
from cli.coding import TOKEN, Desk
from shared.llm.codex import KEY
from shared.llm.port import Ending
from shared.sandbox.confinement import Isolation, Wrap

LISTEN = """python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print("bound")' > bound"""


async def test_it_edits_files_and_runs_tests(codex: Desk) -> None:
    codex.script(
        write("hello.py", "x = 1"), shell("python3 -c 'import hello; print(hello.x)' > seen"), {"say": "Done."}
    )
    outcome = await codex.edit(model="gpt-5.5")
    assert (outcome.ending, outcome.text, outcome.notes) == (Ending.COMPLETED, "Done.", ())
    assert (codex.tree / "seen").read_text() == "1\n"
    usage = outcome.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (2100, 900, 150)
    assert (usage.model, usage.cost_source) == ("gpt-5.5", "price list")
    assert usage.cost_usd == pytest.approx((2100 * 5 + 900 * 0.5 + 150 * 30) / 1e6)
    assert outcome.log is not None
    assert outcome.log.parent == codex.logs / "completed"


async def test_the_model_that_it_chooses_by_itself_has_a_price(codex: Desk) -> None:
    codex.script({"say": "Done."})
    usage = (await codex.edit()).usage
    assert (usage.model, usage.cost_source) == ("gpt-6.1-sol", "price list")
    assert usage.cost_usd == pytest.approx((700 * 2 + 300 * 0.1 + 50 * 10) / 1e6)


async def test_a_model_without_a_known_price_costs_nobody_knows_what(codex: Desk) -> None:
    codex.script({"say": "Done."})
    outcome = await codex.edit(model="lab-model-1")
    assert (outcome.ending, outcome.usage.model) == (Ending.COMPLETED, "lab-model-1")
    assert (outcome.usage.cost_usd, outcome.usage.cost_source) == (None, "unknown")
    assert outcome.usage.output_tokens == 50


async def test_the_prompt_may_be_long_and_nothing_of_the_call_stands_in_an_argument(codex: Desk) -> None:
    codex.script({"say": "Read."})
    assert (await codex.edit("word " * 60_000)).ending is Ending.COMPLETED
    (seen,) = codex.server.journal
    assert seen.token == TOKEN
    assert json.dumps(seen.body["input"]).count("word word") > 10_000


async def test_a_question_is_answered_by_its_schema_and_nothing_can_be_changed(codex: Desk) -> None:
    (codex.tree / "a.py").write_text("x = 1\n")
    codex.script(
        shell("echo 'x = 2' > a.py; touch b.py"), write("c.py", ""), {"answer": {"verdict": "approve", "why": None}}
    )
    outcome = await codex.ask()
    assert (outcome.ending, outcome.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    assert [path.name for path in codex.tree.iterdir()] == ["a.py"]
    assert (codex.tree / "a.py").read_text() == "x = 1\n"
    wanted = codex.server.journal[0].body["text"]["format"]
    assert (wanted["type"], wanted["strict"]) == ("json_schema", True)
    assert wanted["schema"]["required"] == ["verdict", "why"]
    assert wanted["schema"]["additionalProperties"] is False


async def test_a_question_without_files_sees_none(codex: Desk) -> None:
    (codex.tree / "secret.txt").write_text("x")
    codex.script(shell("ls"), {"answer": {"verdict": "reject", "why": "no"}})
    outcome = await codex.ask(tree=None)
    assert outcome.answer == {"verdict": "reject", "why": "no"}
    assert "secret.txt" not in json.dumps(codex.server.journal[-1].body["input"])


async def test_workflows_cannot_be_edited_unless_the_request_says_so(codex: Desk) -> None:
    codex.script(write(".github/ci.yml", "on: push"), shell("echo x > .github/ci.yml"), {"say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert list(codex.tree.iterdir()) == []
    assert (await codex.edit(protected=())).ending is Ending.COMPLETED
    assert (codex.tree / ".github" / "ci.yml").read_text() == "x\n"


async def test_it_writes_only_into_its_tree_and_not_into_its_history(codex: Desk, root: Path) -> None:
    outside = root / "outside"
    outside.mkdir()
    (codex.tree / ".git").mkdir()
    (codex.tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (codex.tree / ".codex").mkdir()
    codex.script(
        shell(f"touch {outside}/x ~/y .git/z .codex/z .agents/z; ls {root}/state > seen; touch here"),
        shell("touch $TMPDIR/a /tmp/b && touch tmp"),
        shell(LISTEN),
        {"say": "Done."},
    )
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert list(outside.iterdir()) == []
    assert [path.name for path in (codex.tree / ".git").iterdir()] == ["HEAD"]
    assert {path.name for path in codex.tree.iterdir()} == {".git", "here", "tmp", "seen", "bound"}
    assert (codex.tree / "seen").read_text() == "calls\n"
    assert (codex.tree / "bound").read_text() == "bound\n"


async def test_tools_do_not_see_the_token(codex: Desk) -> None:
    codex.script(shell("(env; cat /proc/*/environ) > seen 2>&1; ps aux > all 2>&1; true"), {"say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    seen, processes = ((codex.tree / name).read_text(errors="replace") for name in ("seen", "all"))
    assert "PATH=" in seen
    assert KEY not in seen
    assert TOKEN not in seen + processes
    assert TOKEN not in json.dumps(codex.server.journal[-1].body)


@pytest.mark.parametrize("kind", [Isolation.SANDBOX, Isolation.TREE_BY_UNSHARE, Isolation.TREE_BY_GROUP])
async def test_other_wrappers_leave_nothing_in_tmp_either(codex: Desk, kind: Isolation) -> None:
    codex.wrap = Wrap(kind)
    codex.script(write("a.py", ""), shell("touch b.py"), {"say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert {path.name for path in codex.tree.iterdir()} == {"a.py", "b.py"}
