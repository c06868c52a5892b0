"""The doctor in a whole GitHub: every probe where all is well, and each where one thing is not."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from clinic import OTHER_KEY, Clinic, reserve_refs, troubles
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engine import ENGINE, REPOSITORY, REVIEWER, WRITES
from judge import Judge
from project_pytest import ALONE

from config.loading import load_several
from config.repository_file import FILE
from console.doctor.command import examined, total
from console.doctor.finding import Finding, Status
from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.server import Lab
from lab.github.world.repository import Protection
from shared.errors import Misconfigured
from shared.github.label_board import LOOKS, STORY_LOOK
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import write_ack
from shared.process import run
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role
from shared.workflow.labels import Labels

FILES = {
    ".github/workflows/ci.yml": "on: push\n",
    "README.md": "hello\n",
    "tests/test_hello.py": "def test_hello() -> None:\n    assert True\n",
}
GUARDED = Protection(approvals=1, dismiss_stale=True, last_push=True)


@pytest.fixture
async def clinic(tmp_path: Path, judge: Judge) -> AsyncIterator[Clinic]:
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        people = {ENGINE: "write", REVIEWER: "write"}
        repository = await lab.repository(REPOSITORY, FILES, collaborators=people)
        lab.configure(REPOSITORY, private=True, protections={"main": GUARDED})
        looks = {Labels().of(what): look for what, look in LOOKS.items()} | {"story": STORY_LOOK}
        for name, (colour, description) in looks.items():
            repository.labels.create(name, colour, description)
        before = await repository.bare.refs("refs/")
        clinic = Clinic(lab, tmp_path)
        yield clinic
        assert await repository.bare.refs("refs/") == before, "the doctor leaves nothing behind"
        assert not repository.issues.records or all(one.author == "ada" for one in repository.issues.records.values())
        assert lab.unlisted == []
    assert judge.complaints == []


async def test_where_nothing_is_wrong_every_probe_passes(clinic: Clinic) -> None:
    findings = await clinic.findings()
    others = {finding.subject: finding.status for finding in findings if finding.status is not Status.PASS}
    others.pop("state directory", None)  # it is below /tmp, or wherever tests are run
    skipped = dict.fromkeys(("claude", "codex", "qwen", "mini", "test run"), Status.SKIP)
    expected = {"sandbox": Status.WARN, **skipped}
    assert others == expected
    passed = {finding.subject for finding in findings} - set(others)
    assert passed == {
        "configuration",
        "state directory",
        "disk (state_dir)",
        "disk (work_dir)",
        "git",
        "boot clock",
        "key files",
        "token",
        "clock",
        "repository",
        "merge",
        f"permissions of {ENGINE}",
        f"permissions of {REVIEWER}",
        f"label changes of {ENGINE}",
        f"label changes of {REVIEWER}",
        "key agreement",
        "labels",
        "branch protection",
        "approvals",
        "git server",
        "versions",
        "tests",
        "CI",
        "second account",
    }
    assert not (clinic.directory / "state").exists(), "it changes nothing on this machine"


async def test_a_server_that_refuses_label_changes_by_graphql_is_told_and_nothing_is_changed(clinic: Clinic) -> None:
    clinic.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", r"/graphql$", status=404, times=2))
    found = troubles(await clinic.findings())
    assert [what for what in found if what.startswith("label changes")] == list(found), found
    assert len(found) == 2
    assert all(status is Status.WARN and "GitHub refuses them by GraphQL" in said for status, said in found.values())


async def test_the_suites_of_a_repository_are_told(clinic: Clinic) -> None:
    name = "ada/nested"
    package = '{"devDependencies": {"vitest": "1"}}'
    files = {"web app/package.json": package, "web app/a.test.js": "x"}
    await clinic.lab.repository(name, files, collaborators={ENGINE: "write"})
    clinic.more = {"repositories": [{"name": name, "llm_backend": "scripted"}]}
    (told,) = [one for one in await clinic.findings(frozenset({Role.WORKER})) if one.subject == "tests"]
    assert (told.status, told.where) == (Status.FAIL, name), "as it is, every issue would fail"
    assert "Found elsewhere: vitest in web app (`" in told.sentence
    assert told.next_step == 'To run them where they lie, write working_directory: "web app".'
    assert "tests" not in {one.subject for one in await clinic.findings(frozenset({Role.PLANNER}))}


async def tried(clinic: Clinic, test_command: str | None, **files: str) -> list[Finding]:
    """Return the doctor's findings on a repository with these files after one real run of its tests."""
    name = "ada/tried"
    await clinic.lab.repository(name, {path.replace("__", "/"): text for path, text in files.items()})
    clinic.lab.configure(name, collaborators={ENGINE: "write"})
    clinic.quick = False
    clinic.more = {
        "repositories": [{"name": name, "llm_backend": "scripted", "test_command": test_command}],
        "work_dir": clinic.directory / "work",
    }
    return await clinic.findings(frozenset({Role.WORKER}))


