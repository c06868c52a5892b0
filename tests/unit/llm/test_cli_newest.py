"""The choice of a coding CLI's program, and the message about it; the programs are scripts."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from shared.errors import Misconfigured
from shared.llm import cli_backends
from shared.llm.cli.programs import home, newest


def script(path: Path, said: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{said}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("installed", "on_path", "wins"),
    [
        ("echo '2.1.9 (Claude Code)'", "echo '2.1.10 (Claude Code)'", "path"),
        ("echo 2.1.10", "echo 2.1.9", "installed"),
        ("echo 2.1.9", "echo 2.1.9", "installed"),
        ("exit 1", "echo 0.1", "path"),
        ("echo 0.1", "echo who knows", "installed"),
    ],
    ids=["newer on PATH", "newer one installed", "the same", "the installed one does not run", "no version on PATH"],
)
async def test_the_newest_that_runs_is_used_and_said(tmp_path: Path, installed: str, on_path: str, wins: str) -> None:
    ours = script(home(tmp_path, "claude") / "0.2.187" / cli_backends()["claude"].package.program, installed)
    theirs = script(tmp_path / "bin" / "claude", on_path)
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    chosen = await newest("claude", "claude", tmp_path, environment)
    used, left = (ours, theirs) if wins == "installed" else (theirs, ours)
    assert chosen.path == used
    assert f"is used: {used} (" in chosen.sentence
    assert f"not {left} (" in chosen.sentence


async def test_a_program_that_cannot_be_the_one_that_is_meant_is_not_run_and_not_used(tmp_path: Path) -> None:
    """`mini` is a common name, and mini-swe-agent's has no option that tells its version."""
    place = home(tmp_path, "mini") / "2.4.6"
    ours = script(place / cli_backends()["mini"].package.program, shlex.join(("touch", str(tmp_path / "ran"))))
    script(tmp_path / "bin" / "mini", f"touch {shlex.quote(str(tmp_path / 'ran'))}; echo 9.9.9")
    (place / "minisweagent").mkdir()
    about = place / "mini_swe_agent-2.4.6.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mini-swe-agent\nVersion: 2.4.6\n")
    chosen = await newest("mini", "mini", tmp_path, {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})
    assert chosen.path == ours
    assert f"is used: {ours} (2.4.6), not {tmp_path / 'bin' / 'mini'} (does not run)" in chosen.sentence
    assert not (tmp_path / "ran").exists()


async def test_what_is_named_is_used_unasked(tmp_path: Path) -> None:
    script(home(tmp_path, "claude") / "9.9.9" / cli_backends()["claude"].package.program, "touch asked")
    named = script(tmp_path / "mine", shlex.join(("touch", str(tmp_path / "asked"))))
    chosen = await newest("claude", str(named), tmp_path, {"PATH": "/usr/bin:/bin"})
    assert (chosen.path, chosen.sentence) == (named, "")
    assert not (tmp_path / "asked").exists()


async def test_without_any_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="install-cli codex"):
        await newest("codex", "codex", tmp_path, {"PATH": str(tmp_path)})
