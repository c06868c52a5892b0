"""Every command line that a page shows exists, with these options and arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from config.loading import read
from config.repository_file import FILE, NO_RULES, read_rules
from config.rules import unsupported
from config.settings import Settings
from config.validation import homes
from console.app import app
from runtime.arguments import parse
from shared.workflow import AGENTS, Role

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/**/*.md")])
ENGINE = typer.main.get_command(app)
ROLES = {f"{role}-agent": role for role in sorted(AGENTS)}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

_STOPS = frozenset("|&;<>()")


def fenced(text: str) -> list[tuple[str, str]]:
    """Return the blocks of a page with their languages; each opening fence is paired with its closing one."""
    return [found[1:] for found in re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)]


def shown(text: str) -> Iterator[str]:
    """Yield the lines that a reader is told to type, without prompt; `#` is root's."""
    for language, block in fenced(text):
        if language not in {"", "console", "sh", "bash"}:
            continue
        joined = block.replace("\\\n", " ")
        yield from re.findall(r"^ *[$#] (.+)$", joined, re.MULTILINE)
        yield from re.findall(r"^ *((?:workflow-engine|\w+-agent) .+)$", joined, re.MULTILINE)
    yield from re.findall(r"(?<!`)`((?:workflow-engine|\w+-agent|make|python -m) [^`]+)`", text)


def commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell line, each as its words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "#", True
    words: list[str] = []
    for word in lexer:
        if set(word) <= _STOPS:
            yield words
            words = []
        else:
            words.append(word)
    yield words


def fault(words: Sequence[str]) -> str:
    """Return the fault in a command of ours; empty for a right one, and for a command of another program."""
    if not words:
        return ""
    program, rest = Path(words[0]).name, list(words[1:])
    if program == "workflow-engine":
        return _engine(rest)
    if program in ROLES:
        return _agent(ROLES[program], rest)
    if program == "make":
        unknown = {word for word in rest if "=" not in word and not word.startswith("-")} - TARGETS
        return f"no target {unknown}" if unknown else ""
    if program.startswith("python") and rest[:1] == ["-m"]:
        return "" if find_spec(rest[1]) else f"no module {rest[1]}"
    return ""


def _engine(rest: Sequence[str]) -> str:
    """Return the fault by the options that `--help` lists; values are only examples."""
    known = getattr(ENGINE, "commands", {})
    name = next((word for word in rest if not word.startswith("-")), "")
    if not name:
        return "" if set(rest) <= {"--help", "--version"} else f"no options {rest}"
    if name not in known:
        return f"no command {name}"
    options = {"--help"}.union(*(p.opts + p.secondary_opts for p in known[name].params))
    unknown = {word.partition("=")[0] for word in rest if word.startswith("-")} - options
    return f"{name}: no options {sorted(unknown)}" if unknown else ""


def _agent(role: Role, rest: Sequence[str]) -> str:
    unknown = {word.partition("=")[0] for word in rest if word.startswith("-")} - _options(role)
    return f"{role}: no options {sorted(unknown)}" if unknown else ""


@cache
def _options(role: Role) -> frozenset[str]:
    """Return the options that the agent's own `--help` lists."""
    told = StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        parse(role, ["--help"])
    return frozenset(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", told.getvalue()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    faults = [(line, wrong) for line in shown(text) for words in commands(line) if (wrong := fault(words))]
    assert faults == []


@pytest.mark.parametrize(
    "line",
    [
        "workflow-engine polish owner/repo",
        ".venv/bin/workflow-engine doctor --jsn",
        "workflow-engine status --json | workflow-engine events --isue 42",
        "worker-agent owner/repo --onces",
        "reviewer-agent --roles debugger",
        "make tea",
        "python -m nowhere",
    ],
)
def test_a_wrong_command_would_be_seen(line: str) -> None:
    assert any(fault(words) for words in commands(line))


def test_commands_are_found_behind_blocks_of_other_kinds() -> None:
    text = "```mermaid\na\n```\n- in a list:\n\n  ```console\n  $ make tea    # at five\n  ```\n```yaml\nb: 1\n```\n"
    assert list(shown(text)) == ["make tea    # at five"]


def test_the_pages_show_every_command() -> None:
    lines = [line for page in PAGES for line in shown(page.read_text(encoding="utf-8"))]
    words = {tuple(found[:2]) for line in lines for found in commands(line) if found}
    engine = {
        second for first, second in (pair for pair in words if len(pair) == 2) if first.endswith("workflow-engine")
    }
    assert set(getattr(ENGINE, "commands", {})) <= engine


def fragments() -> Iterator[tuple[str, str]]:
    """Yield each piece of configuration that a page shows, with the page's name."""
    for page in PAGES:
        for language, block in fenced(page.read_text(encoding="utf-8")):
            found = yaml.safe_load(block) if language == "yaml" else None
            if block.startswith(f"# {FILE} "):
                continue
            if isinstance(found, dict) and is_configuration(found):
                yield page.name, json.dumps({"repositories": [{"name": "owner/repo"}], **found})


def is_configuration(block: Mapping[str, Any]) -> bool:
    """Return whether a key of the block exists in the configuration, at whatever level."""
    return any([*homes(Settings, key)] for key in block)


def test_a_piece_whose_keys_stand_at_a_wrong_level_is_looked_at_too() -> None:
    assert is_configuration({"max_attempts": 5})
    assert not is_configuration({"projects": []})
    assert {"first-steps.md", "configuration.md"} <= {page for page, _ in fragments()}


@pytest.mark.parametrize(("page", "fragment"), list(fragments()))
def test_every_configuration_that_a_page_shows_is_accepted(page: str, fragment: str, tmp_path: Path) -> None:
    file = tmp_path / page.replace(".md", ".yml")
    file.write_text(fragment, encoding="utf-8")
    directories = {"HOME": "/home/ada", "CREDENTIALS_DIRECTORY": "/run/credentials"}
    assert unsupported(read(file, environment=directories)) == ()


def test_the_rules_of_a_repository_that_a_page_shows_are_accepted() -> None:
    blocks = [block for page in PAGES for language, block in fenced(page.read_text("utf-8")) if language == "yaml"]
    shown_rules = [block for block in blocks if block.startswith(f"# {FILE} ")]
    assert shown_rules
    for block in shown_rules:
        assert read_rules(block.encode(), set()) != NO_RULES
