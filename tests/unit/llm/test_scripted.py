"""The scripted backend edits for real, stays inside the tree and knows what it has given."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.clock import PassingClock

from shared.errors import Misconfigured
from shared.llm import BACKENDS, coder
from shared.llm.backend import Setup
from shared.llm.port import Coder, CoderCall, Ending, Request, RunLimits
from shared.llm.scenario import Scenario, Unscripted
from shared.llm.scripted import Scripted


def scripted(text: str, clock: PassingClock | None = None, used: Path | None = None) -> Scripted:
    return Scripted(Scenario.parse(text, "s.yml"), clock or PassingClock(), used)


def request(call: CoderCall = CoderCall.IMPLEMENT, tree: Path | None = None, **more: object) -> Request:
    return Request(call, "#42", "Add user search", "developer", "prompt", tree, **more)  # type: ignore[arg-type]


def files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*"))


EDITS = """
- call: implement
  text: done
  edits:
    - {path: src/new/a.py, content: "é = 1\\n"}
    - {path: b.py, replace: {old: "x = 1", new: "x = 1\\ny = 2"}}
    - {path: b.py, replace: {old: "z", new: "w"}}
    - {path: c.py, delete: true}
"""


async def test_edits_are_made_in_the_tree(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_bytes(b"x = 1\r\nz\xff\n")
    (tmp_path / "c.py").touch()
    outcome = await scripted(EDITS).run(request(tree=tmp_path))
    assert (outcome.ending, outcome.text, outcome.answer) == (Ending.COMPLETED, "done", None)
    assert (outcome.usage.cost_usd, outcome.usage.cost_source) == (0.0, "scripted")
    assert (tmp_path / "src/new/a.py").read_text("utf-8") == "é = 1\n"
    assert (tmp_path / "b.py").read_bytes() == b"x = 1\ny = 2\r\nw\xff\n"
    assert not (tmp_path / "c.py").exists()


async def test_a_restarted_agent_gets_the_same_answer_on_an_edited_tree(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("x = 1\nz\n")
    first = await scripted(EDITS).run(request(tree=tmp_path))
    after = (tmp_path / "b.py").read_text()
    assert await scripted(EDITS).run(request(tree=tmp_path)) == first
    assert (tmp_path / "b.py").read_text() == after


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "../x", "a/../../x", "a/../b", ".", "link/x", "link", "loop/x", '"a\\0b"', "dir", "file/x"]
)
async def test_nothing_is_written_outside_the_tree(tmp_path: Path, path: str) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    outside.mkdir()
    (tree / "dir").mkdir(parents=True)
    (tree / "file").touch()
    (tree / "link").symlink_to(outside)
    (tree / "loop").symlink_to("loop")
    before = files(tmp_path)
    scenario = f"- call: implement\n  edits: [{{path: ok.py, content: x}}, {{path: {path}, content: x}}]"
    with pytest.raises(Misconfigured, match=r"^s\.yml:2:38: "):
        await scripted(scenario).run(request(tree=tree))
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "no text 'a'"), ("b", "no text 'a'"), ("a a", "2 times the text 'a'")],
)
async def test_an_edit_that_does_not_fit_is_refused(tmp_path: Path, content: str | None, fault: str) -> None:
    if content is not None:
        (tmp_path / "f").write_text(content)
    with pytest.raises(Misconfigured, match=fault):
        await scripted("- {call: implement, edits: [{path: f, replace: {old: a, new: c}}]}").run(request(tree=tmp_path))


async def test_edits_need_a_tree() -> None:
    with pytest.raises(Misconfigured, match="no tree"):
        await scripted(EDITS).run(request())


async def test_a_reading_call_answers_json() -> None:
    coder = scripted("- {call: review, answer: {verdict: approved}}\n- {call: summarise, text: short}")
    review = await coder.run(request(CoderCall.REVIEW))
    assert review.answer == {"verdict": "approved"}
    assert review.text == '{"verdict": "approved"}'
    summary = await coder.run(request(CoderCall.SUMMARISE))
    assert (summary.text, summary.answer) == ("short", None)


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.COMPLETED])
async def test_every_failure_can_be_injected(tmp_path: Path, ending: Ending) -> None:
    coder = scripted(f"- {{call: implement, fails: {ending}}}")
    for _ in range(3):
        outcome = await coder.run(request(tree=tmp_path))
        assert (outcome.ending, outcome.text) == (ending, f"scripted: {ending}")
    assert files(tmp_path) == []


@pytest.mark.fault(21)
async def test_a_malformed_answer_keeps_what_was_said() -> None:
    outcome = await scripted("- {call: plan, fails: malformed, text: '```json {a: NaN'}").run(request(CoderCall.PLAN))
    assert (outcome.ending, outcome.text, outcome.answer) == (Ending.MALFORMED, "```json {a: NaN", None)


FAILS_TWICE = "- {call: implement, fails: transient, times: 2, edits: [{path: a, content: x}]}"


async def test_a_call_fails_as_often_as_planned_and_then_answers(tmp_path: Path) -> None:
    coder = scripted(FAILS_TWICE)
    endings = [(await coder.run(request(tree=tmp_path))).ending for _ in range(4)]
    assert endings == [Ending.TRANSIENT, Ending.TRANSIENT, Ending.COMPLETED, Ending.COMPLETED]
    assert (tmp_path / "a").read_text() == "x"


async def test_processes_share_what_was_given(tmp_path: Path) -> None:
    used, tree = tmp_path / "state/used", tmp_path / "tree"
    tree.mkdir()
    both = [scripted(FAILS_TWICE, used=used) for _ in range(2)]
    endings = [(await both[n % 2].run(request(tree=tree))).ending for n in range(3)]
    assert endings == [Ending.TRANSIENT, Ending.TRANSIENT, Ending.COMPLETED]
    assert [coder.unread() for coder in both] == [(), ()]
    assert scripted(FAILS_TWICE, used=used).unread() == ()
    assert len(files(used)) == 3
    assert scripted(FAILS_TWICE + "\n", used=used).unread() != (), "another version of the file starts anew"


async def test_what_was_never_given_is_told() -> None:
    coder = scripted("- {call: plan, text: a}\n- {call: plan, for: search, retry: any, text: b}")
    assert len(coder.unread()) == 2
    await coder.run(request(CoderCall.PLAN))
    assert coder.unread() == ("s.yml:1:3: plan (attempt 1, round 0, retry 0)",)


async def test_a_failure_alone_does_not_count_as_the_answer(tmp_path: Path) -> None:
    coder = scripted(FAILS_TWICE)
    await coder.run(request(tree=tmp_path))
    assert len(coder.unread()) == 1


async def test_time_passes_on_the_engines_clock(tmp_path: Path) -> None:
    clock = PassingClock()
    coder = scripted("- {call: implement, takes: 90, edits: [{path: a, content: x}]}", clock)
    short = request(tree=tmp_path, limits=RunLimits(deadline_seconds=60))
    assert (await coder.run(short)).ending is Ending.TIMED_OUT
    assert (clock.slept, files(tmp_path)) == ([60], [])
    assert (await coder.run(request(tree=tmp_path))).ending is Ending.COMPLETED
    assert (clock.slept, (tmp_path / "a").read_text()) == ([60, 90], "x")


async def test_an_unexpected_call_is_an_error() -> None:
    with pytest.raises(Unscripted, match="- call: plan"):
        await scripted("- {call: implement, text: x}").run(request(CoderCall.PLAN))


def test_the_registry_builds_the_scripted_backend(tmp_path: Path) -> None:
    (tmp_path / "s.yml").write_text("- {call: plan, text: x}")
    built: Coder = coder("scripted", Setup(PassingClock(), tmp_path / "s.yml"))
    assert built.name == "scripted"
    assert isinstance(built, Scripted)


@pytest.mark.parametrize("name", ["Claude", "gemini", "Scripted", ""])
def test_a_backend_that_does_not_exist_names_those_that_do(name: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        coder(name, Setup(PassingClock()))
    assert all(existing in str(caught.value) for existing in (repr(name), *BACKENDS))


def test_the_scripted_backend_needs_a_scenario() -> None:
    with pytest.raises(Misconfigured, match=r"llm\.scenario"):
        coder("scripted", Setup(PassingClock()))
