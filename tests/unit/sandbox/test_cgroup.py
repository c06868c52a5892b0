"""Cgroups without a kernel: which one is ours, what is written into it, what is read out of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from shared.sandbox.cgroup import AGENT, Delegated, delegated, limits_text, own, taken
from shared.sandbox.limits import GIB, ProcessLimits

LIMITS = ProcessLimits(memory_bytes=GIB, processes=10, cpu_seconds=60)
WHOLE = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
HYBRID = "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
HYBRID += "33 24 0:29 / /sys/fs/cgroup/pids rw - cgroup c rw\n"
BOUND = "32 24 0:26 /system.slice/a.service /mnt/own rw - cgroup2 cgroup2 rw\n"


@pytest.mark.parametrize(
    ("groups", "mounts", "place"),
    [
        ("0::/system.slice/a.service\n", WHOLE, "/sys/fs/cgroup/system.slice/a.service"),
        ("0::/\n", WHOLE, "/sys/fs/cgroup"),
        ("4:memory:/x\n0::/\n", HYBRID, "/sys/fs/cgroup/unified"),
        ("0::/system.slice/a.service/agent\n", BOUND, "/mnt/own/agent"),
        ("0::/system.slice/a.services\n", BOUND, None),
        ("4:memory:/x\n", WHOLE, None),
        ("0::/\n", "", None),
    ],
    ids=["systemd", "container", "beside v1", "bound", "not below what is bound", "v1 alone", "not mounted"],
)
def test_where_the_cgroup_of_a_process_is(groups: str, mounts: str, place: str | None) -> None:
    assert own(groups, mounts) == (None if place is None else Path(place))


@pytest.fixture
def process(tmp_path: Path) -> Path:
    """Make a `/proc/<pid>` of a process that was given the subtree `tmp_path / tree`."""
    tree, place = tmp_path / "tree", tmp_path / "proc"
    tree.mkdir()
    place.mkdir()
    (tree / "cgroup.controllers").write_text("cpu memory pids\n")
    (tree / "cgroup.subtree_control").write_text("")
    (tree / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (place / "cgroup").write_text("0::/\n")
    (place / "mountinfo").write_text(f"30 24 0:26 / {tree} rw - cgroup2 cgroup2 rw\n")
    return place


def test_a_subtree_is_only_looked_at(process: Path) -> None:
    tree = process.parent / "tree"
    before = sorted(tree.iterdir())
    found = delegated(process)
    assert found == Delegated(tree)
    assert "without gaps" in limits_text(found)
    assert sorted(tree.iterdir()) == before


def test_from_the_leaf_of_an_agent_it_is_the_same_one(process: Path) -> None:
    (process / "cgroup").write_text(f"0::/{AGENT}\n")
    assert delegated(process) == Delegated(process.parent / "tree")


def test_why_there_is_none_is_said(process: Path) -> None:
    tree = process.parent / "tree"
    (tree / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert delegated(process) == "The cgroup of this process is shared with others."
    (tree / "cgroup.controllers").write_text("cpu pids\n")
    assert delegated(process) == "The cgroup of this process has no controller memory."
    (process / "cgroup").write_text("")
    found = delegated(process)
    assert (
        limits_text(found) == "Limits hold by a watchdog that looks five times a second: this machine has no cgroup v2."
    )
    assert taken(process) == found


def test_what_cannot_be_divided_is_left_alone(process: Path) -> None:
    (process.parent / "tree" / AGENT).mkdir()  # and the kernel has put no file into it
    assert taken(process) == "The cgroup of this process cannot be divided: No such file or directory."


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a subtree in which each new cgroup has the files that the kernel would make there."""
    real = Path.mkdir

    def mkdir(self: Path) -> None:
        real(self)
        for name in ("memory.max", "memory.oom.group", "pids.max", "cgroup.procs", "cgroup.kill"):
            (self / name).touch()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    return tmp_path


def test_a_command_enters_its_box_before_it_runs(tree: Path) -> None:
    box = Delegated(tree).box(LIMITS)
    written = {name: (box.outer / name).read_text() for name in ("memory.max", "memory.oom.group", "pids.max")}
    assert written == {"memory.max": str(GIB), "memory.oom.group": "1", "pids.max": "10"}
    argv = box.argv(("/bin/sh", "-c", 'cat "$1"; echo $$', "sh", str(box.inner / "cgroup.procs")))
    entered, own_number = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert entered == own_number
    assert (box.outer / "memory.max").read_text() == str(GIB), "the limits are not where the processes are"


def test_a_command_that_may_not_enter_does_not_run(tree: Path) -> None:
    box = Delegated(tree).box(LIMITS)
    argv = box.argv(("echo", "ran"))
    (box.inner / "cgroup.procs").unlink()
    (box.inner / "cgroup.procs").mkdir()
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("events", "limit"),
    [
        ({}, None),
        ({"memory.events": "low 0\nmax 7\noom 0\noom_kill 0\n"}, None),
        ({"memory.events": "max 9\noom 1\noom_kill 3\n"}, "memory (more than 1.0 GiB)"),
        ({"pids.events": "max 2\n"}, "processes (more than 10)"),
        ({"cpu.stat": "usage_usec 60000000\nuser_usec 1\n"}, None),
        ({"cpu.stat": "usage_usec 60000001\nuser_usec 1\n"}, "CPU time (more than 60 seconds)"),
    ],
    ids=["nothing", "reclaimed", "out of memory", "no more processes", "CPU at its limit", "CPU above it"],
)
def test_the_limit_that_the_kernel_has_held_is_named(tree: Path, events: dict[str, str], limit: str | None) -> None:
    box = Delegated(tree).box(LIMITS)
    for name, text in events.items():
        (box.outer / name).write_text(text)
    assert box.passed() == limit


def test_a_box_that_is_not_empty_yet_goes_with_the_next_one(tmp_path: Path) -> None:
    group = Delegated(tmp_path)
    outer = tmp_path / "box-1-0"
    (outer / "inner" / "still-there").mkdir(parents=True)
    group.leftovers.append(outer)
    with pytest.raises(FileNotFoundError):
        group.box(LIMITS)  # no kernel here
    assert group.leftovers == [outer]
    (outer / "inner" / "still-there").rmdir()
    with pytest.raises(FileNotFoundError):
        group.box(LIMITS)
    assert (group.leftovers, outer.exists()) == ([], False)


def test_what_killed_agents_have_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    dead, alive = tmp_path / "box-4194999-0", tmp_path / f"box-{os.getpid()}-0"
    for box in (dead, alive):
        (box / "inner").mkdir(parents=True)
    Delegated(tmp_path).sweep()
    assert (dead.exists(), alive.exists()) == (False, True)
