"""Faults of the machine: each is told in one sentence, with the exit code of a wrong configuration."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from console.history.repository_reader import unreadable
from console.machine_faults import as_engine_error, nobody_reads
from console.printer import Printer
from shared.errors import Transient

ROOT = Path(__file__).parents[3]

NO_FILE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from console.__main__ import main
for words in sys.argv[1:]:
    sys.argv = ["workflow-engine", *words.split()]
    try:
        main()
    except SystemExit as end:
        print(f"{end.code}", file=sys.stderr)
"""
"""The program, once for each argument, on a machine where no file can be written, neither in /tmp nor elsewhere."""

NEED_FILES = ("init a/b --dry-run", "status a/b", "replay .", "uninstall a/b --yes")
"""Commands that write temporary files before anything else can fail."""

READ_ONLY = OSError(errno.EROFS, os.strerror(errno.EROFS), "/state/mirrors/a.git.lock")


def ended(directory: Path, *argv: str) -> tuple[int, str]:
    """Return the exit code and the error output of a program that has a small environment."""
    env = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(directory), "GITHUB_TOKEN": "none"}
    done = subprocess.run(
        [sys.executable, *argv], env=env, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode, done.stderr.decode()


def test_no_temporary_directory(tmp_path: Path) -> None:
    code, said = ended(tmp_path, "-c", NO_FILE, *NEED_FILES)
    lines = said.splitlines()
    assert (code, lines[1::2]) == (0, ["2"] * len(NEED_FILES)), said
    for sentence in lines[::2]:
        assert sentence.startswith("No temporary directory can be used")
        assert "set TMPDIR to a directory" in sentence


def test_a_program_cannot_be_installed_where_nothing_can_be_written(tmp_path: Path) -> None:
    code, said = ended(tmp_path, "-m", "console", "install-cli", "claude", "--state-dir", "/proc/x")
    (sentence,) = said.splitlines()
    assert sentence.startswith("Nothing can be installed there: /proc/x")
    assert sentence.endswith("Give another place with --state-dir.")
    assert code == 2


def test_what_is_no_fault_of_the_machine_stays_a_bug() -> None:
    assert as_engine_error(ValueError("no")) is None
    assert as_engine_error(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
    assert as_engine_error(ExceptionGroup("", [READ_ONLY, ValueError("no")])) is None


def test_a_fault_in_groups_is_found() -> None:
    told = as_engine_error(ExceptionGroup("", [ExceptionGroup("", [READ_ONLY])]))
    assert "a.git.lock: Read-only file system" in str(told)
    lost = Transient("GitHub did not answer.")
    assert as_engine_error(ExceptionGroup("", [lost])) is lost


def test_a_reader_that_left_is_told_from_everything_else() -> None:
    left = BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
    assert nobody_reads(left)
    assert nobody_reads(ExceptionGroup("", [left, ExceptionGroup("", [left])]))
    assert not nobody_reads(ExceptionGroup("", [left, ValueError("no")]))


def test_a_table_whose_reader_has_left_is_an_error_once_and_then_prints_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as output:
        printer = Printer(file=output)
        with pytest.raises(BrokenPipeError):
            printer.print("a line")
        printer.print("another")


def test_the_real_error_of_tempfile_is_known(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tempfile.mkdtemp(dir=tmp_path / "gone")
    assert as_engine_error(caught.value) is None, "a directory that somebody named is another matter"


def test_a_state_directory_that_cannot_be_written_is_told_with_what_to_do() -> None:
    said = str(unreadable("a/b", READ_ONLY))
    assert said.startswith("a/b cannot be read on this machine: the state directory cannot be used: /state/mirrors/")
    assert said.endswith("Make it writable for this account, or give another state_dir.")
