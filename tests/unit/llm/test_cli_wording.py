"""Complaints of programs name the vendor, and never the proxy that we put in between."""

from __future__ import annotations

import pytest

from shared.llm.cli.error_wording import of_the_vendor

OURS = "http://127.0.0.1:47612/s/x"


@pytest.mark.parametrize(
    ("backend", "said", "told"),
    [
        (
            "codex",
            "unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:47612/s/x/v1/responses",
            "unexpected status 401 Unauthorized: bad key",
        ),
        ("codex", "no answer (url: http://127.0.0.1:47612/v1/responses)", "no answer"),
        ("codex", "cannot reach http://127.0.0.1:47612/v1/responses; gave up", "cannot reach OpenAI; gave up"),
        ("claude", "This came from your inference gateway (127.0.0.1:47612)", "This came from Anthropic"),
        ("claude", "Your inference gateway (http://127.0.0.1:47612/) says no", "Anthropic says no"),
        ("claude", "connect ECONNREFUSED 127.0.0.1:47612", "connect ECONNREFUSED Anthropic"),
        ("claude", "at 127.0.0.1:476123 and 127.0.0.1:80", "at 127.0.0.1:476123 and 127.0.0.1:80"),
    ],
)
def test_our_own_server_is_called_by_the_vendors_name(backend: str, said: str, told: str) -> None:
    assert of_the_vendor(said, backend, OURS) == told


def test_without_a_server_of_ours_nothing_is_changed() -> None:
    assert of_the_vendor("see http://127.0.0.1:47612/", "claude", None) == "see http://127.0.0.1:47612/"
