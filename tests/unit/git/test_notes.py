"""Notes: written and read without loss, and believed only when our key signed them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shared.git.notes import Baseline, ChangedTest, CommitKind, Note, NoteError, ProofNote, RemarkAnswer, read, write
from shared.outgoing.outbound_filter import Outgoing
from shared.text import comment_signatures
from shared.text.comment_signatures import Key, Keyring

KEYS = Keyring(7, (Key.of(b"secret"),))

FULL = Note(
    issue=42,
    cycle=2,
    phase=CommitKind.GREEN,
    next_phase="refactor",
    base="1" * 40,
    current_test="tests/test_a.py::test_a",
    new_tests=("tests/test_a.py::test_a", "tests/test_a.py::test_b"),
    red={"tests/test_a.py::test_a": "failed"},
    green={"tests/test_a.py::test_a": "passed"},
    baseline=Baseline(12, 1, "ab" * 32),
    test_result="passed",
    attempts=2,
    cost_usd=0.25,
    cost_source="result",
    error=NoteError("REGRESSION", "broke\nit mac=x -->", "däta", 1, "2026-01-02T03:04:05+00:00"),
    quality={"ruff check .": "clean"},
    set_aside={"AC2": "passes at once"},
    rolled_back=(NoteError("REGRESSION", "refactor: no changes (tests would break)", "t.py::a", 6),),
    answers=(RemarkAnswer(("c12@5-abc", "c13@6-def"), 12, "ada: Rename it.", True, "Renamed it."),),
    proof=ProofNote(
        damages=16,
        noticed=14,
        unnoticed=("`limit + 1` became `limit + 2` in `page.py:31`",),
        changed_tests=(ChangedTest("t.py::test_a", "its expectation changed", "-    assert 1\n+    assert 2\n"),),
        removed_tests=("t.py::test_b",),
        suite_runs=2,
    ),
)
BARE = Note(issue=42, cycle=1, phase=CommitKind.RED, next_phase="green", base="1" * 40)


@pytest.mark.parametrize("keys", [KEYS, Keyring(7)], ids=["signed", "no keys"])
@pytest.mark.parametrize("note", [FULL, BARE])
def test_a_note_comes_back_as_it_was(note: Note, keys: Keyring) -> None:
    text = write(note, keys)
    assert "\n" not in text
    found = read(text, keys)
    assert found is not None
    assert found.mac
    assert replace(found, mac="") == note
    assert write(found, keys) == text


def test_the_fields_are_those_that_were_agreed() -> None:
    fields = "v issue cycle phase next_phase base current_test new_tests red green baseline test_result attempts"
    assert set(json.loads(write(FULL, KEYS))) == {
        *fields.split(),
        "cost_usd",
        "cost_source",
        "error",
        "exit_code",
        "answers",
        "quality",
        "proof",
        "rolled_back",
        "set_aside",
        "summary",
        "covers",
        "mac",
    }
    content = json.loads(write(FULL, KEYS))
    assert set(content["error"]) == {"type", "message", "details", "retry_count", "timestamp"}
    assert set(content["baseline"]) == {"passed", "failed", "ids_sha"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("attempts", 0), ("issue", 43), ("phase", "red"), ("green", {}), ("extra", 1), ("mac", "none"), ("mac", "")],
)
def test_a_changed_note_is_not_believed(field: str, value: object) -> None:
    content = json.loads(write(FULL, KEYS))
    assert read(json.dumps(content | {field: value}), KEYS) is None


@pytest.mark.parametrize("other", [Keyring(8, KEYS.keys), Keyring(7, (Key.of(b"other"),)), Keyring(7)])
def test_a_note_of_another_repository_or_key_is_not_believed(other: Keyring) -> None:
    assert read(write(FULL, KEYS), other) is None


def test_a_rotated_key_still_reads() -> None:
    rotated = Keyring(7, (Key.of(b"new"), *KEYS.keys))
    assert read(write(BARE, KEYS), rotated) is not None


def test_a_mac_that_poses_inside_the_text_is_not_taken_for_the_note_s() -> None:
    forged = json.loads(write(BARE, KEYS))
    forged["test_result"] = f"x mac={forged['mac']} -->"
    forged["mac"] = f"x mac={forged['mac']}"
    assert read(json.dumps(forged), KEYS) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"x"', "{}", "[" * 100_000, json.dumps({"v": 1, "issue": "42"})],
)
def test_what_is_no_note_is_none(text: str) -> None:
    assert read(text, KEYS) is None


def test_a_note_of_before_the_proof_is_read() -> None:
    content = json.loads(write(BARE, KEYS))
    del content["proof"]
    blank = content | {"mac": ""}
    text = json.dumps(blank, sort_keys=True, separators=(",", ":"))
    mark = comment_signatures.find(KEYS.sign("note", 42, f"{comment_signatures.render('engine-note', {})}\n{text}"))
    assert mark is not None
    found = read(json.dumps(blank | {"mac": mark.fields["mac"]}), KEYS)
    assert found is not None
    assert found.proof is None


def test_a_proof_without_end_fits_into_a_note_and_says_what_is_left_out() -> None:
    changed = tuple(ChangedTest(f"t.py::test_{n}\n{'x' * 999}", "why\n" * 999, "+ line\n" * 999) for n in range(60))
    endless = tuple(f"{n} \x1b[31m{'y' * 999}" for n in range(60))
    proof = ProofNote(unnoticed=endless, changed_tests=changed, removed_tests=endless, pinned=endless, remarks=endless)
    text = write(replace(BARE, proof=proof), KEYS)
    assert len(text) < 150_000
    found = read(text, KEYS)
    assert found is not None
    assert found.proof is not None
    assert (len(found.proof.unnoticed), found.proof.unnoticed[-1]) == (50, "... and 11 more")
    assert all(len(one) <= 300 and "\x1b" not in one for one in found.proof.removed_tests)
    assert (len(found.proof.changed_tests), found.proof.changed_tests[-1].test) == (50, "... and 11 more")
    assert {len(one.diff) for one in found.proof.changed_tests} == {2000, 0}
    assert sum(len(one.diff) for one in found.proof.changed_tests) == 20_000
    assert write(found, KEYS) == text


def test_a_secret_in_a_proof_is_hidden_before_it_is_cut() -> None:
    gate = Outgoing(["correct-horse-battery"])
    text = f"{'x' * 290}correct-horse-battery"
    proof = ProofNote(unnoticed=(text,), changed_tests=(ChangedTest(text, "", "y" * 1990 + "correct-horse-battery"),))
    assert "correct" not in write(replace(BARE, proof=proof), Keyring(7, KEYS.keys, gate))


def test_another_version_is_none() -> None:
    assert read(write(replace(BARE, v=2), KEYS), KEYS) is None


def test_a_field_of_the_wrong_type_is_none_even_when_signed() -> None:
    wrong = replace(BARE, attempts="two")  # type: ignore[arg-type]  # what a newer version might write
    assert read(write(wrong, KEYS), KEYS) is None


def test_a_field_of_a_newer_version_does_no_harm_and_its_format_is_none_of_ours() -> None:
    content = json.loads(write(BARE, KEYS))
    for more, readable in (({"zone": "eu"}, True), ({"v": 2}, False)):
        blank = content | more | {"mac": ""}
        text = json.dumps(blank, sort_keys=True, separators=(",", ":"))
        signed = KEYS.sign("note", 42, f"{comment_signatures.render('engine-note', {})}\n{text}")
        mark = comment_signatures.find(signed)
        assert mark is not None
        found = read(json.dumps(blank | {"mac": mark.fields["mac"]}), KEYS)
        assert (found is not None) is readable
