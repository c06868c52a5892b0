"""The programs' printed advice: it is useful without a checkout, with the addresses of pages and no tree's command."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
import typer

from console import manual
from console.app import app
from console.init.files import Blanks, configuration, example

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("planner_agent", "worker_agent", "reviewer_agent", "shared", "config", "runtime", "console")
SOURCES = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
TARGETS = "|".join(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

PRINTERS = {"config/documentation.py", "config/health.py"}
"""Files that write the tree's files, or that only a container calls by itself."""

_FILE = re.compile(r"(?<![\w./-])[\w.-]+(?:/[\w.-]+)+\.[a-z]+(?:#[\w-]+)?")
_COMMAND = re.compile(
    rf"(?:^|[`'\s])make (?:{TARGETS})(?=$|[`'\s.,;])|\.venv/bin|python3? -m (?:{'|'.join(PACKAGES)}|lab)\b"
)


def of_tree(text: str) -> list[str]:
    """Return the names in a text that exist only in a checkout: files of the tree, and commands."""
    files = [found for found in _FILE.findall(text) if (ROOT / found.partition("#")[0]).is_file()]
    return files + [found.strip("`' ") for found in _COMMAND.findall(text)]


def strings(source: str) -> Iterator[str]:
    """Yield every text of a source file but docstrings, which only its reader sees."""
    tree = ast.parse(source)
    read = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in read:
            yield node.value


@cache
def named() -> Sequence[tuple[str, str, list[str]]]:
    """Return file, text and what only a checkout has of each printed text that names something of the tree."""
    texts = (
        (name, text)
        for file in SOURCES
        if (name := str(file.relative_to(ROOT))) not in PRINTERS
        for text in strings(file.read_text(encoding="utf-8"))
    )
    return [(name, text, found) for name, text in texts if (found := of_tree(text))]


def test_no_sentence_names_what_only_a_checkout_has() -> None:
    """A text that is nothing but the path of a file of the tree is one that `manual.link` is given."""
    assert [(name, wrong) for name, text, found in named() if found != [text] for wrong in found] == []


def test_a_page_that_is_named_is_made_a_link() -> None:
    pages = [name for name, text, found in named() if found == [text]]
    assert len(pages) >= 5
    unlinked = [name for name in pages if "from console.manual import link" not in (ROOT / name).read_text("utf-8")]
    assert unlinked == []


@pytest.mark.parametrize(
    "sentence",
    [
        "See docs/security.md, or choose another mode.",
        "copy config/repos.yml.example to config/repos.yml",
        "a model of the list in shared/llm/prices.yml",
        "Run `make setup` first.",
        "then .venv/bin/workflow-engine doctor",
        "it is written by python -m config",
    ],
)
def test_advice_for_a_checkout_alone_would_be_seen(sentence: str) -> None:
    assert of_tree(sentence) != []


def test_no_help_names_what_only_a_checkout_has() -> None:
    commands = getattr(typer.main.get_command(app), "commands", {})
    told = [
        text
        for command in commands.values()
        for text in (command.help, *(getattr(one, "help", None) for one in command.params))
        if text
    ]
    assert len(told) > 50
    assert [wrong for text in told for wrong in of_tree(text)] == []


def test_links_begin_with_the_address_that_the_package_names() -> None:
    source = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]
    assert manual.link("docs/security.md#limits") == f"{source}/blob/main/docs/security.md#limits"
    assert manual.linked("as in docs/budgets.md.") == f"as in {source}/blob/main/docs/budgets.md."


def test_the_configuration_that_init_writes_links_its_pages() -> None:
    written = configuration(example(), Blanks("ada/directory", Path("/keys/lock.key")))
    assert of_tree(re.sub(r"https://\S+", "", written)) == []
    assert manual.link("docs/configuration.md") in written
