"""The report's pipe: what is written goes through once, whoever writes it and whatever becomes of its name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from worker_agent.tdd.runners import run_output as room
from worker_agent.tdd.runners.run_output import ReportPipe, report_pipe


def test_everything_that_is_written_is_read(tmp_path: Path) -> None:
    with report_pipe(tmp_path / "report") as pipe:
        (tmp_path / "report").write_bytes(b"a" * 300_000)
    assert pipe.data == b"a" * 300_000
    assert not (tmp_path / "report").exists()


def test_several_writers_come_one_after_the_other(tmp_path: Path) -> None:
    with report_pipe(tmp_path / "report") as pipe:
        (tmp_path / "report").write_bytes(b"first")
        (tmp_path / "report").write_bytes(b"second")
    assert pipe.data == b"firstsecond"


def test_nobody_need_write(tmp_path: Path) -> None:
    begun = time.perf_counter()
    with report_pipe(tmp_path / "report") as pipe:
        pass
    assert pipe.data == b""
    assert time.perf_counter() - begun < 2, "nothing is waited for"


def test_a_writer_that_never_closes_ends_with_the_run(tmp_path: Path) -> None:
    with report_pipe(tmp_path / "report") as pipe:
        held = os.open(tmp_path / "report", os.O_RDWR)
        os.write(held, b"half")
    os.close(held)
    assert pipe.data == b"half"


def test_what_is_above_the_limit_shows_as_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "REPORT_LIMIT", 100_000)
    with report_pipe(tmp_path / "report") as pipe:
        (tmp_path / "report").write_bytes(b"a" * 500_000)
    assert len(pipe.data) == 100_001


@pytest.mark.parametrize("put", ["directory", "file", "nothing"])
def test_its_name_may_be_somebody_elses_in_the_end(tmp_path: Path, put: str) -> None:
    path = tmp_path / "report"
    with report_pipe(path) as pipe:
        path.unlink()
        if put == "directory":
            path.mkdir()
        elif put == "file":
            path.write_bytes(b"a report")
    assert pipe.data == b""


def test_a_second_reader_only_takes_from_the_report(tmp_path: Path) -> None:
    pipe = ReportPipe(tmp_path / "report")
    other = os.open(tmp_path / "report", os.O_RDONLY | os.O_NONBLOCK)
    held = os.open(tmp_path / "report", os.O_WRONLY)
    os.write(held, b"taken")
    assert os.read(other, 100) == b"taken"
    pipe.start()
    os.write(held, b"left")
    os.close(held)
    pipe.stop()
    os.close(other)
    assert pipe.data == b"left"
