"""The gate for text that leaves: no secret in any form, nobody mentioned, nothing closed, nothing posing as ours."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.git.notes import CommitKind, Note, read, write
from shared.outgoing.credentials import credentials
from shared.outgoing.outbound_filter import BODY_LIMIT, LEARNED, TITLE_LIMIT, Outgoing
from shared.text import JOINER
from shared.text.comment_signatures import CommentSignatures, Key, Keyring, render
from shared.text.redaction import REDACTED, holds, redact

SECRET = "zq7Kp+Vt/3mXw9LrB2yN8dHc5J0aGfE6"  # of no vendor's form
GATE = Outgoing([SECRET])


def cut(text: str, every: int, glue: str) -> str:
    return glue.join(text[at : at + every] for at in range(0, len(text), every))


DISGUISES: dict[str, Callable[[str], str]] = {
    "lines of 10": lambda s: cut(s, 10, "\n"),
    "lines of a diff": lambda s: cut(s, 9, "\n+    "),
    "joined strings": lambda s: cut(s, 8, '" + "'),
    "adjacent strings": lambda s: cut(s, 8, "'\n        '"),
    "a list": lambda s: cut(s, 6, '", "'),
    "invisible characters": lambda s: cut(s, 5, "\u200b"),
    "single characters": lambda s: cut(s, 1, " "),
    "base64 in lines": lambda s: cut(base64.b64encode(s.encode()).decode(), 11, "\n"),
    "base64 at offset 1": lambda s: base64.b64encode(b"x" + s.encode()).decode(),
    "base64 at offset 2": lambda s: base64.urlsafe_b64encode(b"xy" + s.encode()).decode(),
    "base32": lambda s: base64.b32encode(b"abc" + s.encode()).decode(),
    "hex dump": lambda s: s.encode().hex(" "),
    "hex escapes": lambda s: "".join(f"\\x{byte:02X}" for byte in s.encode()),
    "a list of bytes": lambda s: ", ".join(f"0x{byte:02x}" for byte in s.encode()),
    "unicode escapes": lambda s: "".join(f"\\u{byte:04x}" for byte in s.encode()),
    "percent escapes": lambda s: "".join(f"%{byte:02x}" for byte in s.encode()),
    "reversed, in lines": lambda s: cut(s[::-1], 7, "\n"),
    "all but its end": lambda s: cut(s[:-4], 13, "\n"),
    "characters without a look": lambda s: cut(s, 1, "\ufe0f\u202e\u034f\U000e0041"),
    "a list in Markdown": lambda s: cut(s, 1, "\n- "),
    "a table": lambda s: cut(s, 1, " | "),
    "comments of code": lambda s: cut(s, 8, "\n// "),
    "a quotation": lambda s: cut(s, 8, "\n> "),
    "dots": lambda s: cut(s, 1, "."),
    "other letter case": str.swapcase,
    "letters that look alike": lambda s: "".join(chr(ord(one) + 0xFEE0) for one in s),
    "base64 twice": lambda s: base64.b64encode(base64.b64encode(s.encode())).decode(),
    "base64, reversed before": lambda s: base64.b64encode(s[::-1].encode()).decode(),
    "base32 in lower case": lambda s: base64.b32encode(s.encode()).decode().lower(),
    "hex, reversed before": lambda s: s[::-1].encode().hex(),
    "numbers": lambda s: ", ".join(str(ord(one)) for one in s),
    "entities of HTML": lambda s: "".join(f"&#{ord(one)};" for one in s),
    "octal escapes": lambda s: "".join(f"\\{ord(one):03o}" for one in s),
    "bits": lambda s: " ".join(f"{ord(one):08b}" for one in s),
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_no_disguise_passes(disguise: str) -> None:
    told = DISGUISES[disguise](SECRET)
    text = f"The value is {told} as you see."
    hidden = GATE.text(text)
    assert REDACTED in hidden
    assert hidden.startswith("The value is ")
    assert hidden.endswith(" as you see.")
    assert len(hidden) < 40
    assert holds(text, [SECRET])
    assert not holds(hidden, [SECRET])
    assert redact(text, []) == text  # only the value itself gives it away


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300))
def test_other_text_passes_unchanged_but_for_what_would_act(text: str) -> None:
    hidden = GATE.text(text)
    assert hidden.replace(JOINER, "") == text.replace(JOINER, "") or REDACTED in hidden
    assert GATE.text(hidden) == hidden


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("GitHub token", "ghp_" + "a1B2c3" * 6),
        ("GitHub fine-grained token", "github_pat_" + "a1_B" * 20),
        ("Anthropic key", "sk-ant-api03-" + "x9-Y_z" * 6),
        ("OpenAI key", "sk-proj-" + "Zz91_" * 8),
        ("AWS access key", "AKIA" + "QWER4567" * 2),
        ("JSON Web Token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ6cTdLcCJ9.c2lnbmF0dXJl"),
        ("Slack token", "xoxb-2345678901-abcDEFghiJKL"),
        ("Slack Token", "https://hooks.slack.com/services/T0AB/B0CD/zq7KpVt3mXw9LrB2"),
        ("Google key", "AIza" + "Sy9Kd" * 7),
        ("Stripe Access Key", "sk_live_" + "a1B2c3D4" * 3),
        ("GitLab Token", "glpat-" + "a1B2c3D4e5" * 2),
        ("SendGrid API Key", "SG." + "a1B2c3D4e5F" * 2 + "." + "q" + "a1B2c3" * 7),
        ("PyPI Token", "pypi-AgEIcHlwaS5vcmc" + "a1B2c3D4e5" * 8),
        ("private key", "-----BEGIN EC PRIVATE KEY-----\n" + "MHcCAQEEIIrY9" * 6 + "\n-----END EC PRIVATE KEY-----"),
    ],
)
def test_what_looks_like_a_credential_is_named_and_goes(kind: str, value: str) -> None:
    text = f"token = '{value}'\n"
    assert kind in {found.kind for found in credentials(text)}
    said = Outgoing().leak(text)
    assert said is not None
    assert said.startswith("what looks like a credential")
    assert value not in said
    assert value not in Outgoing().hide(text)


@pytest.mark.parametrize(
    "text",
    [
        "aws_access_key_id = 'AKIAIOSFODNN7EXAMPLE'",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        'if "-----BEGIN RSA PRIVATE KEY-----" not in text: raise ValueError',
        "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "class APCalculator: password = get_password(user)  # https://user:secret@db.example.org",
        "tests/test_search.py::TestNormalisationOfNames::test_finds_users_by_lower_case_name",
    ],
)
def test_ordinary_code_is_no_credential(text: str) -> None:
    assert Outgoing([SECRET]).leak(text) is None


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("Ask @ada", f"Ask @{JOINER}ada"),
        ("Ask _@ada_, 请@ada or &#64;ada", f"Ask _@{JOINER}ada_, 请@{JOINER}ada or &#64;{JOINER}ada"),
        ("This _fixes #5_", f"This _f{JOINER}ixes #5_"),
        ("`@ada` and ada@example.org", "`@ada` and ada@example.org"),
        ("```\n@pytest.fixture\n```", "```\n@pytest.fixture\n```"),
        ("Closes #4\n\nThis fixes #5", f"Closes #4\n\nThis f{JOINER}ixes #5"),
        ("Closes #4 and more", f"C{JOINER}loses #4 and more"),
        ("So: resolves https://github.com/a/b/issues/1", f"So: r{JOINER}esolves https://github.com/a/b/issues/1"),
        ("Nothing here", "Nothing here"),
    ],
)
def test_nobody_is_mentioned_and_nothing_closed(text: str, sent: str) -> None:
    assert GATE.text(text) == sent
    assert GATE.text(sent) == sent


def test_a_title_closes_nothing_at_all_and_skips_no_checks() -> None:
    assert GATE.title("Closes #4") == f"C{JOINER}loses #4"
    assert GATE.title("Tell of `[skip ci]`") == f"Tell of `[{JOINER}skip ci]`"


def test_a_write_is_searched_to_its_last_value() -> None:
    wish: dict[str, Any] = {
        "title": f"Fix {SECRET} for @ada",
        "body": f"See {SECRET}",
        "labels": ["ready", SECRET],
        "comments": [{"path": "a.py", "line": 3, "body": f"is {SECRET}, @ada"}],
        "sha": "a" * 40,
        "draft": False,
        "odd": {"deep": (SECRET, None, 1.5)},
    }
    sent = GATE.payload(wish)
    assert sent == {
        "title": f"Fix *** for @{JOINER}ada",
        "body": "See ***",
        "labels": ["ready", "***"],
        "comments": [{"path": "a.py", "line": 3, "body": f"is ***, @{JOINER}ada"}],
        "sha": "a" * 40,
        "draft": False,
        "odd": {"deep": ["***", None, 1.5]},
    }
    assert SECRET in wish["title"]  # what was given stays as it was


@pytest.mark.parametrize("start", ["", "\n ", "  "])
def test_only_a_lock_writes_an_ack(start: str) -> None:
    body: Any = {"body": f"{start}ACK:worker:w-1:0000000000001\n<!-- ack/2 ... -->"}
    assert GATE.payload(body, ack=True) == body
    assert GATE.payload(body)["body"].startswith(f"{start}ACK{JOINER}:")


def test_text_that_is_too_long_is_cut_and_says_so() -> None:
    sent = GATE.payload({"body": "x" * (BODY_LIMIT + 10), "title": "y" * 300})
    assert len(sent["body"]) <= BODY_LIMIT
    assert "more characters are left out" in sent["body"]
    assert len(sent["title"]) == TITLE_LIMIT
    assert GATE.payload({"body": "x" * BODY_LIMIT}) == {"body": "x" * BODY_LIMIT}


def test_a_token_that_comes_up_later_is_a_secret_too() -> None:
    gate = Outgoing()
    assert gate.hide(SECRET) == SECRET
    for number in range(LEARNED - 1):
        gate.learn(f"{number:020d}")
    gate.learn(SECRET)
    gate.learn(SECRET)
    assert gate.hide(SECRET) == REDACTED


def test_what_is_signed_was_cleaned_before_and_stays_valid_on_its_way() -> None:
    keys = Keyring(7, (Key.of(b"k" * 32),), outgoing=GATE)
    body = keys.sign("status", 3, f"{render('engine-status', {'n': '3'})}\nIt said {SECRET} to @ada")
    assert SECRET not in body
    sent = GATE.payload({"body": body})["body"]
    assert keys.verify("status", 3, sent) is CommentSignatures.VALID


def test_a_note_has_no_secret_and_is_still_ours() -> None:
    keys = Keyring(7, (Key.of(b"k" * 32),), outgoing=GATE)
    note = Note(
        issue=3, cycle=1, phase=CommitKind.RED, next_phase="green", base="b" * 40, red={"t@x": f"failed: {SECRET}"}
    )
    text = write(note, keys)
    assert not holds(text, [SECRET])
    found = read(text, keys)
    assert found is not None
    assert found.red == {"t@x": "failed: ***"}
