"""The units: systemd has no remark, little is left open, and each thing that is has its reason in the unit."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from deploy.conftest import AGENTS, DEPLOY, run
from runtime.exit_codes import MISCONFIGURED, NOT_ALLOWED
from runtime.signals import STOP_SECONDS
from shared.workflow import Role

UNITS = DEPLOY / "systemd"
MOST_EXPOSED = 31
"""Tenths of systemd's scale, which ends at 10.0, "dangerous"; a unit that sets nothing has 9.2. One is Delegate=."""

BREAKS_BUBBLEWRAP = {
    "ProtectKernelTunables",
    "ProtectKernelLogs",
    "RestrictNamespaces",
    "ProtectProc",
    "ProcSubset",
    "PrivateUsers",
    "DynamicUser",
}
"""Settings with which bubblewrap does not start, on some kernels or on all."""

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")


def text(agent: str) -> str:
    return (UNITS / f"{agent}-agent@.service").read_text(encoding="utf-8")


def settings(agent: str) -> list[tuple[str, str]]:
    lines = [line.partition("=") for line in text(agent).splitlines() if "=" in line and not line.startswith("#")]
    return [(name, value) for name, _, value in lines]


def machine(root: Path) -> Path:
    """Make the root directory of a machine on which the engine is installed."""
    shutil.copytree("/usr/lib/systemd/system", root / "usr/lib/systemd/system", symlinks=True)
    programs = [f"opt/workflow-engine/bin/{agent}-agent" for agent in AGENTS]
    for program in (*programs, "bin/kill"):
        (root / program).parent.mkdir(parents=True, exist_ok=True)
        (root / program).touch(mode=0o755)
    shutil.copytree(UNITS, root / "etc/systemd/system")
    return root


def remarks(root: Path, agent: str) -> str:
    done = run("systemd-analyze", "verify", "--man=no", f"--root={root}", f"{agent}-agent@team.service")
    return f"{done.stdout}{done.stderr}" + (f"exit code {done.returncode}" if done.returncode else "")


@needs_systemd
@pytest.mark.parametrize("agent", AGENTS)
def test_systemd_has_no_remark(agent: str, tmp_path: Path) -> None:
    assert remarks(machine(tmp_path / "root"), agent) == ""


@needs_systemd
@pytest.mark.parametrize(
    ("right", "wrong", "remark"),
    [("ProtectHome=", "ProtectHoem=", "Unknown key"), ("/bin/worker-agent", "/bin/worker", "not executable")],
)
def test_a_mistake_would_be_remarked(right: str, wrong: str, remark: str, tmp_path: Path) -> None:
    unit = machine(tmp_path / "root") / "etc/systemd/system/worker-agent@.service"
    unit.write_text(text("worker").replace(right, wrong), encoding="utf-8")
    assert remark in remarks(tmp_path / "root", "worker")


@needs_systemd
@pytest.mark.parametrize("agent", AGENTS)
def test_little_is_left_open(agent: str) -> None:
    command = ("systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}")
    done = run(*command, UNITS / f"{agent}-agent@.service")
    assert done.returncode == 0, done.stdout


@needs_systemd
def test_without_one_setting_more_would_be_open_than_allowed(tmp_path: Path) -> None:
    unit = tmp_path / "worker-agent@.service"
    unit.write_text(text("worker").replace("CapabilityBoundingSet=\n", ""), encoding="utf-8")
    command = ("systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}")
    assert run(*command, unit).returncode != 0


@needs_systemd
@pytest.mark.parametrize("agent", AGENTS)
def test_each_thing_left_open_has_its_reason_in_the_unit(agent: str) -> None:
    done = run("systemd-analyze", "security", "--offline=true", "--json=short", UNITS / f"{agent}-agent@.service")
    opened = {re.split(r"[=/]", found["name"])[0] for found in json.loads(done.stdout) if not found["set"]}
    comments = "\n".join(line for line in text(agent).splitlines() if line.startswith("#"))
    assert opened >= BREAKS_BUBBLEWRAP - {"DynamicUser"}
    assert {name for name in opened if f"{name}=" not in comments} == set()


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_is_set_with_which_bubblewrap_does_not_start(agent: str) -> None:
    known = dict(settings(agent))
    assert BREAKS_BUBBLEWRAP & set(known) == set()
    assert "@mount" in known["SystemCallFilter"].split()
    assert "AF_NETLINK" in known["RestrictAddressFamilies"].split()


@pytest.mark.parametrize("agent", AGENTS)
def test_the_unit_stops_and_starts_as_the_agent_does(agent: str) -> None:
    known = dict(settings(agent))
    assert known["Type"] == "notify"
    assert int(known["TimeoutStopSec"]) > STOP_SECONDS
    assert known["RestartPreventExitStatus"].split() == [str(MISCONFIGURED), str(NOT_ALLOWED)]
    assert known["ExecStart"] == f"/opt/workflow-engine/bin/{Role(agent)}-agent --config /etc/workflow-engine/%i.yml"
    assert (known["StateDirectory"], known["User"]) == ("workflow-engine/%i", "workflow-engine")


def test_the_units_differ_in_who_they_are_and_in_whose_token_they_get() -> None:
    def plain(agent: str) -> str:
        whose = "reviewer-token" if agent == "reviewer" else "github-token"
        return "\n".join(text(agent).replace(whose, "TOKEN").replace(agent, "AGENT").splitlines()[1:])

    assert plain("planner") == plain("worker") == plain("reviewer")
    assert "github-token" not in text("reviewer")
    assert "reviewer-token" not in text("worker") + text("planner")


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="systemd is not installed here")
def test_the_account_can_be_made(tmp_path: Path) -> None:
    done = run("systemd-sysusers", "--dry-run", f"--root={tmp_path}", UNITS / "workflow-engine.sysusers.conf")
    assert (done.returncode, "workflow-engine" in done.stdout + done.stderr) == (0, True), done.stderr
