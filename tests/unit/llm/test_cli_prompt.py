"""The prompt as a program reads it: there is one, and it is not too long."""

from __future__ import annotations

import pytest

from shared.llm.cli.coder import Impossible, prompt_of
from shared.llm.port import CoderCall, Request


def request(prompt: str) -> Request:
    return Request(CoderCall.PLAN, "#7", "A story", "planner", prompt, None)


def test_what_has_the_most_bytes_passes_and_a_lone_surrogate_is_no_fault() -> None:
    assert prompt_of(request("aé"), "It", 3) == "aé".encode()
    assert prompt_of(request("a\ud800"), "It", 3) == b"a?"


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("", "The prompt is empty."),
        (" \n", "The prompt is empty."),
        ("aéb", "The prompt has 4 bytes; It reads at most 3."),
    ],
)
def test_what_it_cannot_take_is_said(prompt: str, why: str) -> None:
    with pytest.raises(Impossible) as raised:
        prompt_of(request(prompt), "It", 3)
    assert str(raised.value) == why
