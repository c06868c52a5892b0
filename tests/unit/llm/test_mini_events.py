"""Events of a run of mini-swe-agent, folded into a verdict; the lines are those of real runs of 2.4.6, shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.llm.mini_events import Transcript, verdict
from shared.llm.port import Ending, Usage

RUN = """
{"type": "run", "version": "2.4.6", "model": "lab-model"}
{"type": "message", "role": "system", "content": "I"}
{"type": "message", "role": "user", "content": "T"}
{"type": "message", "role": "assistant", "content": "I write.", "tool_calls": [{"id": "call_lab_0_0", "type": "function", "function": {"name": "bash", "arguments": "{}"}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "prompt_tokens_details": {"cached_tokens": 300}}, "model": "lab-model"}
{"type": "message", "role": "tool", "content": "written\\n", "tool_call_id": "call_lab_0_0", "returncode": 0}
"""  # noqa: E501 - as it was printed

COUNTED = {"usage": {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 300}}}
UNFIT = {
    "type": "message",
    "role": "user",
    "content": "Your answer has to be given by the tool structured_output.",
    "interrupt_type": "FormatError",
    **COUNTED,
}


def ended(status: str, content: str = "", /, **facts: Any) -> dict[str, Any]:
    return {"type": "message", "role": "exit", "content": content, "exit_status": status, **facts}


def heard(*events: dict[str, Any], run: str = RUN) -> Transcript:
    transcript = Transcript()
    for line in run.strip().splitlines():
        transcript.take(json.loads(line))
    for event in events:
        transcript.take(event)
    return transcript


def test_a_run_that_ends_well_says_what_it_did_and_took() -> None:
    transcript = heard(ended("Submitted", "Done.", **COUNTED))
    found = verdict(transcript, structured=False)
    assert found is not None
    assert (found.ending, found.text, found.answer) == (Ending.COMPLETED, "Done.", None)
    assert transcript.usage == Usage(1400, 100, 600, model="lab-model")


def test_a_run_that_was_cut_off_has_no_verdict_and_has_used_what_its_answers_took() -> None:
    assert heard().usage == Usage(700, 50, 300, model="lab-model")
    assert verdict(heard(), structured=False) is None


def test_the_turns_that_are_used_up_are_told() -> None:
    found = verdict(heard(ended("LimitsExceeded", "LimitsExceeded")), structured=False)
    assert found is not None
    assert (found.ending, found.text) == (Ending.MAX_TURNS, "I write.")


@pytest.mark.fault(24)
@pytest.mark.parametrize(
    ("status", "message", "kind", "ending"),
    [
        (401, "Incorrect API key provided", "invalid_api_key", Ending.AUTH),
        (403, "no access", "", Ending.AUTH),
        (400, "This organization has been disabled.", "", Ending.AUTH),
        (400, "Invalid API key", "", Ending.AUTH),
        (402, "pay first", "", Ending.BILLING),
        (400, "scripted", "insufficient_quota", Ending.BILLING),
        (429, "You exceeded your current quota, please check your plan", "", Ending.BILLING),
        (400, "You have hit your usage limit", "", Ending.USAGE_LIMIT),
        (404, "no", "", Ending.CONFIG),
        (400, "The model `x` does not exist", "", Ending.CONFIG),
        (400, "too many", "invalid_request_error", Ending.PERSISTENT),
        (400, "maximum context length is 1000 tokens", "context_length_exceeded", Ending.PERSISTENT),
        (400, "no", "content_filter", Ending.REFUSED),
        (408, "slow", "", Ending.TRANSIENT),
        (429, "slow down", "rate_limit_exceeded", Ending.OVERLOADED),
        (500, "scripted trouble", "", Ending.TRANSIENT),
        (503, "scripted trouble", "", Ending.TRANSIENT),
        (529, "overloaded", "", Ending.OVERLOADED),
    ],
)
def test_a_refused_request_is_classed_by_its_words_and_its_status(
    status: int, message: str, kind: str, ending: Ending
) -> None:
    found = verdict(heard(ended("Refused", message, status=status, kind=kind)), structured=False)
    assert found is not None
    assert (found.ending, found.text) == (ending, f"{status} {message}")


def test_an_answer_that_is_none_is_a_passing_failure() -> None:
    found = verdict(heard(ended("Failed", "the answer of the model server is no chat completion")), structured=True)
    assert found is not None
    assert found.ending is Ending.TRANSIENT


def test_a_bug_of_the_program_is_named_and_not_classed() -> None:
    found = verdict(heard(ended("KeyError", "'choices'")), structured=False)
    assert found is not None
    assert (found.ending, found.text) == (Ending.UNKNOWN, "KeyError: 'choices'")


def test_an_answer_is_the_structured_one_or_malformed() -> None:
    given = ended("Submitted", '{"verdict": "approve"}', answer={"verdict": "approve"})
    found = verdict(heard(given), structured=True)
    assert found is not None
    assert (found.ending, found.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    for told in (ended("Submitted", "x"), ended("Submitted", "x", answer=["approve"])):
        plain = verdict(heard(told), structured=True)
        assert plain is not None
        assert (plain.ending, plain.answer, plain.text) == (Ending.MALFORMED, None, "I write.")


@pytest.mark.parametrize(
    ("said", "structured", "ending"),
    [("I approve.", True, Ending.MALFORMED), ("I wri", False, Ending.MALFORMED), ("", False, Ending.EMPTY)],
)
def test_what_is_said_without_a_tool_three_times_is_malformed_or_nothing(
    said: str, structured: bool, ending: Ending
) -> None:
    events = [{**UNFIT, "said": said}] * 3
    transcript = heard(*events, ended("RepeatedFormatError", "RepeatedFormatError"), run='{"type": "run"}')
    found = verdict(transcript, structured=structured)
    assert found is not None
    assert found.ending is ending
    assert found.text == (said or "it ended without saying anything")
    assert transcript.usage == Usage(2100, 150, 900)


def test_one_that_declines_is_heard() -> None:
    found = verdict(heard(ended("Declined", "I cannot.")), structured=True)
    assert found is not None
    assert (found.ending, found.text) == (Ending.REFUSED, "I cannot.")


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"type": "message"},
        {"type": "message", "role": 3, "content": 7, "usage": 7},
        {"type": "message", "role": "assistant", "content": None, "usage": {"prompt_tokens": -1}},
        {"type": "run", "model": 7},
        {"type": 3},
    ],
)
def test_odd_events_do_no_harm(odd: dict[str, Any]) -> None:
    transcript = heard(odd)
    assert (transcript.usage, transcript.text) == (Usage(700, 50, 300, model="lab-model"), "I write.")


@pytest.mark.parametrize("odd", [{"status": "401"}, {"status": None, "kind": 7}])
def test_a_failure_without_a_status_is_a_passing_one(odd: dict[str, Any]) -> None:
    found = verdict(heard(ended("Refused", "x", **odd)), structured=False)
    assert found is not None
    assert found.ending is Ending.TRANSIENT