PYTEST = f"{ALONE} {shlex.quote(sys.executable)} -m pytest -q"
PASSES, FAILS = "def test_one():\n    assert True\n", "def test_two():\n    assert False\n"


@pytest.mark.parametrize(
    ("command", "files", "status", "beginning"),
    [
        (PYTEST, {"tests__test_one.py": PASSES}, Status.PASS, "run here: 1 passed."),
        (
            PYTEST,
            {"tests__test_one.py": PASSES, "tests__test_two.py": FAILS},
            Status.WARN,
            "run here: 1 passed, 1 fail",
        ),
        ("pytest-that-is-nowhere -m pytest", {"tests__test_one.py": PASSES}, Status.FAIL, "pytest-that-is-nowhere"),
        (
            "pytest-that-is-nowhere -m pytest",
            {"tests__test_one.py": PASSES, FILE: json.dumps({"test_command": PYTEST})},
            Status.PASS,
            "run here: 1 passed.",
        ),
        (None, {"README.md": "No tests.\n"}, Status.FAIL, "No tests of a known runner"),
    ],
)
async def test_the_tests_of_the_base_are_tried_before_anybody_is_told_that_it_is_ready(
    clinic: Clinic, command: str | None, files: dict[str, str], status: Status, beginning: str
) -> None:
    findings = await tried(clinic, command, **files)
    (found,) = [one for one in findings if one.subject == "test run"]
    assert (found.status, found.where) == (status, "ada/tried")
    assert beginning in found.sentence
    assert ("Ready." in total(findings)) is (status is not Status.FAIL)
    assert not [*(clinic.directory / "work").glob("*")], "the doctor leaves nothing behind"
    (ci,) = [one for one in findings if one.subject == "CI"]
    assert ci.status is Status.WARN
    assert "none_is_green" in ci.next_step


@pytest.mark.fault(4)
@pytest.mark.fault(39)
async def test_everything_that_is_wrong_is_found_at_once(clinic: Clinic) -> None:
    clinic.lab.at(REPOSITORY).labels.remove("status:ready")
    clinic.lab.configure(REPOSITORY, protections={}, private=False)
    clinic.lab.clock.offset -= 90.0
    clinic.permissions = {**WRITES, "issues": "read"}
    clinic.github["reviewer_token_file"] = None
    reserve_refs(clinic)
    found = troubles(await clinic.findings())
    beginnings = {
        "labels": (Status.WARN, "1 are missing: status:ready."),
        "branch protection": (Status.WARN, "main is not protected: the engine's accounts can push to it."),
        "public": (Status.WARN, "Anybody can open issues and comment there."),
        "clock": (Status.WARN, "This machine's clock is 9"),
        f"permissions of {ENGINE}": (Status.FAIL, "The token lacks issues: write; planner, reviewer, worker cannot"),
        "second account": (Status.WARN, "One account writes and reviews: GitHub takes its reviews as comments only."),
        "git server": (Status.FAIL, "The git server does not accept refs below refs/ack/"),
    }
    assert found.keys() == beginnings.keys()
    for subject, (status, beginning) in beginnings.items():
        assert found[subject][0] is status
        assert found[subject][1].startswith(beginning)
    assert "refs/ack is reserved" in found["git server"][1], "the server's own words"


