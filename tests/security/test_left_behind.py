"""Nothing that a child leaves on the disk stops an agent: its start, its next item, or its care of the disk."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from git_remote import machine, remote_at, workspace_of
from hostile_files import DEPTH, STACK, deep, odd

from lab.github.clock import LabClock
from shared.filesystem import directories
from shared.git import disk
from shared.git.disk import IDLE_SECONDS, Disk
from shared.git.patch_policy import PatchRefused
from shared.llm import codex_output
from shared.llm.cli.directory import CallDirectory, opened, sweep
from shared.llm.cli.launch import MOST_TRANSCRIPTS, keep_events
from shared.llm.codex_output import recorded
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import ProcessLimits
from worker_agent.tdd.runners.report_runner import ReportRunner


def ruin(place: Path, levels: int = STACK) -> None:
    """Fill an existing directory with everything hostile at once."""
    outside = place / "elsewhere"
    outside.mkdir(exist_ok=True)
    (outside / "file").write_text("not yours")
    odd(place / "odd", outside)
    deep(place / "deep", levels)


def names(place: Path) -> list[str]:
    """Return the names in a directory."""
    return sorted(path.name for path in place.iterdir())


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="from 3.13 on Python itself removes it")
def test_such_a_directory_does_stop_what_python_itself_has_for_it(tmp_path: Path) -> None:
    deep(tmp_path / "deep", STACK)
    with pytest.raises((RecursionError, OSError)):
        shutil.rmtree(tmp_path / "deep")
    with pytest.raises((RecursionError, OSError)):
        list(tmp_path.rglob("*"))
    directories.remove(tmp_path / "deep")


async def test_a_start_sweeps_the_calls_of_a_killed_daemon_whatever_they_left(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    for name in ("call-dead", "call-gone"):
        (calls / name).mkdir(parents=True)
        (calls / f"{name}.lock").touch()
    ruin(calls / "call-dead", DEPTH)
    assert sweep(calls) == 2
    assert names(calls) == []


async def test_a_call_ends_whatever_it_left_and_the_loop_goes_on_meanwhile(tmp_path: Path) -> None:
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await anyio.lowlevel.checkpoint()
            beats += 1

    async with anyio.create_task_group() as group:
        async with opened(tmp_path / "calls") as call:
            ruin(call.temporary)
            group.start_soon(heart)
        group.cancel_scope.cancel()
    assert names(tmp_path / "calls") == []
    assert beats > 10, "removing did not keep the event loop"


async def test_an_idle_workspace_goes_whatever_is_in_it(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    places = tmp_path / "workspaces"
    old = places / "acme__app" / "issue-1"
    (old / "tree").mkdir(parents=True)
    ruin(old / "tree")
    _aged(old, IDLE_SECONDS + 60)
    (found,) = disk.survey(places)
    assert found.bytes >= 4096
    assert await Disk(mirror, places, LabClock()).sweep(()) == (old,)
    assert names(places / "acme__app") == []


def _aged(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


async def test_the_next_run_of_the_same_item_begins_with_a_clean_tree(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    space = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    for leave in (ruin, _deep, _pipe):
        await space.reset_tree(base)
        leave(space.tree)
        with suppress(PatchRefused):
            await space.capture(base)
        await space.reset_tree(base)
        assert await space.capture(base) == await space.tree_of(base)


def _deep(tree: Path) -> None:
    deep(tree / "deep", STACK)


def _pipe(tree: Path) -> None:
    os.mkfifo(tree / "pipe")


async def test_its_files_are_counted_and_handed_over_however_deep(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    deep(place / "deep")
    watchdog = Confinement(limits=ProcessLimits(files=2_000)).watchdog((place,))
    assert watchdog._look(os.getpid()) == "files (more than 2,000)"
    directories.remove(place)


def test_a_report_that_cannot_be_searched_for_is_none(tmp_path: Path) -> None:
    (tmp_path / "report.xml").touch()
    runner = ReportRunner("**/*.xml")
    assert len(runner.reports(tmp_path)) == 1
    deep(tmp_path / "deep")
    assert len(runner.reports(tmp_path)) <= 1
    directories.remove(tmp_path / "deep")


def test_the_record_of_a_session_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "11" / "23"
    day.mkdir(parents=True)
    os.mkfifo(day / "rollout-a.jsonl")
    (day / "rollout-b.jsonl").symlink_to("/dev/zero")
    (day / "rollout-c.jsonl").mkdir()
    usage = '{"type": "token_usage_record", "payload": {"usage": {"input_tokens": 1e999, "output_tokens": 7}}}\n'
    (day / "rollout-d.jsonl").write_text('{"type": "turn_context", "payload": {"model": "m"}}\n' + usage)
    found = recorded(tmp_path)
    assert found is not None
    assert [(one.input, one.output) for one in found.requests] == [(0, 7)]


def test_a_transcript_is_out_of_the_reach_of_its_call(tmp_path: Path) -> None:
    call = CallDirectory(tmp_path / "calls" / "call-1")
    assert not call.events.is_relative_to(call.path)


def test_no_key_is_kept_as_a_transcript_and_keeping_goes_on(tmp_path: Path) -> None:
    key, events, kept = tmp_path / "key", tmp_path / "events", tmp_path / "kept"
    key.write_text("PRIVATE KEY")
    for planted in ("symlink", "hardlink"):
        events.symlink_to(key) if planted == "symlink" else events.hardlink_to(key)
        assert keep_events(events, kept, "20260101-a.jsonl") is None
        events.unlink()
    kept.mkdir()
    (kept / "20250101-broken.jsonl").symlink_to("nowhere")
    (kept / "20250102-broken.jsonl").mkdir()
    for number in range(MOST_TRANSCRIPTS):
        (kept / f"20250103-{number:04}.jsonl").write_text("{}\n")
    events.write_text("{}\n")
    assert keep_events(events, kept, "20260102-a.jsonl") is not None
    assert len(names(kept)) == MOST_TRANSCRIPTS
    assert not [name for name in names(kept) if "broken" in name]
    assert key.read_text() == "PRIVATE KEY"


def test_no_link_leads_the_search_for_a_record_out_of_its_call_and_it_has_an_end(tmp_path: Path) -> None:
    usage = '{"type": "token_usage_record", "payload": {"usage": {"input_tokens": 5, "output_tokens": 7}}}\n'
    neighbour, home = tmp_path / "neighbour" / "2026" / "11" / "23", tmp_path / "home"
    neighbour.mkdir(parents=True)
    (neighbour / "rollout-a.jsonl").write_text(usage)
    home.mkdir()
    (home / "sessions").symlink_to(tmp_path / "neighbour")
    assert recorded(home) is None
    (home / "sessions").unlink()
    (home / "sessions").mkdir()
    (home / "sessions" / "2026").symlink_to(tmp_path / "neighbour" / "2026")
    assert recorded(home) is None
    (tmp_path / "home-2").symlink_to(tmp_path / "home-3")
    (tmp_path / "home-3" / "sessions").mkdir(parents=True)
    shutil.copytree(tmp_path / "neighbour", tmp_path / "home-3" / "sessions", dirs_exist_ok=True)
    assert recorded(tmp_path / "home-2") is None
    found = recorded(tmp_path / "home-3")
    assert found is not None, "positive control: the same record without a link"
    assert [(one.input, one.output) for one in found.requests] == [(5, 7)]
    for number in range(codex_output._MOST_ENTRIES):
        (tmp_path / "home-3" / "sessions" / f"x{number}").touch()
    assert recorded(tmp_path / "home-3") is None, "so many names and no more are looked at"
