"""The claim in a pull request: what is written is read back, through GitHub and our gate, and only what we wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.git.notes import Baseline
from shared.git.proof_claim import Claim, ClaimedProof, NoClaim, digest, is_there, read
from shared.outgoing.outbound_filter import Outgoing
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Key, Keyring
from worker_agent.tdd.claim_writing import LIMIT, write

GATE = Outgoing(["sekret-value-1234"])
KEYS = Keyring(5, (Key.of(b"x" * 32),), outgoing=GATE)
TESTS = {"tests/test_a.py::test_x[<b> @ada fixes #3 --> é]": "failed", "tests/test_b.py::test_y": "not collected"}
CLAIM = Claim(
    issue=42,
    base="a" * 40,
    head="b" * 40,
    count=2,
    ids_sha=digest(TESTS),
    tests=TESTS,
    baseline=Baseline(12, 1, "c" * 64),
    result="14 passed, 1 failed",
    red_exit=2,
    green_exit=1,
    attempts=3,
    cost_usd=1.25,
    proof=ClaimedProof(16, 14, 2, ("tests/test_a.py::test_old[a b]",), ("tests/test_a.py::test_gone",), ("setup.cfg",)),
)


def body(line: str) -> str:
    """Return a body with this line as GitHub returns it: after our gate, and with GitHub's line ends."""
    sent = GATE.payload({"body": f"Closes #42\n\nText.\n\n{line}"})["body"]
    return str(sent).replace("\n", "\r\n")


@pytest.mark.parametrize("keys", [KEYS, Keyring(5)], ids=["signed", "no keys"])
@pytest.mark.parametrize("claim", [CLAIM, Claim(1, "a" * 40, "b" * 40)])
def test_a_claim_comes_back_as_it_was(claim: Claim, keys: Keyring) -> None:
    assert read(body(write(claim, keys)), keys) == (claim, CommentSignatures.VALID)


@pytest.mark.parametrize(
    ("old", "new"), [('"attempts":3', '"attempts":1'), ('"issue":42', '"issue":41'), ("b" * 40, "d" * 40)]
)
def test_a_changed_claim_is_not_ours(old: str, new: str) -> None:
    line = write(CLAIM, KEYS)
    assert old in line
    assert read(line.replace(old, new), KEYS)[1] is CommentSignatures.INVALID


def test_who_has_not_the_key_cannot_tell() -> None:
    assert read(write(CLAIM, KEYS), Keyring(5))[1] is CommentSignatures.UNKNOWN_KEY


def test_the_last_line_counts_and_names_that_do_not_fit_are_counted() -> None:
    many = {f"tests/test_{number}.py::test_{'é' * 50}": "failed" for number in range(500)}
    line = write(replace(CLAIM, tests=many, count=len(many), ids_sha=digest(many)), KEYS)
    assert len(line) <= LIMIT
    found, signed = read(f"{write(CLAIM, Keyring(5))}\n\n{line}", KEYS)
    assert signed is CommentSignatures.VALID
    assert 0 < len(found.tests) < found.count == 500
    assert found.tests.items() <= many.items()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Closes #42",
        "<!-- engine-claim/1 data={} mac=none -->",
        "<!-- engine-claim/1 data=[[[[ mac=none -->",
        write(CLAIM, KEYS).replace("a" * 40, "--upload-pack=x"),
        write(CLAIM, KEYS).replace('"v":2', '"v":3'),
        write(CLAIM, KEYS).replace('"v":2', '"v":0'),
        write(CLAIM, KEYS).replace('"attempts":3', '"attempts":"3"'),
        "a line before " + write(CLAIM, KEYS),
    ],
)
def test_what_is_no_claim(text: str) -> None:
    with pytest.raises(NoClaim):
        read(text, KEYS)


def test_a_claim_of_the_first_version_is_read() -> None:
    old = {"v": 1, "issue": 42, "base": "a" * 40, "head": "b" * 40, "count": 1, "tests": {"t.py::test_x": "failed"}}
    line = KEYS.sign("claim", 42, comment_signatures.render("engine-claim", {"data": comment_signatures.spelled(old)}))
    found, signed = read(body(line), KEYS)
    assert (found.v, found.proof, signed) == (1, None, CommentSignatures.VALID)


def test_lists_of_a_proof_that_do_not_fit_say_how_many_more_there_are() -> None:
    many = tuple(f"tests/test_{number}.py::test_{'x' * 100}" for number in range(50))
    proof = ClaimedProof(60, 10, 50, many, many, many)
    found, _ = read(write(replace(CLAIM, proof=proof), KEYS), KEYS)
    assert found.proof is not None
    for kept in (found.proof.changed_tests, found.proof.removed_tests, found.proof.pinned):
        assert kept[:-1] == many[: len(kept) - 1]
        assert kept[-1] == f"... and {50 - len(kept) + 1} more"
    assert found.tests, "the tests still have a place"


def test_a_line_that_cannot_be_read_is_there_all_the_same() -> None:
    assert is_there(body("<!-- engine-claim/2 data={} mac=none -->"))
    assert not is_there("Closes #42")


def test_no_secret_leaves_by_a_claim() -> None:
    line = write(replace(CLAIM, tests={"tests/test_a.py::test_x[sekret-value-1234]": "failed"}), KEYS)
    assert "sekret" not in line
    assert read(line, KEYS)[1] is CommentSignatures.VALID