@pytest.mark.fault(48)
async def test_beside_a_newer_engine_what_cannot_be_read_is_named(clinic: Clinic) -> None:
    bare = clinic.lab.at(REPOSITORY).bare
    tip = await bare.sha("refs/heads/main")
    assert tip is not None
    await bare.update_ref("refs/ack/worker/7", tip)  # no commit of a fence that is known here
    findings = await clinic.findings(frozenset({Role.WORKER}))
    await bare.git.check("update-ref", "-d", "refs/ack/worker/7")
    found = troubles(findings)
    assert found.keys() == {"versions"}
    assert found["versions"][0] is Status.FAIL
    assert found["versions"][1].startswith("This version cannot read refs/ack/worker/7:")


@pytest.mark.fault(3)
async def test_everything_else_that_is_wrong_is_found_at_once(clinic: Clinic) -> None:
    clinic.lab.rename(REPOSITORY, "ada/register")
    clinic.more["repositories"] = [{"name": REPOSITORY, "llm_backend": "scripted", "base_branch": "trunk"}]
    clinic.permissions = {**WRITES, "contents": "read"}
    clinic.github["token_file"] = clinic.file("token", clinic.lab.token(REVIEWER, clinic.permissions).encode())
    clinic.lab.issue("ada/register", "Search", author="ada")
    keys = Keyring(clinic.lab.at("ada/register").facts.id, (Key.of(OTHER_KEY),))
    ack = Ack(ItemKey(Role.WORKER, 1), "worker-other", 1_700_000_000_000, 0, "0" * 32, 1800, AckState.ACTIVE)
    clinic.lab.comment("ada/register", 1, write_ack(ack, keys), author=REVIEWER)
    found = troubles(await clinic.findings())
    assert set(found) == {
        "repository",
        "branch protection",
        f"permissions of {REVIEWER}",
        "second account",
        "key agreement",
        "git server",
    }
    assert found["repository"] == (Status.WARN, f"{REPOSITORY} is called ada/register now.")
    assert found["branch protection"] == (Status.FAIL, "There is no branch trunk.")
    assert found["second account"][1].startswith(f"Both tokens belong to {REVIEWER}:")
    assert found["key agreement"][1].startswith(f"A lock on #1 was signed with key {Key.of(OTHER_KEY).id},")
    assert found["git server"][1].startswith("A push to refs/ack/doctor/ is not allowed")
    assert found[f"permissions of {REVIEWER}"][1].startswith("The token lacks contents: write;")


@pytest.mark.fault(3)
async def test_in_an_archive_nothing_else_is_tried(clinic: Clinic) -> None:
    clinic.lab.configure(REPOSITORY, archived=True)
    findings = await clinic.findings(frozenset({Role.WORKER}))
    assert troubles(findings)["repository"] == (Status.FAIL, "It is archived: nothing can be changed there.")
    assert findings[-1].status is Status.SKIP


