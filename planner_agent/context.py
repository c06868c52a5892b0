"""The context of a plan besides the story itself: the repository's code and conventions, and other issues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.git.ports import Mirror
from shared.github.base_branch import BaseBranch
from shared.models import Issue
from shared.text import one_line, visible

CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md")
"""Files with conventions, read from the base branch only, so that no story can bring its own."""

CONVENTIONS_CHARS = 8000
README_CHARS = 2000
FILE_CHARS = 4000
FILES_SHOWN = 5
PATHS_SHOWN = 400
COMMITS_SHOWN = 10

RELATED_CHARS = 3000
"""Characters of a related issue's text that are shown."""

_REFERENCE = re.compile(r"(?<![\w#&/])(?:#|GH-)(\d{1,9})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Code:
    """The code at the base branch; `files` is the list of paths and the content of those that the story names."""

    conventions: str
    commits: str
    files: str
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """The context of a plan besides the story's text. `discussion` is what trusted people said of it."""

    code: Code
    related: tuple[Issue, ...] = ()
    discussion: str = ""


async def look(source: Mirror, branch: BaseBranch, story: str) -> Code:
    """Return the code of the base branch as the server has it now; raises `Misconfigured` if it does not exist."""
    await source.ensure()
    await source.fetch()
    tip = await branch.head(source.tip)
    paths = await source.paths(tip)
    texts = [await _text(source, tip, path) for path in CONVENTIONS if path in paths]
    named = named_in(story, paths)
    contents = [f"--- {path}\n{(await _text(source, tip, path))[:FILE_CHARS]}" for path in named]
    commits = [f"- {one_line(commit.subject, 120)}" for commit in await source.log(tip, COMMITS_SHOWN)]
    files = "\n\n".join([_list_of_paths(paths), *contents])
    return Code("\n\n".join(texts)[:CONVENTIONS_CHARS], "\n".join(commits), files, named)


def named_in(story: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the first few paths that a text names in full, or by a file name that only one path has."""
    words = {word.strip(".,:;()[]`'\"") for word in story.split()}
    names = [path.rpartition("/")[2] for path in paths]
    named = (
        path
        for path, name in zip(paths, names, strict=True)
        if path in words or ("." in name and name in words and names.count(name) == 1)
    )
    return tuple(named)[:FILES_SHOWN]


def references(story: str, own: int) -> tuple[int, ...]:
    """Return the first few issue numbers that a text names, other than its own."""
    found = dict.fromkeys(int(number) for number in _REFERENCE.findall(story))
    return tuple(number for number in found if number and number != own)[:FILES_SHOWN]


def about(story: Issue, background: PlanningContext) -> str:
    """Return a text of labels, related issues, what trusted people said, and the last commits."""

    def parts() -> Iterator[str]:
        yield f"Labels: {', '.join(sorted(story.labels))}"
        for issue in background.related:
            state = "open" if issue.open else "closed"
            text = f"\n{visible(issue.body).strip()[:RELATED_CHARS]}".rstrip()
            yield f"Related: #{issue.number} ({state}) {one_line(issue.title, 200)}{text}"
        if background.discussion:
            yield f"Comments:\n{background.discussion}"
        yield f"Last commits:\n{background.code.commits}"

    return "\n\n".join(parts())


def _list_of_paths(paths: Sequence[str]) -> str:
    more = [f"... and {len(paths) - PATHS_SHOWN} more"] if len(paths) > PATHS_SHOWN else []
    return "\n".join([*paths[:PATHS_SHOWN], *more])


async def _text(source: Mirror, commit: str, path: str) -> str:
    text = (await source.show(commit, path) or b"").decode("utf-8", "replace")
    return text[:README_CHARS] if path == "README.md" else text
