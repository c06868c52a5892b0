"""The input of one review, read from git: the change, its new part, the specification, the evidence.

Public names that a change removes or renames are found mechanically, whatever a model says of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import anyio.to_thread

from reviewer_agent.review import patch
from reviewer_agent.review.patch import Patch
from reviewer_agent.review.previous_findings import EarlierRounds
from reviewer_agent.review.questions import Recorded
from shared.errors import Blocked, Gone
from shared.git.failures import NoSuchRef, TooMuchOutput
from shared.git.ports import Mirror
from shared.models import PullRequest
from shared.specification import read

CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md")
"""Instruction files; read from the base commit only, so that no change can instruct its own reviewer."""

CONVENTIONS_CHARS = 8000

MODULES = 200
"""Maximum number of changed files that are searched for names that are gone."""


class NothingToReview(Blocked):
    """The pull request changes nothing: close it, or push the change."""


@dataclass(frozen=True, slots=True)
class ReviewSubject:
    """The text that a change is judged against: an issue or the pull request's description; `evidence` is its claim.

    `text` tells which text of an issue that is, see `verdict.text_key`.
    """

    title: str
    body: str
    evidence: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class ReviewInput:
    """All inputs about one head. `since` is what changed after the round before, None if there was none.

    `removed` are public names that are gone, as `path: name`; `recorded` is what the engine itself knows of its tests.
    """

    subject: ReviewSubject
    pull_request: PullRequest
    change: Patch
    earlier: EarlierRounds
    since: Patch | None = None
    conventions: str = ""
    recorded: Recorded = field(default_factory=Recorded)
    removed: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[tuple[str, str], ...]:
        """The acceptance criteria, id and text."""
        return tuple((criterion.id, criterion.text) for criterion in read(self.subject.body).criteria)


class ReviewInputs:
    """Reader of a change from the repository's copy on this machine."""

    def __init__(
        self, source: Mirror, records: Callable[[PullRequest, str], Awaitable[Recorded]], diff_bytes: int
    ) -> None:
        """Read with `records` what the engine knows of a pull request's tests, given the commit of its base."""
        self.source = source
        self._records = records
        self._diff_bytes = diff_bytes

    async def bring(self, pull_request: PullRequest) -> str:
        """Fetch the head and the base; return the commit of the base as the server has it now."""
        await self.source.ensure()
        base = await self.source.refresh(f"refs/heads/{pull_request.base_branch}")
        if base is None:
            raise Blocked(f"The base branch '{pull_request.base_branch}' does not exist any more.")
        if await self.source.sha(pull_request.head_sha) is None:
            try:
                await self.source.fetch(pull_request.head_sha)
            except NoSuchRef as error:
                raise Gone(f"The commit {pull_request.head_sha[:12]} is not in the repository any more.") from error
        return base

    async def gather(self, pull_request: PullRequest, subject: ReviewSubject, earlier: EarlierRounds) -> ReviewInput:
        """Return everything that is judged. Raises `NothingToReview`, `Blocked`, `Gone` and `Transient`."""
        base, head = await self.bring(pull_request), pull_request.head_sha
        diff = await self._diff(base, head)
        if not diff.strip():
            raise NothingToReview
        change = patch.read(diff, self._diff_bytes)
        return ReviewInput(
            subject,
            pull_request,
            change,
            earlier,
            since=await self._since(earlier.sha, head),
            conventions=await self._conventions(base),
            recorded=await self._records(pull_request, base),
            removed=await self._removed_names(base, head, change),
        )

    async def is_same(self, review_input: ReviewInput, sha: str) -> bool:
        """Return whether the head makes the same change as the older commit `sha`, on any base. Raises `Transient`."""
        pull_request = review_input.pull_request
        base = await self.bring(pull_request)
        try:
            if await self.source.sha(sha) is None:
                await self.source.fetch(sha)
        except NoSuchRef:
            return False
        return patch.is_same(await self._diff(base, sha), await self._diff(base, pull_request.head_sha))

    async def _diff(self, base: str, head: str) -> str:
        try:
            return await self.source.diff(base, head)
        except TooMuchOutput as error:
            raise Blocked("The change is too large to be reviewed by the engine: a person reviews it.") from error

    async def _since(self, judged: str, head: str) -> Patch | None:
        """Return the new part; None also if the commit judged before is gone: then nobody knows what is new."""
        if not judged or judged == head:
            return None
        try:
            if await self.source.sha(judged) is None:
                await self.source.fetch(judged)
        except NoSuchRef:
            return None
        return patch.read(await self._diff(judged, head), self._diff_bytes)

    async def _conventions(self, base: str) -> str:
        found = [await self.source.show(base, name) for name in CONVENTIONS]
        return "\n\n".join(text.decode("utf-8", "replace") for text in found if text)[:CONVENTIONS_CHARS]

    async def _removed_names(self, base: str, head: str, change: Patch) -> tuple[str, ...]:
        """Return the public names that are gone, compared with the present base: others' removals do not count."""
        gone: list[str] = []
        for path in sorted(filter(is_public, change.lessened))[:MODULES]:
            before, after = await self._text(base, path), await self._text(head, path)
            names = await anyio.to_thread.run_sync(removed, path, before, after)
            gone += [f"{path}: {name}" for name in names]
        return tuple(gone)

    async def _text(self, commit: str, path: str) -> str:
        return (await self.source.show(commit, path) or b"").decode("utf-8", "replace")


