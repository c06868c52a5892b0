"""Logs: one line per event, bound fields, no secret, and no way to end the process."""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from logging_scene import logging_as_before

from shared.telemetry.logging import bind_agent, bind_item, configure

SECRET = 'hunter2-"quoted"-\u00e9-secret'
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("planner_agent", "worker_agent", "reviewer_agent", "shared", "config", "lab", "console")


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    with logging_as_before():
        yield


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.splitlines()]


def test_one_json_object_per_event_with_the_bound_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=True, verbose=False, secrets=())
    log = structlog.get_logger()
    bind_agent("worker-1")
    with bind_item(repo="a/b", issue=42), structlog.contextvars.bound_contextvars(run="r1"):
        log.info("issue_claimed", outcome="completed")
    log.warning("tick_failed", seconds=1.5, names=("x", "y"), nothing=None)
    first, second = lines(capsys)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", first.pop("timestamp"))
    assert first == {
        "event": "issue_claimed",
        "level": "info",
        "agent": "worker-1",
        "repo": "a/b",
        "issue": 42,
        "run": "r1",
        "outcome": "completed",
    }
    assert second["agent"] == "worker-1"
    assert (second["seconds"], second["names"], second["nothing"]) == (1.5, ["x", "y"], None)
    assert not {"repo", "issue", "run"} & set(second)


async def test_tasks_keep_their_own_item(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=True, verbose=False, secrets=())

    async def work(issue: int, mine: asyncio.Event, other: asyncio.Event) -> None:
        with bind_item(repo="a/b", issue=issue):
            mine.set()
            await other.wait()
            structlog.get_logger().info("work_done")

    first, second = asyncio.Event(), asyncio.Event()
    await asyncio.gather(work(1, first, second), work(2, second, first))
    assert sorted(line["issue"] for line in lines(capsys)) == [1, 2]


@pytest.mark.parametrize(("verbose", "events"), [(False, ["shown"]), (True, ["detail", "shown"])])
def test_verbose_adds_debug_events(capsys: pytest.CaptureFixture[str], verbose: bool, events: list[str]) -> None:
    configure(json=True, verbose=verbose, secrets=())
    structlog.get_logger().debug("detail")
    structlog.get_logger().info("shown")
    assert [line["event"] for line in lines(capsys)] == events


def test_libraries_appear_from_warning_on_in_the_same_form(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=True, verbose=True, secrets=(SECRET,))
    logging.getLogger("aiohttp").info("not shown")
    with bind_item(repo="a/b", issue=1):
        logging.getLogger("aiohttp").warning("retrying %s", SECRET)
    logging.getLogger("aiohttp").warning("%d", "no number")
    first, second = lines(capsys)
    assert (first["event"], first["level"], first["logger"], first["issue"]) == (
        "retrying ***",
        "warning",
        "aiohttp",
        1,
    )
    assert (second["event"], second["logger"]) == ("library_record_malformed", "aiohttp")


@pytest.mark.parametrize("as_json", [True, False])
def test_no_secret_in_any_place_or_encoding(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    configure(json=as_json, verbose=True, secrets=(SECRET, ""))
    log = structlog.get_logger()
    bind_agent(SECRET)
    encoded = b64encode(b"user:" + SECRET.encode()).decode()
    log.info(
        SECRET, **{SECRET: 1}, deep={SECRET: [{"k": (SECRET, SECRET.encode())}]}, obj=Path(SECRET), encoded=encoded
    )
    try:
        raise ExceptionGroup(SECRET, [ValueError(f"https://ada:{SECRET}@host/ {SECRET}")])
    except ExceptionGroup:
        log.exception("tick_failed")
    output = capsys.readouterr().err
    assert "tick_failed" in output
    assert "ValueError" in output
    assert "hunter2" not in output
    assert SECRET.encode().hex() not in output
    assert b64encode(b"user:" + SECRET.encode()).decode()[8:30] not in output


def test_the_secret_detector_of_these_tests_fires(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=True, verbose=False, secrets=("another",))
    structlog.get_logger().info("leak", value=SECRET)
    assert "hunter2" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [True, False])
