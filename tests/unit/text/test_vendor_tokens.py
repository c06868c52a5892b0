"""Tokens by their vendors' forms: each is found among other text, and what only resembles one is left alone."""

from __future__ import annotations

import json
import random
import re
import string
from base64 import b64encode

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
        (_made("ghs" + "_2468_eyJ", 90) + "." + _made("", 200) + "." + _made("_-", 60), "GitHub token"),
        (_made("cf" + "ut_", 40) + _made("", 8, "0123456789abcdef"), "Cloudflare token"),
        (_made("lsv2" + "_pt_", 32, "0123456789abcdef") + _made("_", 10, "0123456789abcdef"), "LangSmith key"),
        (_made("https://discord" + ".com/api/webhooks/13579135791357913/", 68), "Discord webhook"),
        (_made("aws_secret" + "_access_key = ", 40), "AWS secret key"),
    ],
)
def test_a_token_is_hidden_before_it_leaves(token: str, kind: str) -> None:
    text = f"export TOKEN={token}\n"
    assert kind in {one.kind for one in credentials(text)}
    hidden = Outgoing([]).text(text)
    assert token not in hidden
    assert REDACTED in hidden


_LINES = [_made("", 64 - at) + _made("", at) for at in range(20)]
_KEY = "\n".join(["-----BEGIN " + "PRIVATE KEY-----", *_LINES, "-----END " + "PRIVATE KEY-----", ""])


@pytest.mark.parametrize(
    "text",
    [
        _KEY,
        json.dumps({"type": "service_account", "private_key": _KEY}),
        "KEY='" + _KEY.replace("\n", "\\r\\n") + "'",
        _KEY.replace("\n", ""),
        "".join(f'    "{line}\\n"\n' for line in _KEY.split("\n")),
        _KEY.replace(
            "PRIVATE KEY-----\n", "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1
        ),
        _KEY.replace("PRIVATE KEY-----", "PGP PRIVATE KEY BLOCK-----").replace(
            "KEY BLOCK-----\n", "KEY BLOCK-----\n\n", 1
        ),
        "client-key-data: " + b64encode(_KEY.encode()).decode(),
        "client-key-data: " + b64encode(_KEY.replace("PRIVATE", "RSA PRIVATE").encode()).decode(),
        "Private-" + f"Lines: 1\n{_LINES[0]}\nPrivate-MAC: 0a1b",
    ],
)
def test_a_private_key_is_found_however_its_lines_end(text: str) -> None:
    assert "private key" in (Outgoing().leak(text) or "").casefold()
    assert _LINES[0] not in Outgoing().hide(text)


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
        "resource_ids_for_all_of_the_accounts",
        "const sig=" + "a" * 20,
        "https://discord.com/api/webhooks/ID/TOKEN",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" + "A1b2" * 40,
        "bkgd_color = skip_this_one",
    ],
)
def test_what_only_resembles_a_token_is_left_alone(text: str) -> None:
    assert list(vendor_tokens(text)) == []
