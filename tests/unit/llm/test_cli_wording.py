"""Complaints of programs name the vendor, and never the proxy that we put in between."""

from __future__ import annotations

import pytest

from shared.llm.cli.coder import of_the_vendor

OURS = "http://127.0.0.1:47612/s/x"


@pytest.mark.parametrize(
    ("company", "said", "told"),
    [
        (
            "OpenAI",
            "unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:47612/s/x/v1/responses",
            "unexpected status 401 Unauthorized: bad key",
        ),
        ("OpenAI", "no answer (url: http://127.0.0.1:47612/v1/responses)", "no answer"),
        ("OpenAI", "cannot reach http://127.0.0.1:47612/v1/responses; gave up", "cannot reach OpenAI; gave up"),
        ("Anthropic", "This came from your inference gateway (127.0.0.1:47612)", "This came from Anthropic"),
        ("Anthropic", "Your inference gateway (http://127.0.0.1:47612/) says no", "Anthropic says no"),
        ("Anthropic", "connect ECONNREFUSED 127.0.0.1:47612", "connect ECONNREFUSED Anthropic"),
        ("Anthropic", "at 127.0.0.1:476123 and 127.0.0.1:80", "at 127.0.0.1:476123 and 127.0.0.1:80"),
    ],
)
def test_our_own_server_is_called_by_the_vendors_name(company: str, said: str, told: str) -> None:
    assert of_the_vendor(said, company, OURS) == told


def test_without_a_server_of_ours_nothing_is_changed() -> None:
    assert of_the_vendor("see http://127.0.0.1:47612/", "Anthropic", None) == "see http://127.0.0.1:47612/"