@pytest.mark.fault(3)
async def test_a_repository_that_is_not_shown(clinic: Clinic) -> None:
    clinic.more["repositories"] = [{"name": "ada/nothing", "llm_backend": "scripted"}]
    found = troubles(await clinic.findings(frozenset({Role.WORKER})))
    assert found["repository"][0] is Status.FAIL
    assert "does not show the repository ada/nothing" in found["repository"][1]


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("github", "says"),
    [({"token_env": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE"), ({"token_env": "WRONG"}, "does not accept the token")],
)
async def test_without_a_good_token_the_rest_is_still_examined(
    clinic: Clinic, github: dict[str, str], says: str
) -> None:
    clinic.github |= github
    found = troubles(await clinic.findings(frozenset({Role.WORKER})))
    assert found.keys() == {"token"}
    assert found["token"][0] is Status.FAIL
    assert says in found["token"][1]


async def test_one_agent_is_asked_for_what_it_needs_alone(clinic: Clinic) -> None:
    clinic.permissions = {"contents": "write", "issues": "write", "metadata": "read"}
    findings = await clinic.findings(frozenset({Role.REVIEWER}))
    lacks = troubles(findings)[f"permissions of {REVIEWER}"]
    assert lacks[1].startswith(
        "The token lacks pull_requests: write, checks: read, statuses: read; reviewer cannot work"
    )
    assert not [one for one in findings if ENGINE in one.sentence + one.subject]


async def test_a_fine_grained_token_cannot_see_the_checks_of_a_private_repository(clinic: Clinic) -> None:
    clinic.lab.configure(REPOSITORY, private=True)
    clinic.permissions = {name: level for name, level in WRITES.items() if name != "checks"}
    findings = await clinic.findings()
    told = {one.subject: one for one in findings}[f"permissions of {ENGINE}"]
    assert (told.status, "The token lacks checks: read;" in told.sentence) == (Status.FAIL, True)
    assert "use a classic token with the scope repo, or a GitHub App with Checks: read" in told.next_step


async def test_an_app_that_was_given_too_much_is_told_so(clinic: Clinic) -> None:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key = clinic.file("app.pem", private.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    public = private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    app = clinic.lab.app("engine", owner="ada", public_key=public, permissions={**WRITES, "administration": "write"})
    clinic.lab.install(app, REPOSITORY)
    clinic.github |= {"app": {"id": app.id, "private_key_file": key}, "reviewer_token_file": None}
    clinic.more["repositories"] = [{"name": REPOSITORY, "llm_backend": "scripted", "ci": {"may_edit_workflows": True}}]
    findings = await clinic.findings()
    said = [one.sentence.split(",")[0] for one in findings if one.subject == "permissions of engine[bot]"]
    assert said[1:] == ["The App may change settings", "ci.may_edit_workflows is on"]
    assert troubles(findings).keys() == {"second account", "permissions of engine[bot]"}


async def test_the_command_prints_json_and_exits_with_what_it_found(clinic: Clinic) -> None:
    reserve_refs(clinic)
    machine = clinic.machine()
    config = clinic.directory / "config.yml"
    config.write_text(machine.settings.model_dump_json(exclude_unset=True))
    argv = (
        sys.executable,
        "-m",
        "console",
        "doctor",
        REPOSITORY,
        "--config",
        str(config),
        "--agent",
        "worker",
        "--json",
    )
    env = {**machine.environment, "HOME": str(clinic.directory)}
    done = await run(argv, cwd=Path(__file__).parents[3], env=env)
    assert done.code == 4, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    statuses = {one["subject"]: one["status"] for one in answer["findings"]}
    assert (statuses["git server"], statuses["labels"]) == ("fail", "pass")
    assert machine.environment["GITHUB_TOKEN"] not in (done.stdout + done.stderr).decode()


@pytest.mark.fault(2)
def test_a_configuration_that_cannot_be_read_is_an_error_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "repos.yml"
    config.write_text("repositories: [{name: a/b, pol_interval: 3}]\n")
    assert examined((), config, {"HOME": str(tmp_path)}, json=True) == 2
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["status"], "poll_interval" in finding["sentence"]) == ("fail", True)
    assert examined((), config, {"HOME": str(tmp_path)}) == 2
    assert "poll_interval" in capsys.readouterr().err


def test_several_repositories_are_chosen_by_name(tmp_path: Path) -> None:
    config, environment = tmp_path / "repos.yml", {"HOME": str(tmp_path)}
    config.write_text("repositories: [{name: a/b}, {name: a/c}, {name: a/d}]\n")
    chosen_names = [
        one.name for one in load_several(config, ["a/d", "a/b", "a/d"], environment=environment).repositories
    ]
    assert chosen_names == ["a/d", "a/b"]
    assert len(load_several(config, [], environment=environment).repositories) == 3
    with pytest.raises(Misconfigured, match="'a/x' is not configured here"):
        load_several(config, ["a/b", "a/x"], environment=environment)