def test_foreign_text_forges_no_line_and_drives_no_terminal(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    configure(json=as_json, verbose=False, secrets=())
    title = 'x\n{"event": "forged"}\r\x1b[2J\x9b31m\ud800'
    structlog.get_logger().info("issue_seen", title=title, **{"a\nb": 1})
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert not any(character in output for character in "\r\x1b\x9b")


def test_a_terminal_gets_words(capsys: pytest.CaptureFixture[str]) -> None:
    configure(json=False, verbose=False, secrets=())
    structlog.get_logger().info("issue_claimed", issue=42)
    assert re.search(r"\[info +\] issue_claimed +issue=42\n", capsys.readouterr().err)


class Refusing:
    """A standard error whose disk is full at times."""

    def __init__(self) -> None:
        self.full = True
        self.written = ""

    def write(self, text: str) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        self.written += text

    def fileno(self) -> int:
        raise ValueError("in memory")

    def isatty(self) -> bool:
        return False


@pytest.mark.fault(49)
def test_lines_that_could_not_be_written_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Refusing()
    monkeypatch.setattr(sys, "stderr", stream)
    configure(json=True, verbose=False, secrets=())
    log = structlog.get_logger()
    log.info("one")
    log.info("two")
    stream.full = False
    log.info("three")
    log.info("four")
    events = [json.loads(line) for line in stream.written.splitlines()]
    assert [event["event"] for event in events] == ["log_lines_dropped", "three", "four"]
    assert events[0]["count"] == 2


PROGRAM = """
import logging, sys, structlog
from shared.telemetry.logging import configure
configure(json=True, verbose=False, secrets=("s3cret",))
for _ in range(3):
    structlog.get_logger().info("still_alive")
    logging.getLogger("library").error("still alive")
open(sys.argv[1], "w").write("finished")
"""


@pytest.mark.fault(49)
@pytest.mark.parametrize("how", ["nobody reads", "closed", "full"])
def test_a_lost_output_does_not_end_the_process(tmp_path: Path, how: str) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "result")]
    environment = {"PYTHONPATH": str(ROOT)}
    if how == "nobody reads":
        reading, writing = os.pipe()
        os.close(reading)
        finished = subprocess.run(command, env=environment, stdout=writing, stderr=writing, check=False)
        os.close(writing)
    else:
        redirection = ">&- 2>&-" if how == "closed" else ">/dev/full 2>/dev/full"
        finished = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", *command], env=environment, check=False)
    assert (tmp_path / "result").read_text() == "finished"
    assert finished.returncode == 0


def test_event_names_are_lower_case_words_joined_by_underscores() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{call.lineno}: {name}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        if re.search(r"log(?:ger)?\s*\.", source := file.read_text(encoding="utf-8"))  # the others log nothing
        for call, name in _events(ast.parse(source))
        if not re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", name)
    ]
    assert wrong == []


def test_the_reader_of_event_names_sees_them() -> None:
    tree = ast.parse('log.info("Bad Name", x=1)\nself._log.error(f"tick {n}")\nmath.log(2)')
    assert [name for _, name in _events(tree)] == ["Bad Name", "<not a constant>"]


def _events(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield each call of a logger and the name of its event."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        target = node.func.value
        owner = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        if owner.lstrip("_") in {"log", "logger"} and node.func.attr in {
            "debug",
            "info",
            "warning",
            "error",
            "exception",
            "critical",
        }:
            event = node.args[0]
            known = isinstance(event, ast.Constant) and isinstance(event.value, str)
            yield node, str(event.value) if known else "<not a constant>"  # type: ignore[attr-defined]


def test_what_somebody_has_told_is_not_logged_and_other_warnings_and_errors_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def told(event: structlog.typing.EventDict) -> bool:
        return str(event["event"]) == "run_failed"

    configure(json=True, verbose=True, secrets=(), event_sink=told)
    log = structlog.get_logger()
    log.info("set_up_started")
    log.warning("run_failed")
    log.warning("disk_full")
    log.error("run_failed")
    log.error("stop_overdue")
    assert [(line["level"], line["event"]) for line in lines(capsys)] == [
        ("warning", "disk_full"),
        ("error", "stop_overdue"),
    ]
