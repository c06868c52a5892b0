"""Answers of commands: exit code and sentence for each end of an item, each error, and each refusal."""

from __future__ import annotations

import pytest

from console.orders import DECISIONS
from console.recover import recovered
from runtime.exit_codes import FAILED, MISCONFIGURED, NOT_ALLOWED, OK, LeftOff, complain
from runtime.launch import answer
from shared.commands.command import Verb
from shared.errors import EngineError, Gone, Invisible, Misconfigured, Transient, Unauthorized
from shared.scheduling.agent_contract import Ended, Rest, Result


@pytest.mark.parametrize(
    ("outcome", "code", "sentence"),
    [
        (Ended(Result.HANDED_OVER, "#57 waits for review"), OK, "handed over: #57 waits for review"),
        (Ended(Result.FINISHED, "#57 is merged"), OK, "finished: #57 is merged"),
        (Ended(Result.PARKED, "the plan waits"), OK, "parked: the plan waits"),
        (Ended(Result.WITHDRAWN, "it was closed"), OK, "withdrawn: it was closed"),
        (Ended(Result.FAILED, "no tests"), FAILED, "failed: no tests"),
        (Ended(Result.LOST, "another agent has it"), FAILED, "lost: another agent has it"),
        (Rest("ci"), OK, "waiting for ci"),
        (Rest("backoff", sentence="GitHub answers 502."), FAILED, "failed, to be tried again: GitHub answers 502."),
    ],
)
def test_each_outcome_has_its_code_and_sentence(outcome: Ended | Rest, code: int, sentence: str) -> None:
    assert answer(outcome) == (code, sentence)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LeftOff("Nothing was created.", 0), OK),
        (LeftOff("Cancelled: nothing was created.", 130), 130),
        (Misconfigured("no repository"), MISCONFIGURED),
        (Unauthorized("no token"), NOT_ALLOWED),
        (Invisible(), NOT_ALLOWED),
        (Gone("#7 was deleted"), NOT_ALLOWED),
        (Transient("502"), FAILED),
    ],
)
def test_each_error_has_its_code_and_is_said_in_one_line(
    error: EngineError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complain(error) == code
    assert capsys.readouterr().err == f"{error}\n"


@pytest.mark.parametrize("verb", sorted(DECISIONS))
def test_a_decision_is_sent_to_the_thread(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert recovered(verb, "a/b#7", None, {}) == MISCONFIGURED
    assert capsys.readouterr().err == (
        f"`{verb}` is decided in the thread, where people see who did it and on which text or commit: "
        f"comment `/{verb}` on a/b#7.\n"
    )


def test_what_is_no_command_at_all_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert recovered("approved", "a/b#7", None, {}) == MISCONFIGURED
    assert "'approved' is no action; there is start, " in capsys.readouterr().err
