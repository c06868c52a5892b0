"""A secret does not leave in any form, and the text around it stays readable."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text import redact
from shared.text.redaction import REDACTED

SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=20, max_size=60)
FORMS: list[Callable[[str], str]] = [
    str,
    lambda secret: secret[::-1],
    lambda secret: secret.encode().hex(),
    lambda secret: secret.encode().hex().upper(),
    lambda secret: quote(secret, safe=""),
    lambda secret: json.dumps({"token": secret}),
    lambda secret: base64.b64encode(secret.encode()).decode(),
    lambda secret: base64.urlsafe_b64encode(b"x:" + secret.encode()).decode(),
    lambda secret: base64.b64encode(b"user:" + secret.encode() + b"\n").decode(),
    lambda secret: secret[7:],
    lambda secret: secret[:-3],
]


@settings(deadline=None)
@given(SECRETS, st.sampled_from(FORMS), st.text("é \n"), st.text("é \n"))
def test_a_secret_does_not_pass_in_any_form(secret: str, form: Callable[[str], str], before: str, after: str) -> None:
    told = form(secret)
    hidden = redact(before + told + after, [secret])
    assert REDACTED in hidden
    assert told[len(told) // 2 - 6 : len(told) // 2 + 6] not in hidden
    assert hidden.startswith(before)
    assert hidden.endswith(after)


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "Zs", "Po"], exclude_characters="@")), SECRETS)
def test_other_text_is_not_shredded(text: str, secret: str) -> None:
    if not any(secret[at : at + 12] in text or secret[::-1] in text for at in range(len(secret))):
        assert redact(text, [secret, "", "ab"]) == text


@pytest.mark.parametrize(
    "credential",
    [
        "ghp_" + "a1" * 18,
        "ghs_" + "B2" * 30,
        "github_pat_" + "a_1" * 25,
        "sk-ant-api03-" + "x-Y_" * 8,
        "sk-proj-" + "Zz9_" * 8,
        "sk-" + "q" * 40,
        "AKIA" + "ABCD2345" * 2,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\ncut off",
    ],
)
def test_what_looks_like_a_credential_goes_too(credential: str) -> None:
    assert redact(f"got '{credential}", []) == f"got '{REDACTED}"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("https://user:pa:ss@host/x", "https://***@host/x"),
        ("git clone https://x-access-token:abc@github.com/o/r", "git clone https://***@github.com/o/r"),
        ("https://host/@user", "https://host/@user"),
        ("ask-for-something-that-is-quite-long-but-no-key", "ask-for-something-that-is-quite-long-but-no-key"),
        ("the key hunter2 stands here", "the key *** stands here"),
    ],
)
def test_redaction_keeps_the_rest_readable(text: str, redacted: str) -> None:
    assert redact(text, ["hunter2\n"]) == redacted
