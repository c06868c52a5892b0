"""Marks: what `sign` returned is ours, everything else is not, and no text makes the reader raise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text.comment_signatures import UNSIGNED, CommentSignatures, Key, Keyring, Mark, find, render

STEADY = settings(deadline=None, max_examples=50)

OLD, NEW, OTHER = Key.of(b"o" * 32), Key.of(b"n" * 32), Key.of(b"x" * 32)
KEYS = Keyring(99, (NEW,))
NO_KEYS = Keyring(99)
BODY = f"{render('engine-status', {'kind': 'worker', 'n': '42'})}\nWaiting for CI.\n"

texts = st.text(max_size=60)


@pytest.mark.parametrize("keys", [KEYS, NO_KEYS, Keyring(99, (OLD, NEW))])
@STEADY
@given(before=texts.filter(lambda text: find(text) is None), after=texts)
def test_what_was_signed_is_ours(keys: Keyring, before: str, after: str) -> None:
    signed = keys.sign("status:worker", 42, f"{before}\n{BODY}{after}")
    assert keys.verify("status:worker", 42, signed) is CommentSignatures.VALID


@pytest.mark.parametrize(
    ("purpose", "repository", "number"),
    [("status:planner", 99, 42), ("status:worker", 98, 42), ("status:worker", 99, 41)],
)
def test_a_signature_holds_for_one_purpose_repository_and_number(purpose: str, repository: int, number: int) -> None:
    signed = KEYS.sign("status:worker", 42, BODY)
    assert Keyring(repository, KEYS.keys).verify(purpose, number, signed) is CommentSignatures.INVALID


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Waiting", "waiting"),
        ("kind=worker", "kind=planner"),
        ("CI.", "CI.\n\nAnd more."),
        (f"mac={NEW.id}.", f"mac={NEW.id}.0"),
        (" mac=", " x=1 mac="),
    ],
)
def test_an_edit_anywhere_voids_the_signature(old: str, new: str) -> None:
    signed = KEYS.sign("status:worker", 42, BODY)
    assert old in signed
    assert KEYS.verify("status:worker", 42, signed.replace(old, new)) is CommentSignatures.INVALID


def test_line_ends_and_trailing_space_do_not_count() -> None:
    signed = KEYS.sign("status:worker", 42, BODY)
    rewritten = "\r\n" + signed.replace("\n", "  \r\n") + "\r\n\r\n"
    assert KEYS.verify("status:worker", 42, rewritten) is CommentSignatures.VALID


def test_rotation_signs_with_the_first_key_and_reads_all() -> None:
    both = Keyring(99, (NEW, OLD))
    assert both.verify("p", 1, Keyring(99, (OLD,)).sign("p", 1, BODY)) is CommentSignatures.VALID
    assert f" mac={NEW.id}." in both.sign("p", 1, BODY)


@pytest.mark.parametrize(
    ("keys", "mac", "verdict"),
    [
        (KEYS, f"{OTHER.id}.{'0' * 32}", CommentSignatures.UNKNOWN_KEY),
        (KEYS, f"{NEW.id}.{'0' * 32}", CommentSignatures.INVALID),
        (KEYS, UNSIGNED, CommentSignatures.INVALID),
        (KEYS, "", CommentSignatures.INVALID),
        (NO_KEYS, f"{OTHER.id}.{'0' * 32}", CommentSignatures.UNKNOWN_KEY),
        (NO_KEYS, "guess", CommentSignatures.INVALID),
        (NO_KEYS, "", CommentSignatures.INVALID),
        (NO_KEYS, UNSIGNED, CommentSignatures.VALID),
    ],
)
def test_what_a_mac_says(keys: Keyring, mac: str, verdict: CommentSignatures) -> None:
    assert keys.verify("p", 1, BODY.replace("mac=", f"mac={mac}")) is verdict


def test_without_a_marker_nothing_is_ours() -> None:
    assert KEYS.verify("p", 1, f"{' mac=' + UNSIGNED} -->") is CommentSignatures.INVALID
    assert NO_KEYS.verify("p", 1, "plain text") is CommentSignatures.INVALID
    with pytest.raises(ValueError, match="no marker"):
        KEYS.sign("p", 1, "plain text")


def test_the_marker_that_is_signed_is_the_marker_that_is_found() -> None:
    debris = "<!-- engine-status/1 kind=planner -->\nmac= -->\n mac=none -->\n"
    signed = KEYS.sign("p", 42, debris + BODY)
    found = find(signed)
    assert found is not None
    assert (found.fields["kind"], found.fields["mac"][:8]) == ("worker", NEW.id)
    assert signed.startswith(debris)


def test_a_mark_is_read_back_as_rendered() -> None:
    marker = render("engine-plan", {"sha": "ab12", "note": "a=b/c"}, version=3)
    assert find(f"text {marker} text") == Mark("engine-plan", 3, {"sha": "ab12", "note": "a=b/c", "mac": ""})


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("engine-plan", {"sha": "a b"}),
        ("engine-plan", {"sha": "a-->"}),
        ("engine-plan", {"sha": "1\nACK:worker:x:1706123456789"}),
        ("engine-plan", {"Sha": "1"}),
        ("engine-plan", {"mac": "mine"}),
        ("engine plan", {}),
    ],
)
def test_a_mark_that_could_not_be_read_back_is_not_written(name: str, fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no marker can be written"):
        render(name, fields)


@STEADY
@given(st.text())
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert KEYS.verify("p", 1, text) is not CommentSignatures.VALID


def test_a_version_of_any_length_is_no_error() -> None:
    assert find(f"<!-- engine-status/{'9' * 5000} mac= -->") is None


def test_ids_of_keys_do_not_reveal_them() -> None:
    assert len(NEW.id) == 8
    assert NEW.id not in NEW.secret.hex()
    assert NEW.id != OLD.id
