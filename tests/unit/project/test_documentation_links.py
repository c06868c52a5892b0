"""Pages lead to each other, what they link is there, and none is too long to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

MAX_LINES = 400
"""A longer page is two pages; what is printed from the model does not count."""

README_LINES = 150
"""The README is read in a few minutes, with its picture."""

_FENCED = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
_PRINTED = re.compile(r"<!-- (\w+):begin -->\n.*?<!-- \1:end -->", re.DOTALL)


def prose(page: Path) -> str:
    """Return a page without its blocks of code, in which nothing is a link or a heading."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def links(text: str) -> Iterator[tuple[str, str]]:
    """Yield path and anchor of each link that does not leave the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(text: str) -> set[str]:
    """Return GitHub's anchors of the headings; https://docs.github.com/en/get-started/writing-on-github."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def broken(page: Path) -> Iterator[str]:
    """Yield the fault of each link of a page that leads nowhere."""
    for path, anchor in links(prose(page)):
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{path}: there is no such file"
        elif anchor and anchor not in anchors(prose(target)):
            yield f"{path}#{anchor}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`: three\n[a](#one-two-three) [b](#four) [c](gone.md)\n```\n[d](code.md)\n```\n", "utf-8"
    )
    assert list(broken(page)) == ["#four: there is no such heading", "gone.md: there is no such file"]


def test_every_page_is_reached_from_the_readme_and_named_in_the_index() -> None:
    seen, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            waiting += [page.parent / path for path, _ in links(prose(page)) if path]
    assert {str(page.relative_to(ROOT)) for page in set(PAGES) - seen} <= {"CHANGELOG.md"}
    index = ROOT / "docs/README.md"
    named = {path for path, _ in links(prose(index))}
    assert {page.name for page in ROOT.glob("docs/*.md")} - named == {"README.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_is_too_long(page: Path) -> None:
    written = _PRINTED.sub("", page.read_text(encoding="utf-8"))
    assert page.name in {"CHANGELOG.md", "messages.md"} or len(written.splitlines()) <= MAX_LINES


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


_PRINTED_LINK = re.compile(r"[\"']((?:docs|config|shared)/[\w./-]+\.(?:md|yml|example))(?:#([\w-]+))?[\"']")


def test_every_page_that_the_programs_link_is_there_with_its_heading() -> None:
    """The arguments of `console.manual.link`, which knows nothing of the tree, are existing pages and headings."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("console/**/*.py"))]
    named = {found for source in sources for found in _PRINTED_LINK.findall(source) if "manual import link" in source}
    assert len(named) >= 5
    gone = [path for path, _ in named if not (ROOT / path).is_file()]
    lost = [(path, anchor) for path, anchor in named if anchor and anchor not in anchors(prose(ROOT / path))]
    assert (gone, lost) == ([], [])
