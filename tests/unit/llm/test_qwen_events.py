"""Events of a run of Qwen Code, folded into a verdict; the lines are those of real runs of 0.24.4, shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.llm.port import Ending, Usage
from shared.llm.qwen import Transcript, verdict

RUN = """
{"type":"system","subtype":"init","cwd":"/t","tools":["read_file","edit"],"model":"lab-model","qwen_code_version":"0.24.4"}
{"type":"stream_event","parent_tool_use_id":null,"event":{"type":"goal_state","goal_state":{"v":2,"goal":null}}}
{"type":"assistant","message":{"role":"assistant","model":"lab-model","content":[{"type":"text","text":"I write."}],"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"call_lab_0_0","name":"edit","input":{}}],"usage":{"input_tokens":1000,"output_tokens":50,"cache_read_input_tokens":300,"total_tokens":1050}}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","is_error":false,"content":"x"}]}}
"""  # noqa: E501 - as it was printed

USAGE = {"input_tokens": 3000, "output_tokens": 150, "cache_read_input_tokens": 900, "total_tokens": 3150}


def heard(*events: dict[str, Any]) -> Transcript:
    transcript = Transcript()
    for line in RUN.strip().splitlines():
        transcript.take(json.loads(line))
    for event in events:
        transcript.take(event)
    return transcript


def result(**changes: Any) -> dict[str, Any]:
    known = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 3, "result": "Done."}
    return {**known, "usage": USAGE, "permission_denials": [], **changes}


def failed(message: str) -> dict[str, Any]:
    return result(subtype="error_during_execution", is_error=True, error={"message": message})


def test_a_run_that_ends_well_says_what_it_did_and_took() -> None:
    transcript = heard(result())
    found = verdict(transcript, code=0, structured=False)
    assert found is not None
    assert (found.ending, found.text, found.answer, found.notes) == (Ending.COMPLETED, "Done.", None, ())
    assert transcript.usage_so_far == Usage(2100, 150, 900, model="lab-model")


def test_a_run_that_was_cut_off_has_used_what_its_answers_took() -> None:
    assert heard().usage_so_far == Usage(700, 50, 300, model="lab-model")
    assert verdict(heard(), code=1, structured=False) is None


def test_the_turns_that_are_used_up_stand_in_the_exit_code_alone() -> None:
    found = verdict(heard(), code=53, structured=False)
    assert found is not None
    assert (found.ending, found.text) == (Ending.MAX_TURNS, "I write.")


@pytest.mark.fault(24)
@pytest.mark.parametrize(
    ("message", "ending"),
    [
        ("[API Error: 401 Incorrect API key provided]", Ending.AUTH),
        ("[API Error: 403 no access]", Ending.AUTH),
        ("[API Error: 402 pay first]", Ending.BILLING),
        ("[API Error: 400 You exceeded your current quota, please check your plan]", Ending.BILLING),
        ("[API Error: 404 The model `x` does not exist]", Ending.CONFIG),
        ("[API Error: 400 too many]", Ending.PERSISTENT),
        ("[API Error: 400 This model's maximum context length is 1000 tokens.]", Ending.PERSISTENT),
        ("[API Error: 429 slow down]", Ending.OVERLOADED),
        ("[API Error: 500 scripted trouble]", Ending.TRANSIENT),
        ("[API Error: Connection error.]", Ending.TRANSIENT),
        ("[API Error: Model stream ended without a finish reason.]", Ending.TRANSIENT),
        ("[API Error: Model stream ended with empty response text.]", Ending.EMPTY),
        ("something new", Ending.UNKNOWN),
    ],
)
def test_a_failed_run_is_classed_by_its_words(message: str, ending: Ending) -> None:
    found = verdict(heard(failed(message)), code=1, structured=False)
    assert found is not None
    assert found.ending is ending
    assert "[" not in found.text


def test_an_answer_is_the_structured_one_or_malformed() -> None:
    found = verdict(heard(result(structured_result={"verdict": "approve"})), code=0, structured=True)
    assert found is not None
    assert (found.ending, found.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    plain = verdict(heard(result()), code=0, structured=True)
    assert plain is not None
    assert plain.ending is Ending.MALFORMED
    said = 'Model produced plain text instead of calling the structured_output tool as required by --json-schema: "x".'
    refused = verdict(heard(failed(said)), code=1, structured=True)
    assert refused is not None
    assert (refused.ending, refused.text) == (Ending.MALFORMED, "I write.")


def test_what_was_denied_is_noted_and_nothing_said_is_empty() -> None:
    found = verdict(heard(result(result=" ", permission_denials=[{"tool_name": "edit"}, 7])), code=0, structured=False)
    assert found is not None
    assert (found.ending, found.notes) == (Ending.EMPTY, ("denied tool calls: edit",))


@pytest.mark.parametrize("odd", [{}, {"type": "assistant", "message": {"content": 7, "usage": 7}}, {"type": 3}])
def test_odd_events_do_no_harm(odd: dict[str, Any]) -> None:
    assert heard(odd).usage_so_far == Usage(700, 50, 300, model="lab-model")
