"""The doctor's judgement of coding backends and sandboxes, from the output of their programs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from console.doctor import probes, programs
from console.doctor.finding import Machine, Status
from shared.llm import cli_backends
from shared.loop.real_clock import RealClock
from shared.process import Finished


def patient(tmp_path: Path, **more: Any) -> Machine:
    asked = {
        "repositories": [{"name": "a/b", "llm_backend": "scripted"}],
        "sandbox": "none",
        "state_dir": tmp_path / "s",
    }
    settings = Settings.model_validate(asked | more, strict=False)
    return Machine(settings, {"PATH": os.environ["PATH"]}, RealClock())


def said(text: str, code: int = 0, *, errors: str = "") -> Finished:
    return Finished(("x",), code, text.encode(), errors.encode())


KNOWN = (
    "--setting-sources --strict-mcp-config --disable-slash-commands --no-session-persistence --tools --json-schema "
    "--max-budget-usd --include-partial-messages"
)


def claude_that_says(at: Path, version: str, described: str = KNOWN, code: int = 0) -> Path:
    at.write_text(f"#!/bin/sh\ncase $1 in --version) echo '{version}' ;; *) echo '{described}' ;; esac\nexit {code}\n")
    at.chmod(0o700)
    return at


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("version", "described", "code", "status"),
    [
        ("2.1.330 (Claude Code)", f"{KNOWN} --restricted", 0, Status.PASS),
        ("2.1.202 (Claude Code)", f"{KNOWN} --safe-mode", 0, Status.WARN),
        ("2.0.1 (Claude Code)", "--print", 0, Status.FAIL),
        ("Please log in", KNOWN, 0, Status.FAIL),
        ("2.1.330", f"{KNOWN} --restricted", 1, Status.FAIL),
    ],
)
async def test_a_program_is_asked_for_what_it_is(
    tmp_path: Path, version: str, described: str, code: int, status: Status
) -> None:
    claude = claude_that_says(tmp_path / "claude", version, described, code)
    wanted = [{"name": "a/b", "llm_backend": "claude"}]
    found = await programs.coding_backends(patient(tmp_path, repositories=wanted, claude_cli=str(claude)))
    assert (found[0].subject, found[0].status) == ("claude", status)
    assert str(claude) in found[0].sentence
    assert (found[1].subject, found[1].status) == ("codex", Status.SKIP)


@pytest.mark.fault(22)
@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_a_configured_backend_that_is_missing_or_not_executable_fails_and_the_other_is_skipped(
    tmp_path: Path, name: str
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    other = claude_that_says(tmp_path / "other", "Please log in", "Please log in")
    wanted = [{"name": "a/b", "llm_backend": name}]
    for command in (tmp_path / "missing", plain, other):
        asked = {"repositories": wanted, f"{name}_cli": str(command)}
        found = {one.subject: one for one in await programs.coding_backends(patient(tmp_path, **asked))}
        assert found.pop(name).status is Status.FAIL
        key = found.pop("model key")
        assert (key.status, name in key.sentence) == (Status.FAIL, True)
        assert {one.status for one in found.values()} == {Status.SKIP}
    assert not (tmp_path / "s").exists()


def test_a_model_key_is_named_by_kind_and_never_shown() -> None:
    keys = {"ANTHROPIC_API_KEY": "canary-key", "OPENAI_API_KEY": "canary-other"}
    key = programs.model_key(keys, ["claude", "codex"])
    assert key.status is Status.PASS
    assert "a key for claude and a key for codex" in key.sentence
    assert "canary" not in key.sentence
    assert programs.model_key({"ANTHROPIC_API_KEY": "x"}, ["claude", "codex"]).status is Status.FAIL


def test_with_a_login_it_is_said_what_is_not_enforced(tmp_path: Path) -> None:
    file = tmp_path / "auth.json"
    file.write_text('{"tokens": {"access_token": "canary-1", "refresh_token": "canary-2"}}')
    signed_in = {"CLAUDE_CODE_OAUTH_TOKEN": "canary-3", "CODEX_HOME": str(tmp_path)}
    key = programs.model_key(signed_in, ["claude", "codex"])
    assert key.status is Status.WARN
    assert "a login for claude and a login for codex" in key.sentence
    for name in ("claude", "codex"):
        assert cli_backends()[name].not_enforced in key.sentence
    assert "canary" not in str(key)
    other = programs.model_key({**signed_in, "OPENAI_BASE_URL": "https://gateway.example"}, ["codex"])
    assert (other.status, "OPENAI_BASE_URL" in other.sentence) == (Status.FAIL, True)


@pytest.mark.parametrize(
    ("answer", "status", "setting"),
    [
        (said(""), Status.PASS, ""),
        ("it is not on PATH", Status.FAIL, "apt install bubblewrap"),
        (
            said("", 1, errors="bwrap: Can't mount proc on /newroot/proc: Operation not permitted"),
            Status.FAIL,
            "systempaths",
        ),
        (said("", 1, errors="bwrap: loopback: Failed to create NETLINK_ROUTE socket"), Status.FAIL, "AF_NETLINK"),
        (said("", 1, errors="bwrap: No permissions to create new namespace"), Status.FAIL, "unprivileged_userns"),
    ],
)
def test_the_sandbox_and_the_setting_that_keeps_it_from_starting(
    answer: Finished | str, status: Status, setting: str
) -> None:
    finding = programs.sandbox_finding(answer)
    assert finding.status is status
    assert setting in finding.next_step


@pytest.mark.parametrize("named", [False, True], ids=["by its name", "by a path"])
async def test_the_step_to_a_missing_program_is_one_that_has_it_found(tmp_path: Path, named: bool) -> None:
    """Programs of `install-cli` are found only in the state directory of the configuration, and without a path."""
    backend = {"repositories": [{"name": "a/b", "llm_backend": "claude"}]}
    place = {"claude_cli": str(tmp_path / "gone")} if named else {}
    here = replace(patient(tmp_path, **backend, **place), environment={"PATH": "/nowhere"}, config=Path("/etc/a b.yml"))
    found = {one.subject: one for one in await programs.coding_backends(here)}["claude"]
    assert found.status is Status.FAIL
    install = "run `workflow-engine install-cli claude --config '/etc/a b.yml'`"
    assert install in found.next_step.replace("Run", "run")
    assert ("take that key out" in found.next_step) is named
    assert ("take claude_cli out of the configuration" in found.sentence) is named


@pytest.mark.parametrize(
    ("there", "step"),
    [
        ("", "Copy it from another machine of this repository, or run `workflow-engine init a/b`."),
        ("first", "Copy it from another machine of this repository, or take it out of lock.key_files."),
        ("first second", "Let this account read it, or copy it from another machine of this repository; where"),
    ],
    ids=["none", "the first", "all, too short"],
)
async def test_the_step_to_a_key_is_one_that_init_does(tmp_path: Path, there: str, step: str) -> None:
    for name in there.split():
        (tmp_path / name).write_text("x" * (32 if there == "first" else 3))
    lock = {"key_files": [tmp_path / "first", tmp_path / "second"]}
    (found,) = await probes.key_files(patient(tmp_path, lock=lock))
    assert found.status is Status.FAIL
    assert found.next_step.startswith(step)
