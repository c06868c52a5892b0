"""A scenario file is read strictly, and the request alone decides which entry answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.demo.stories import STORIES, scenario
from shared.errors import Misconfigured
from shared.llm.port import CoderCall, Ending, Request
from shared.llm.scenario import Scenario, Unscripted, stub

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/backends.md"


def request(call: CoderCall = CoderCall.IMPLEMENT, title: str = "Add user search", **counters: int) -> Request:
    return Request(call, "#42", title, "developer", "prompt", **counters)  # type: ignore[arg-type]


def fault_of(text: str) -> str:
    with pytest.raises(Misconfigured) as caught:
        Scenario.parse(text, "s.yml")
    return str(caught.value)


def test_every_key_is_read() -> None:
    (first, second) = Scenario.parse(
        """
- call: implement
  for: Search
  attempt: 2
  round: any
  retry: 1
  takes: 1.5
  fails: transient
  times: 3
  text: done
  edits:
    - {path: a.py, content: "x\\n"}
    - {path: b.py, replace: {old: a, new: b}}
    - {path: c.py, delete: true}
- call: plan
  answer: {steps: [1, null], ok: true}
""",
        "s.yml",
    ).answers
    assert (first.call, first.part, first.attempt, first.round, first.retry) == (
        CoderCall.IMPLEMENT,
        "Search",
        2,
        None,
        1,
    )
    assert (first.takes_seconds, first.fails, first.times, first.text) == (1.5, Ending.TRANSIENT, 3, "done")
    assert [(e.path, e.content, e.replace) for e in first.edits] == [
        ("a.py", "x\n", None),
        ("b.py", None, ("a", "b")),
        ("c.py", None, None),
    ]
    assert first.where == "s.yml:2:3"
    assert (second.attempt, second.round, second.retry, second.answer) == (1, 0, 0, '{"steps": [1, null], "ok": true}')


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "s.yml: a scenario is a list of answers"),
        ("answers: []", "s.yml:1:1: a scenario is a list of answers"),
        ("- call: [", "s.yml:1:10: expected the node content"),
        ("- call: plan\n  answr: {}", "s.yml:2:3: unknown key `answr`; did you mean `answer`?"),
        ("- call: plan\n  answr: {}\n  text: 3", "did you mean `answer`?\ns.yml:3:9: here a text"),
        ("- call: plan\n  answer: {}\n  answer: {}", "s.yml:3:3: `answer` stands here twice"),
        ("- call: implment\n  text: x", "s.yml:1:9: `implment` is none of write_tests"),
        ("- call: implment\n  text: x", "did you mean `implement`?"),
        ("- text: x", "s.yml:1:3: `call` is missing"),
        ("- implement", "s.yml:1:3: here a mapping is expected"),
        ("- {call: plan, text: x, attempt: 0}", "s.yml:1:34: here a number from 1 is expected"),
        ("- {call: plan, text: x, retry: -1}", "here a number from 0 is expected"),
        ("- {call: plan, text: x, retry: true}", "here a number from 0 is expected"),
        ("- {call: plan, text: 3}", "here a text is expected; put it in quotes"),
        ("- {call: plan, text: 2024-01-01}", "here a text is expected; put it in quotes"),
        ("- {call: plan, takes: soon, text: x}", "here a number of seconds is expected"),
        ("- {call: plan, answer: [1]}", "`answer` is a JSON object"),
        ("- {call: plan, answer: {a: 2024-01-01}}", "`answer` is not JSON"),
        ("- {call: plan, answer: {a: .nan}}", "`answer` is not JSON"),
        ("- {call: plan, edits: []}", "plan only reads and has no `edits`"),
        ("- {call: refactor, answer: {}}", "refactor edits files and has no `answer`"),
        ("- {call: plan}", "nothing is answered"),
        ("- {call: plan, fails: completed}", "`fails` is an ending other than completed"),
        ("- {call: plan, fails: boom}", "`boom` is none of completed, max_turns"),
        ("- {call: plan, fails: killed, times: 2}", "`times` says how often"),
        ("- {call: plan, answer: {}, times: 2}", "`times` says how often"),
        ("- {call: refactor, edits: {}}", "`edits` is a list"),
        ("- {call: refactor, edits: [a.py]}", "here a mapping is expected, with keys such as path"),
        ("- {call: refactor, edits: [{path: a}]}", "an edit has a `path` and one of"),
        ("- {call: refactor, edits: [{path: a, content: x, delete: true}]}", "an edit has a `path` and one of"),
        ("- {call: refactor, edits: [{path: a, delete: false}]}", "`delete` is `true` or left out"),
        ("- {call: refactor, edits: [{path: a, replace: {old: x}}]}", "`replace` has `old` and `new`"),
        ("- {call: refactor, edits: [{path: a, replace: {old: '', new: y}}]}", "`old` is empty"),
        ("- &a {call: plan, answer: {x: *a}}", "recursive"),
        ("[" * 1000, "nested too deeply"),
        ("- call: \x07", "s.yml: unacceptable character"),
    ],
)
def test_a_fault_is_named_with_its_place(text: str, fault: str) -> None:
    assert fault in fault_of(text)


def test_all_faults_are_listed_at_once() -> None:
    faults = fault_of("- call: plan\n  answr: {}\n- call: x\n- {call: implement, attempt: no, edits: []}\n")
    places = [re.findall(r"^s\.yml:(\d+):\d+: ", line) for line in faults.split("\n")]
    assert places == [["2"], ["1"], ["3"], ["4"]]


@pytest.mark.parametrize("name", ["missing.yml", "latin.yml", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "latin.yml").write_bytes(b"- call: \xff")
    with pytest.raises(Misconfigured, match=re.escape(str(tmp_path / name))):
        Scenario.load(tmp_path / name)


ENTRIES = """
- {call: implement, text: first}
- {call: implement, attempt: any, text: any attempt}
- {call: implement, for: SEARCH, attempt: any, text: search}
- {call: implement, for: search, attempt: 2, text: search again}
- {call: implement, attempt: any, round: 1, retry: any, text: round one}
- {call: fix_ci, for: user, text: user}
- {call: fix_ci, for: search, text: search}
"""


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (request(title="Other"), "first"),
        (request(title="Other", attempt=3), "any attempt"),
        (request(), "search"),
        (request(attempt=2), "search again"),
        (request(title="Other", round=1, retry=7), "round one"),
        (request(CoderCall.FIX_CI, "User list"), "user"),
    ],
)
def test_the_narrowest_entry_answers(asked: Request, text: str) -> None:
    scenario = Scenario.parse(ENTRIES)
    assert scenario.answer_to(asked).text == text
    assert scenario.answer_to(asked) is scenario.answer_to(asked)


def test_two_entries_for_the_same_calls_are_refused_when_read() -> None:
    fault = fault_of("- {call: plan, for: A, text: x}\n- {call: plan, for: a, text: y}")
    assert fault == "s.yml:2:3: the answer at s.yml:1:3 is meant for the same calls."


def test_two_entries_that_fit_equally_well_are_refused_when_asked() -> None:
    with pytest.raises(Unscripted) as caught:
        Scenario.parse(ENTRIES, "s.yml").answer_to(request(CoderCall.FIX_CI))
    assert str(caught.value) == (
        "2 answers fit fix_ci for 'Add user search' equally well:\n"
        "  s.yml:7:3: fix_ci for 'user' (attempt 1, round 0, retry 0)\n"
        "  s.yml:8:3: fix_ci for 'search' (attempt 1, round 0, retry 0)"
    )


@pytest.mark.parametrize(
    "asked",
    [
        request(),
        request(CoderCall.PLAN, 'Say "hello": #1 \\ é', retry=2),
        request(CoderCall.FIX_CI, attempt=2, round=3),
        request(CoderCall.REVIEW, "x\ny"),
    ],
)
def test_an_unexpected_call_is_shown_as_an_entry_that_answers_it(asked: Request) -> None:
    with pytest.raises(Unscripted) as caught:
        Scenario.parse("- {call: refactor, text: x}", "s.yml").answer_to(asked)
    assert str(caught.value) == f"s.yml has no answer for this call; add for example:\n{stub(asked)}"
    assert Scenario.parse(stub(asked)).answer_to(asked).call is asked.call


def test_the_documented_and_the_demonstrated_scenarios_are_scenarios() -> None:
    (example,) = re.findall(r"```yaml\n# scenario\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert [answer.call for answer in Scenario.parse(example).answers] == [
        CoderCall.WRITE_TESTS,
        CoderCall.IMPLEMENT,
        CoderCall.REVIEW,
    ]
    assert Scenario.parse(scenario(STORIES)).answers


def test_the_document_lists_every_call_and_ending() -> None:
    text = DOCUMENT.read_text("utf-8").partition("## Scripted answers")[2]
    assert [word for word in (*CoderCall, *Ending) if f"`{word}`" not in text] == [Ending.COMPLETED]