SOURCE_BYTES = 1_000_000
"""Characters of the longest file that is parsed; nobody writes a longer one by hand."""

_PRIVATE_PARTS = frozenset(
    {"test", "tests", "testing", "__tests__", "spec", "docs", "examples", "benchmarks", "scripts"}
)
"""Directories with code that nobody outside of the repository calls."""

_TEST_FILE = re.compile(r"(test_.*|.*_test|.*[.](test|spec)|conftest|setup)[.]\w+")

_OTHERS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts"),
        re.compile(
            r"export\s+(?:default\s+|declare\s+|abstract\s+|async\s+)*"
            r"(?:function\*?|class|const|let|var|interface|type|enum)\s+(\w+)"
        ),
    ),
    ".go": re.compile(r"(?:func\s+(?:\([^)]*\)\s*)?|type\s+|var\s+|const\s+)([A-Z]\w*)"),
    ".rs": re.compile(r"pub\s+(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|type|mod|static|const)\s+(\w+)"),
    ".java": re.compile(r"\s*public\s+(?:[\w<>\[\],]+\s+)*?(?:class|interface|enum|record)\s+(\w+)"),
}
"""Patterns of public declarations in other languages; only declarations on one line are found."""


def is_public(path: str) -> bool:
    """Return whether a file is of a kind that is searched, and may be imported from outside."""
    place = PurePosixPath(path)
    if place.suffix != ".py" and place.suffix not in _OTHERS:
        return False
    hidden = any(part in _PRIVATE_PARTS or part.startswith((".", "_")) for part in place.parts[:-1])
    private = place.name.startswith("_") and place.stem != "__init__"
    return not (hidden or private or _TEST_FILE.fullmatch(place.name))


def removed(path: str, before: str, after: str) -> tuple[str, ...]:
    """Return the public names that the file has `before` and no longer `after` (empty: it is gone), sorted.

    A file that cannot be parsed counts as losing nothing: the model and the checks see that it is broken.
    """
    if max(len(before), len(after)) > SOURCE_BYTES:
        return ()
    if PurePosixPath(path).suffix == ".py":
        old, new = _names_of_python(before), _names_of_python(after)
        return () if old is None or new is None else tuple(sorted(old[0] - new[1]))
    pattern = _OTHERS[PurePosixPath(path).suffix]
    return tuple(sorted(_declared_names(pattern, before) - _declared_names(pattern, after)))


def _declared_names(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(found[1] for line in text.splitlines() if (found := pattern.match(line)))


def _names_of_python(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return a module's public names, and all names that it offers, imported ones too; None if it cannot be parsed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    defined = frozenset(_defined_names(tree.body))
    public = frozenset(name for name in defined if not any(part.startswith("_") for part in name.split(".")))
    return public, defined | frozenset(_imported_names(tree.body))


def _defined_names(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield owner + name
            case ast.ClassDef(name=name):
                yield owner + name
                yield from _defined_names(statement.body, f"{owner}{name}.")
            case ast.Assign(targets=targets):
                yield from (owner + one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield owner + name
            case ast.If() | ast.Try():
                yield from _defined_names([*statement.body, *statement.orelse], owner)
                yield from _defined_names([s for one in getattr(statement, "handlers", ()) for s in one.body], owner)
            case _:
                continue


def _imported_names(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
