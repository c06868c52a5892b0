"""The command line of the agents."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest

from runtime.arguments import Arguments, parse
from shared.workflow import AGENTS, Role

PLAIN = Arguments(None, None, once=False, wait=True, verbose=False, agent_id=None)


@pytest.mark.parametrize("role", sorted(AGENTS))
def test_without_words_an_agent_polls_what_is_configured(role: Role) -> None:
    assert parse(role, []) == PLAIN


@pytest.mark.parametrize(
    ("words", "once", "wait"),
    [(["--once"], True, True), (["--no-wait"], True, False), (["--once", "--no-wait"], True, False)],
)
def test_once_and_no_wait(words: list[str], once: bool, wait: bool) -> None:
    got = parse(Role.WORKER, words)
    assert (got.once, got.wait) == (once, wait)


def test_every_word_of_a_worker() -> None:
    got = parse(Role.WORKER, ["ada/thing", "--config", "x.yml", "--verbose", "--agent-id", "worker-a"])
    assert got == Arguments("ada/thing", Path("x.yml"), once=False, wait=True, verbose=True, agent_id="worker-a")


def test_a_story_is_planned_once(tmp_path: Path) -> None:
    got = parse(Role.PLANNER, ["ada/thing", "--story", "Search users", "--yes"])
    assert (got.story, got.yes, got.once, got.wait) == ("Search users", True, True, True)
    file = tmp_path / "story.md"
    file.write_text("Grüße\n", encoding="utf-8")
    assert parse(Role.PLANNER, ["--story-file", str(file)]).story == "Grüße\n"


@pytest.mark.parametrize(
    ("role", "words", "sentence"),
    [
        (Role.WORKER, ["--story", "x"], "No such option '--story'"),
        (Role.REVIEWER, ["a/b", "c/d"], "unexpected extra argument (c/d)"),
        (Role.PLANNER, ["--story", "x", "--daemon"], "--story, --story-file and --daemon exclude each other"),
        (Role.PLANNER, ["--story", " \n"], "the story is empty"),
        (Role.PLANNER, ["--story-file", "/nowhere/at/all"], "cannot be read"),
        (Role.PLANNER, ["--yes"], "--yes goes with --story"),
        (Role.WORKER, ["--config"], "Option '--config' requires an argument"),
        (Role.WORKER, ["--config", "a.yml", "--config=b.yml"], "--config is given twice, and one alone can count"),
    ],
)
def test_wrong_words_are_named_and_end_with_code_2(
    role: Role, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(role, words)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.startswith(f"Usage: {role}-agent") or sentence.startswith("Option")


@pytest.mark.parametrize("word", ["-h", "--help"])
@pytest.mark.parametrize("role", sorted(AGENTS))
def test_help_names_what_this_agent_understands(role: Role, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(role, [word])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Usage: {role}-agent [OPTIONS] [owner/repo]")
    assert ("--story-file" in said, "--roles" in said) == (role is Role.PLANNER, role is Role.WORKER)


@pytest.mark.fault(19)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"  \n"])
def test_a_story_file_that_is_no_text_or_empty_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "story.md"
    file.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        parse(Role.PLANNER, ["--story-file", str(file)])
    assert ended.value.code == 2


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard input and output a terminal."""
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("role", "words", "interactive"),
    [
        (Role.PLANNER, ["a/b"], True),
        (Role.PLANNER, [], False),
        (Role.PLANNER, ["a/b", "--daemon"], False),
        (Role.PLANNER, ["a/b", "--once"], False),
        (Role.PLANNER, ["a/b", "--no-wait"], False),
        (Role.PLANNER, ["a/b", "--story", "x"], False),
        (Role.WORKER, ["a/b"], False),
        (Role.REVIEWER, ["a/b"], False),
    ],
)
def test_only_a_planner_that_was_not_told_what_to_do_asks(role: Role, words: list[str], interactive: bool) -> None:
    got = parse(role, words)
    assert got.interactive is interactive
    assert got.once or not interactive


def test_without_a_terminal_nobody_is_asked() -> None:
    assert not parse(Role.PLANNER, ["a/b"]).interactive


def test_a_story_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("Search users\n\nBy name.\n"))
    assert parse(Role.PLANNER, ["--story-file", "-"]).story == "Search users\n\nBy name.\n"


def test_the_version_is_told_even_from_a_checkout(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(Role.WORKER, ["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip()
