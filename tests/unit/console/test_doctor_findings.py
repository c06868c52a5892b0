"""The doctor's judgement of versions, disk space, clocks, scopes, keys and programs, and its sentences."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from console.doctor import account, machine, probes, repository
from console.doctor.finding import Machine, Status, pushes_workflows
from console.doctor.probes import identities
from shared.github.branch_rules import DISMISS_STALE, LAST_PUSH, MergeRules, Protection
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import write_ack
from shared.loop.real_clock import RealClock
from shared.models import Account, Comment
from shared.text.comment_signatures import Key, Keyring, render
from shared.workflow import AGENTS, Role

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OURS, ANOTHER = Key.of(b"k" * 32), Key.of(b"o" * 32)


def patient(tmp_path: Path, **more: Any) -> Machine:
    asked = {
        "repositories": [{"name": "a/b", "llm_backend": "scripted"}],
        "sandbox": "none",
        "state_dir": tmp_path / "s",
    }
    settings = Settings.model_validate(asked | more, strict=False)
    return Machine(settings, {"PATH": os.environ["PATH"]}, RealClock())


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("git version 2.39.5", Status.PASS),
        ("git version 2.38.0.windows.1", Status.PASS),
        ("git version 3.0.0", Status.PASS),
        ("git version 2.37.9 (Apple Git-1)", Status.FAIL),
        ("git version 1.99", Status.FAIL),
        ("hub version 2", Status.WARN),
        ("", Status.WARN),
    ],
)
def test_git_s_version(said: str, status: Status) -> None:
    assert machine.git_finding(said).status is status


@pytest.mark.fault(29)
@pytest.mark.parametrize(
    ("gib", "status"), [(0.9, Status.FAIL), (1, Status.WARN), (4.9, Status.WARN), (5, Status.PASS)]
)
def test_room_on_a_disk(gib: float, status: Status) -> None:
    assert machine.disk_finding("state_dir", Path("/x"), int(gib * machine.GIB)).status is status


def test_what_could_not_be_removed_is_named() -> None:
    assert machine.leftovers_finding([]) == []
    (finding,) = machine.leftovers_finding([Path(f"/w/.not-removed-{number}") for number in range(5)])
    assert finding.status is Status.WARN
    assert "/w/.not-removed-2 and 2 more" in finding.sentence


@pytest.mark.fault(39)
@pytest.mark.parametrize(
    ("ahead", "status", "says"),
    [(30.0, Status.PASS, "Agrees"), (31.0, Status.WARN, "31 s ahead of"), (-3600.0, Status.WARN, "3600 s behind")],
)
def test_a_clock_apart_from_github_s(ahead: float, status: Status, says: str) -> None:
    finding = account.clock_finding(ahead)
    assert finding.status is status
    assert says in finding.sentence


def test_a_boot_clock_that_stands_still() -> None:
    assert machine.clock_source_finding(counts_suspend=True).status is Status.PASS
    assert machine.clock_source_finding(counts_suspend=False).status is Status.WARN


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("held", "private", "status", "says"),
    [
        (set(), True, Status.FAIL, "the scopes none"),
        ({"public_repo"}, True, Status.FAIL, "public_repo"),
        ({"repo"}, True, Status.WARN, "every repository of its account"),
        ({"public_repo"}, False, Status.WARN, "every repository of its account"),
        ({"repo", "workflow"}, False, Status.WARN, "more than the engine needs: workflow"),
    ],
)
def test_the_scopes_of_a_classic_token(held: set[str], private: bool, status: Status, says: str) -> None:
    finding = account.scopes_finding(frozenset(held), private=private, name="a/b")
    assert finding.status is status
    assert says in finding.sentence


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({"repo"}, "refuses a push with this token"),
        ({"repo", "workflow"}, "every repository of its account"),
        ({"repo", "workflow", "gist"}, "more than the engine needs: gist."),
    ],
)
def test_the_scope_that_changed_workflow_files_need(held: set[str], says: str) -> None:
    assert says in account.scopes_finding(frozenset(held), private=True, name="a/b", pushes=True).sentence


WORKFLOWS, SETTINGS, UNABLE = "change workflows,", "change settings,", "refuses a push of the App"


@pytest.mark.parametrize(
    ("pushes", "granted", "says"),
    [
        (False, {"contents": "write"}, []),
        (False, {"workflows": "write"}, [WORKFLOWS]),
        (False, {"workflows": "write", "administration": "read"}, ["change workflows or settings,"]),
        (True, {"workflows": "write"}, []),
        (True, {"contents": "write"}, [UNABLE]),
        (True, {"administration": "write"}, [SETTINGS, UNABLE]),
        (True, {"workflows": "write", "administration": "write"}, [SETTINGS]),
    ],
)
def test_an_app_is_told_what_it_has_too_much_or_lacks(pushes: bool, granted: dict[str, str], says: list[str]) -> None:
    found = repository.app_findings(granted, "permissions", "a/b", pushes=pushes)
    assert {one.status for one in found} <= {Status.WARN}
    assert [part in one.sentence for part, one in zip(says, found, strict=True)] == [True] * len(says)


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (Protection.ABSENT, Status.FAIL),
        (Protection.NONE, Status.WARN),
        (Protection.PUSHABLE, Status.WARN),
        (Protection.PULL_REQUESTS, Status.PASS),
        (Protection.UNKNOWN, Status.PASS),
    ],
)
def test_a_base_branch_and_what_protects_it(found: Protection, status: Status) -> None:
    assert repository.protection_finding(found, "main", "a/b").status is status


@pytest.mark.parametrize(
    ("lacking", "status", "says"),
    [
        ((), Status.PASS, "of the commit that is merged"),
        ((LAST_PUSH,), Status.WARN, f"'{LAST_PUSH}' is off."),
        ((DISMISS_STALE, LAST_PUSH), Status.WARN, f"'{DISMISS_STALE}' and '{LAST_PUSH}' are off."),
    ],
)
def test_what_a_branch_asks_of_approvals(lacking: tuple[str, ...], status: Status, says: str) -> None:
    finding = repository.approvals_finding(lacking, "main", "a/b")
    assert finding.status is status
    assert finding.sentence.endswith(says) or says in finding.sentence


def test_rules_that_may_refuse_the_engines_branches_are_a_warning() -> None:
    finding = repository.work_branches_finding(("signed commits", "pull requests"), "a/b")
    assert finding.status is Status.WARN
    assert "signed commits, pull requests hold for auto/**" in finding.sentence


def lock_comment(key: Key | None, state: AckState, age_seconds: int = 0) -> Comment:
    keyring = Keyring(1, () if key is None else (key,))
    ack = Ack(ItemKey(Role.WORKER, 7), "worker-1", 1_700_000_000_000, 0, "0" * 32, 1800, state)
    at = NOW - timedelta(seconds=age_seconds)
    return Comment(1, 7, Account(5, "engine"), write_ack(ack, keyring), at, at)


def status_comment(key: Key) -> Comment:
    body = Keyring(1, (key,)).sign("status", 7, f"{render('engine-status', {'kind': 'worker'})}\nAll is well.")
    return Comment(1, 7, Account(5, "engine"), body, NOW, NOW)


@pytest.mark.parametrize(
    ("comment", "known", "status"),
    [
        (lock_comment(OURS, AckState.ACTIVE), [OURS], Status.PASS),
        (lock_comment(ANOTHER, AckState.ACTIVE), [OURS, ANOTHER], Status.PASS),
        (lock_comment(ANOTHER, AckState.ACTIVE), [OURS], Status.FAIL),
        (lock_comment(ANOTHER, AckState.RELEASED), [OURS], Status.FAIL),
        (lock_comment(ANOTHER, AckState.ACTIVE), [], Status.FAIL),
        (lock_comment(None, AckState.ACTIVE), [], Status.PASS),
        (lock_comment(None, AckState.ACTIVE, 1799), [OURS], Status.FAIL),
        (lock_comment(None, AckState.ACTIVE, 1800), [OURS], Status.PASS),
        (lock_comment(None, AckState.RELEASED), [OURS], Status.PASS),
        (status_comment(OURS), [OURS], Status.PASS),
        (status_comment(ANOTHER), [OURS], Status.WARN),
        (Comment(1, 7, Account(5, "engine"), "no mark at all", NOW, NOW), [OURS], Status.PASS),
    ],
)
def test_whether_keys_agree(comment: Comment, known: list[Key], status: Status) -> None:
    assert probes.agreement_finding([comment], {key.id for key in known}, NOW, "a/b").status is status


@pytest.mark.parametrize(
    ("mode", "content", "status"),
    [(0o600, b"k" * 32, Status.PASS), (0o640, b"k" * 32, Status.WARN), (0o600, b"short", Status.FAIL)],
)
async def test_key_files(tmp_path: Path, mode: int, content: bytes, status: Status) -> None:
    key = tmp_path / "key"
    key.write_bytes(content)
    key.chmod(mode)
    (finding,) = await probes.key_files(patient(tmp_path, lock={"key_files": [key]}))
    assert finding.status is status


async def test_no_key_and_a_key_that_is_gone(tmp_path: Path) -> None:
    (none,) = await probes.key_files(patient(tmp_path))
    (gone,) = await probes.key_files(patient(tmp_path, lock={"key_files": [tmp_path / "gone"]}))
    assert (none.status, gone.status) == (Status.WARN, Status.FAIL)


@pytest.mark.fault(30)
async def test_state_directories(tmp_path: Path) -> None:
    file, newer = tmp_path / "file", tmp_path / "newer"
    file.write_text("")
    newer.mkdir(mode=0o700)
    (newer / "VERSION").write_text("99\n")
    statuses = [
        (await machine.state_directory(patient(tmp_path, state_dir=path)))[0].status
        for path in (tmp_path / "not-yet", file, file / "below", newer)
    ]
    assert statuses == [Status.PASS, Status.FAIL, Status.FAIL, Status.FAIL]
    assert not (tmp_path / "not-yet").exists()


async def test_what_this_version_cannot_do_is_said(tmp_path: Path) -> None:
    (finding,) = await machine.configuration(patient(tmp_path))
    assert (finding.status, "llm.scenario" in finding.sentence) == (Status.FAIL, True)


def test_who_shares_an_account(tmp_path: Path) -> None:
    assert identities(patient(tmp_path), AGENTS) == [AGENTS]
    two = patient(tmp_path, github={"reviewer_token_file": tmp_path / "token"})
    assert identities(two, AGENTS) == [AGENTS - {Role.REVIEWER}, frozenset({Role.REVIEWER})]
    assert identities(two, frozenset({Role.REVIEWER})) == [frozenset({Role.REVIEWER})]
    assert identities(two, frozenset({Role.WORKER})) == [frozenset({Role.WORKER})]


@pytest.mark.parametrize(
    ("roles", "asked", "pushes"), [(AGENTS, True, True), (AGENTS, False, False), ({Role.REVIEWER}, True, False)]
)
def test_only_a_worker_s_identity_pushes_workflow_files(
    tmp_path: Path, roles: frozenset[Role], asked: bool, pushes: bool
) -> None:
    ci = {"may_edit_workflows": asked}
    here = patient(tmp_path, repositories=[{"name": "a/b", "llm_backend": "scripted", "ci": ci}])
    assert pushes_workflows(here.settings.repositories[0], frozenset(roles)) is pushes


@pytest.mark.parametrize(
    ("configured", "rules", "alone", "hidden", "said"),
    [
        ("never", MergeRules(), True, False, "merge: never. People merge what is approved."),
        (
            "auto",
            MergeRules(approvals=2),
            False,
            False,
            "merge: auto. The engine merges what is approved. On main each merge waits for 2 approvals of people.",
        ),
        (
            "auto",
            MergeRules(approvals=2, code_owners=True),
            True,
            False,
            "merge: auto. The engine merges what is approved. On main each merge waits for 1 approval of a person and "
            "the approval of a code owner of each file.",
        ),
        (
            "approve",
            MergeRules(up_to_date=True, queue=True),
            True,
            False,
            "merge: approve. The engine merges what is approved, after `/merge`, through GitHub's merge queue. A "
            "worker merges main into a branch that is behind it.",
        ),
        (
            "auto",
            MergeRules(),
            True,
            True,
            "merge: auto. The engine merges what is approved. On main each merge waits for what the protection of the "
            "branch asks for, which only an administrator can see.",
        ),
    ],
)
def test_what_merge_means_is_said_beforehand(
    configured: str, rules: MergeRules, alone: bool, hidden: bool, said: str
) -> None:
    finding = probes.merge_finding(configured, "main", rules, "a/b", alone=alone, hidden=hidden)
    assert (finding.status, finding.sentence) == (Status.PASS, said)


@pytest.mark.parametrize(
    ("path", "told"),
    [("/tmp/engine/state", True), ("/var/tmp/x", True), ("/run/engine", True), ("/var/lib/engine", False)],
)
def test_a_state_directory_that_the_system_empties_is_told(path: str, told: bool) -> None:
    found = machine.swept_finding(Path(path))
    assert [one.status for one in found] == [Status.WARN] * told
