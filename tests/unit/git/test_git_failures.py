"""Messages of git and git servers, and the errors that the caller gets for them."""

from __future__ import annotations

import pytest

from shared.errors import Gone, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.git import failures
from shared.git.failures import NoSuchRef, PushRefused, StaleLock
from shared.process import CommandFailed, Finished

URL = "https://github.com/acme/app.git"


def said(stderr: str, stdout: str = "", code: int = 128) -> Finished:
    return Finished(("git", "push"), code, stdout.encode(), stderr.encode())


@pytest.mark.parametrize(
    ("stderr", "fetched", "pushed"),
    [
        (f"fatal: unable to access '{URL}/': Could not resolve host: github.com", Transient, Transient),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 503", Transient, Transient),
        (f"fatal: unable to access '{URL}/': The requested URL returned error: 429", Transient, Transient),
        (f"fatal: unable to access '{URL}/': Operation too slow. Less than 1 bytes/sec", Transient, Transient),
        (f"fatal: Authentication failed for '{URL}/'", Unauthorized, Unauthorized),
        (f"fatal: could not read Username for '{URL}': terminal prompts disabled", Unauthorized, Unauthorized),
        (
            f"remote: Permission to acme/app.git denied to ada.\nfatal: unable to access '{URL}/': "
            "The requested URL returned error: 403",
            NotAllowed,
            NotAllowed,
        ),
        ("remote: Write access to repository not granted.", NotAllowed, NotAllowed),
        ("remote: You have exceeded a secondary rate limit.\nfatal: returned error: 403", Transient, Transient),
        (f"remote: Repository not found.\nfatal: repository '{URL}/' not found", Gone, Gone),
        ("fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote", Gone, Gone),
        ("error: RPC failed; HTTP 502 curl 22\nfatal: the remote end hung up unexpectedly", Transient, UnknownOutcome),
        ("send-pack: unexpected disconnect while reading sideband packet", Transient, UnknownOutcome),
        ("fatal: early EOF", Transient, UnknownOutcome),
        ("fatal: something new", CommandFailed, UnknownOutcome),
        ("fatal: couldn't find remote ref refs/ack/worker/42", NoSuchRef, UnknownOutcome),
        ("fatal: remote error: upload-pack: not our ref 1111", NoSuchRef, UnknownOutcome),
    ],
)
def test_each_failure_has_its_family(stderr: str, fetched: type[Exception], pushed: type[Exception]) -> None:
    assert type(failures.fetching(said(stderr))) is fetched
    assert type(failures.pushing(said(stderr))) is pushed


def test_local_failures() -> None:
    lock = "fatal: Unable to create '/m/refs/heads/main.lock': File exists.\n\nAnother git process seems to be running"
    assert type(failures.local(said(lock))) is StaleLock
    assert type(failures.fetching(said(lock))) is StaleLock
    assert failures.NO_SPACE.search(b"fatal: write error: No space left on device")
    assert not failures.NO_SPACE.search(b"remote: fatal: write error: No space left on device")
    assert type(failures.local(said("fatal: bad object"))) is CommandFailed


def test_the_sentence_is_what_git_said_last() -> None:
    error = failures.fetching(said("remote: hello\n\nfatal: early EOF\n"))
    assert str(error) == "git: remote: hello | fatal: early EOF"


def report(*reasons: str) -> str:
    lines = "".join(f"!\t{'1' * 40}:refs/ack/worker/{n}\t{reason}\n" for n, reason in enumerate(reasons))
    return f"To {URL}\n{lines}Done\n"


def test_a_push_that_moved_everything() -> None:
    stdout = f"To {URL}\n*\t{'1' * 40}:refs/ack/worker/1\t[new reference]\n+\ta:b\t1...2 (forced update)\nDone\n"
    assert failures.moved(said("", stdout, 0))


@pytest.mark.parametrize(
    "reasons",
    [
        ("[rejected] (stale info)", "[rejected] (atomic push failed)"),
        ("[remote rejected] (atomic transaction failed)", "[remote rejected] (atomic transaction failed)"),
        ("[remote rejected] (failed to update ref)",),
        ("[remote rejected] (reference already exists)",),
        ("[remote rejected] (cannot lock ref 'refs/x': is at 1 but expected 2)",),
        ("[rejected] (fetch first)",),
    ],
)
def test_a_refused_lease_is_a_lost_race(reasons: tuple[str, ...]) -> None:
    assert not failures.moved(said("error: failed to push some refs", report(*reasons), 1))


@pytest.mark.parametrize(
    ("reasons", "stderr", "error"),
    [
        (("[remote rejected] (pre-receive hook declined)", "[remote rejected] (atomic push failure)"), "", PushRefused),
        (("[remote rejected] (protected branch hook declined)",), "remote: error: GH006: Protected.", PushRefused),
        (("[remote rejected] (push declined due to repository rule violations)",), "", PushRefused),
        (("[remote rejected] (refusing to allow an App to create workflow)",), "", PushRefused),
        (("[remote rejected] (something new)", "[rejected] (stale info)"), "", PushRefused),
        (
            ("[remote rejected] (atomic transaction failed)",),
            "remote: error: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
            PushRefused,
        ),
        (("[remote rejected] (Internal Server Error)",), "", Transient),
        (("[remote rejected] (unpacker error)",), "", Transient),
        (("[remote failure] (remote failed to report status)",), "", UnknownOutcome),
        (("[rejected] (stale info)", "[remote failure] (remote failed to report status)"), "", UnknownOutcome),
        (("without brackets",), "", PushRefused),
    ],
)
def test_other_refusals(reasons: tuple[str, ...], stderr: str, error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        failures.moved(said(stderr, report(*reasons), 1))
    assert raised.type is error


def test_the_server_s_own_words_reach_the_person() -> None:
    finished = said("remote: error: GH013: Secret found.\nerror: failed", report("[remote rejected] (declined)"), 1)
    with pytest.raises(NotAllowed, match=r"refused the push: declined\. error: GH013: Secret found\."):
        failures.moved(finished)


@pytest.mark.parametrize("code", [0, 1, 128])
def test_no_report_at_all_is_an_unknown_outcome(code: int) -> None:
    with pytest.raises(UnknownOutcome):
        failures.moved(said("", "", code))
