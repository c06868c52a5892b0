"""What the doctor makes of coding backends and sandboxes, from what their programs say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from console.doctor import programs
from console.doctor.finding import Status
from console.doctor.patient import Machine
from shared.loop import RealClock
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


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("name", "version", "described", "status"),
    [
        ("claude", said("2.1.330 (Claude Code)"), said("--restricted  keep out"), Status.PASS),
        ("claude", said("2.1.197 (Claude Code)"), said("--print"), Status.WARN),
        ("claude", "it is not on PATH", "it is not on PATH", Status.FAIL),
        ("claude", said("Please log in"), said("Please log in"), Status.FAIL),
        ("claude", said("2.1.330", 1), said(""), Status.FAIL),
        ("codex", said("codex-cli 0.163.0"), said("codex-cli 0.163.0"), Status.PASS),
    ],
)
def test_coding_backends(name: str, version: Finished | str, described: Finished | str, status: Status) -> None:
    assert programs.backend_finding(name, name, version, described).status is status


@pytest.mark.fault(22)
async def test_a_configured_backend_that_is_missing_or_not_executable_fails_and_another_is_skipped(
    tmp_path: Path,
) -> None:
    plain, other = tmp_path / "claude", tmp_path / "other"
    plain.write_text("#!/bin/sh\n")
    other.write_text("#!/bin/sh\necho Please log in\n")
    other.chmod(0o700)
    wanted = [{"name": "a/b", "llm_backend": "claude"}]
    for command in (tmp_path / "missing", plain, other):
        claude, codex, key = await programs.coding_backends(
            patient(tmp_path, repositories=wanted, claude_cli=str(command))
        )
        assert (claude.status, codex.status, key.status) == (Status.FAIL, Status.SKIP, Status.FAIL)
        assert claude.next_step


async def test_a_program_is_asked_for_what_it_is(tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\ncase $1 in --version) echo 2.1.330 ;; --help) echo --restricted ;; esac\n")
    claude.chmod(0o700)
    wanted = [{"name": "a/b", "llm_backend": "claude"}]
    found = await programs.coding_backends(patient(tmp_path, repositories=wanted, claude_cli=str(claude)))
    assert (found[0].status, found[0].sentence) == (Status.PASS, f"{claude} 2.1.330.")


def test_a_model_key_is_named_by_kind_and_never_shown() -> None:
    key = programs.model_key({"ANTHROPIC_API_KEY": "canary-key"})
    assert (key.status, "canary" in key.sentence) == (Status.PASS, False)
    assert programs.model_key({}).status is Status.FAIL


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
