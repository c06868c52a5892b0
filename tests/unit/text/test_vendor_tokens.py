"""Tokens by their vendors' forms: each is found among other text, and what only resembles one is left alone."""

from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.outgoing.credentials import KINDS, credentials, vendor_tokens
from shared.outgoing.outbound_filter import Outgoing
from shared.text.redaction import REDACTED


@pytest.mark.parametrize("kind", KINDS)
def test_each_form_is_found_wherever_it_stands(kind: str) -> None:
    form = KINDS[kind][0]

    @settings(deadline=None, max_examples=10, derandomize=True)
    @given(st.from_regex(re.compile(form, re.ASCII), fullmatch=True))
    def found(token: str) -> None:
        for text in (token, f'KEY = "{token}"\n', f"https://example.org/?key={token}&x=1"):
            assert kind in {name for name, _ in vendor_tokens(text)}, text

    found()


def _made(prefix: str, length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Return a made-up token; none is in this file as a whole, as programs that look for tokens would find it."""
    return prefix + "".join(random.Random(length).choices(alphabet, k=length))


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        (_made("gl" + "rt-", 20), "GitLab token"),
        (_made("hf" + "_", 34, string.ascii_letters), "Hugging Face token"),
        (_made("dop" + "_v1_", 64, "0123456789abcdef"), "DigitalOcean token"),
        (_made("shp" + "at_", 32, "0123456789abcdef"), "Shopify secret"),
        (_made("dckr" + "_pat_", 27), "Docker Hub token"),
        (_made("gsk" + "_", 52), "Groq key"),
        (_made("rk" + "_live_", 24), "Stripe key"),
        (_made("NRAK" + "-", 27, string.ascii_uppercase + string.digits), "New Relic key"),
    ],
)
def test_a_token_is_hidden_before_it_leaves(token: str, kind: str) -> None:
    text = f"export TOKEN={token}\n"
    assert kind in {one.kind for one in credentials(text)}
    hidden = Outgoing([]).text(text)
    assert token not in hidden
    assert REDACTED in hidden


@pytest.mark.parametrize(
    "text",
    [
        "gsk_ is how such a key begins",
        "patterns.of.names",
        "a_dop_v1_" + "0" * 64,
        "task-SK" + "f" * 31,
        "API-FIRST-DESIGN",
        "hf_hub_download(repo_id, filename)",
        "https://example.webhook.office.com/",
        "digest = sha256~short",
        "self.session.atlasv1.client",
    ],
)
def test_what_only_resembles_a_token_is_left_alone(text: str) -> None:
    assert list(vendor_tokens(text)) == []
