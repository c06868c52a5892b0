"""The patch policy: the gate between a coder's work tree and a push (pure).

A refusal hands the item to a person with the patch attached; nothing is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from pathlib import PurePosixPath

from shared.errors import Blocked

SYMLINK, GITLINK, EXECUTABLE = "120000", "160000", "100755"
"""File modes as git prints them."""

PROTECTED = (
    *(".github/**", ".gitlab/**", ".gitlab-ci*", ".circleci/**", ".buildkite/**", ".travis.y*ml", ".drone.y*ml"),
    *("Jenkinsfile", "azure-pipelines*", "bitbucket-pipelines.yml", "appveyor.y*ml", "CODEOWNERS"),
    *(".forgejo/**", ".gitea/**", ".woodpecker*", ".woodpecker/**", ".teamcity/**", ".semaphore/**", ".tekton/**"),
    *(".cirrus.y*ml", "cloudbuild.y*ml", "buildspec.y*ml", "codemagic.yaml", "bitrise.yml", "wercker.yml"),
    *(".mergify*", ".mergify/**", "renovate.json*", ".renovaterc*", ".dependabot/**"),
    *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md"),
    *("copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roomodes", ".goosehints", ".rules"),
    *(".claude/**", ".codex/**", ".agents/**", ".qwen/**", ".cursor/**", ".gemini/**", ".windsurf/**", ".opencode/**"),
    *(".clinerules/**", ".roo/**", ".kilocode/**", ".continue/**", ".amazonq/**", ".kiro/**", ".junie/**", ".trae/**"),
    *(".augment/**", ".augment-guidelines", ".aider*", "opencode.json*", ".mcp.json"),
    *(".vscode/**", "*.code-workspace", ".idea/**", ".zed/**", ".devcontainer/**", ".devcontainer.json", ".envrc"),
    *(".husky/**", ".pre-commit-config.y*ml", "lefthook.y*ml", ".lefthook/**", ".lintstagedrc*", ".overcommit.yml"),
    *(".gitmodules", ".gitattributes", ".workflow-engine.yml"),
)
"""CI, ownership and instruction files, and what editors and hooks run by themselves: only a person changes them."""

WORKFLOW = re.compile(r"\.github/workflows/[A-Za-z0-9._-]+\.ya?ml")
"""The path of a file that GitHub Actions reads as a workflow."""

MANIFESTS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements*.in", "requirements/*.txt"),
    *("constraints*.txt", "Pipfile", "tox.ini", "uv.toml", "poetry.toml", "pixi.toml"),
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", ".npmrc", "*.lock"),
    *("bun.lockb", "bunfig.toml", "deno.json*", ".yarnrc*", ".yarn/**", "pnpm-workspace.yaml", ".pnpmfile.*"),
    *("go.mod", "go.sum", "go.work", "go.work.sum", "Cargo.toml", ".cargo/**", "rust-toolchain*"),
    *("Gemfile", "gems.rb", "gems.locked", "*.gemspec", ".bundle/**", "composer.json"),
    *("pom.xml", ".mvn/**", "mvnw*", "build.gradle*", "settings.gradle*", "gradle.properties", "gradlew*"),
    *("gradle-wrapper.*", "*.versions.toml", "*.lockfile", "verification-metadata.xml", "build.sbt"),
    *("*.csproj", "*.fsproj", "*.vbproj", "Directory.Build.*", "Directory.Packages.props", "packages.lock.json"),
    *("packages.config", "nuget.config", "paket.dependencies"),
    *("Package.swift", "Package.resolved", "mix.exs", "rebar.config", "pubspec.yaml", ".terraform.lock.hcl"),
    *(".tool-versions", ".python-version", ".ruby-version", ".node-version", ".nvmrc", "mise.toml", ".mise.toml"),
    *(".git*", ".git*/**"),
)
"""Files that decide what is installed, built or ignored: changed only if the approved specification lists them."""

FLAGGED = ("*.pth", "conftest.py", "sitecustomize.py", "usercustomize.py")
"""Code that runs without being called: allowed, and shown to the reviewer."""

MAX_LINES, MAX_FILES, MAX_BYTES, MAX_BINARY_BYTES = 2000, 50, 1_000_000, 100_000
"""The most changed lines, changed files and added bytes of one change, and the most bytes of one binary file in it."""

MOST_SHOWN = 20
"""Most refusals that are shown; more would tell a person nothing new."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2028\u2029\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""Characters that print as nothing; everything else invisible has Unicode's category Cf."""

_SELECTORS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Of these, the characters that choose the form of the one before them. Alone, or many of them, they hide a text."""

_KEYCAPS = frozenset("0123456789#*")


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path between two trees. Modes are git's six digits; `size` is the new file's in bytes.

    `status` is git's letter (A, M, D, T); `added_text` holds the lines that the old file does not have;
    `only_line_ends` is true if both files are the same but for LF and CRLF.
    """

    path: str
    status: str
    old_mode: str
    new_mode: str
    added: int
    deleted: int
    binary: bool
    size: int
    added_text: str = ""
    only_line_ends: bool = False


@dataclass(frozen=True, slots=True)
class PatchRefusal:
    """Reason why a change may not be published; `path` is empty if it is about the whole patch."""

    path: str
    sentence: str


@dataclass(frozen=True, slots=True)
class PatchPolicy:
    """The permissions of one change."""

    planned: frozenset[str] = frozenset()
    """Paths that the approved specification lists."""
    allowed: frozenset[str] = frozenset()
    """Protected paths that this one change may touch: failing workflow files, if that is configured."""
    head: str = ""
    """The commit that the change continues: its workflow files may stay as they are there, whoever changed them."""


class PatchRefused(Blocked):
    """The patch policy refuses this change."""

    def __init__(self, refusals: Sequence[PatchRefusal], *, kept: str = "") -> None:
        """`kept` is the place of the patch, relative to the state directory."""
        lines = [f"- `{r.path}`: {r.sentence}" if r.path else f"- {r.sentence}" for r in refusals[:MOST_SHOWN]]
        if len(refusals) > MOST_SHOWN:
            lines.append(f"- and {len(refusals) - MOST_SHOWN} more")
        place = f"\nThe patch is kept in the state directory as `{kept}`." if kept else ""
        super().__init__("\n".join(["The patch policy refuses this change:", *lines]) + place)
        self.refusals = tuple(refusals)


def judge(changes: Sequence[PathChange], *, policy: PatchPolicy) -> tuple[PatchRefusal, ...]:
    """Return every reason not to publish `changes`, in their order; empty if they may be published."""
    return (*(refusal for change in changes for refusal in _refusals_of(change, policy)), *_of_all(changes))


def flagged(changes: Iterable[PathChange]) -> tuple[str, ...]:
    """Return the paths that may be published and that the reviewer must be shown."""
    return tuple(change.path for change in changes if matches(change.path, (*FLAGGED, *MANIFESTS)))


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a path matches one of the patterns, in any letter case.

    `name*` means a file of that name in any directory, `dir/**` everything below a directory of that
    name anywhere, anything else with a slash the whole path.
    """
    meant, folded = _compile(patterns), path.casefold()
    parts = PurePosixPath(folded).parts
    if meant.names and meant.names.match(parts[-1] if parts else ""):
        return True
    if meant.paths and meant.paths.match(folded):
        return True
    return meant.directories is not None and any(meant.directories.match(part) for part in parts[:-1])


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Patterns, grouped by the part of a path that they match; None where there are none."""

    names: re.Pattern[str] | None
    paths: re.Pattern[str] | None
    directories: re.Pattern[str] | None


@lru_cache(maxsize=64)
def _compile(patterns: tuple[str, ...]) -> _Compiled:
    folded = [pattern.casefold() for pattern in patterns]
    directories = [pattern[:-3] for pattern in folded if pattern.endswith("/**")]
    others = [pattern for pattern in folded if not pattern.endswith("/**")]
    paths = [pattern for pattern in others if "/" in pattern]
    return _Compiled(_union([one for one in others if "/" not in one]), _union(paths), _union(directories))


def _union(globs: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(translate, globs))) if globs else None


def names_git_directory(path: str) -> bool:
    """Return whether some file system would take a part of this path for `.git`."""
    return any(_plain(part) == ".git" or re.fullmatch(r"git~\d", _plain(part)) for part in re.split(r"[/\\]", path))


def _refusals_of(change: PathChange, policy: PatchPolicy) -> Iterator[PatchRefusal]:
    yield from (PatchRefusal(change.path, sentence) for sentence in _of_path(change.path, policy))
    yield from (PatchRefusal(change.path, sentence) for sentence in _of_content(change))


def _of_path(path: str, policy: PatchPolicy) -> Iterator[str]:
    parts = path.split("/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or not {"", ".", ".."}.isdisjoint(parts):
        yield "The path leads out of the repository."
    if "\\" in path or not path.isprintable() or _invisible(path):
        yield "The path has characters that cannot be shown."
    if names_git_directory(path):
        yield "The path reaches into a git directory."
    plain = "/".join(map(_plain, parts))
    if matches(plain, PROTECTED):
        if path not in policy.allowed:
            yield "Only a person may change this file."
    elif path not in policy.planned and matches(plain, MANIFESTS):
        yield "The approved specification does not list this file."


def _of_content(change: PathChange) -> Iterator[str]:
    if change.new_mode == SYMLINK:
        yield "Symbolic links are not published."
    if change.new_mode == GITLINK:
        yield "Submodules and embedded repositories are not published."
    if change.new_mode == EXECUTABLE != change.old_mode:
        yield "A new executable file is not published."
    if change.binary and change.size > MAX_BINARY_BYTES:
        yield f"A binary file of {change.size} bytes is larger than {MAX_BINARY_BYTES}."
    if change.only_line_ends:
        yield "Nothing but its line ends changes."
    if len(change.added_text) <= MAX_BYTES and (invisible := _invisible(change.added_text)):
        yield f"An added line has the invisible character U+{ord(invisible):04X}."


def _of_all(changes: Sequence[PathChange]) -> Iterator[PatchRefusal]:
    lines = sum(change.added + change.deleted for change in changes)
    size = sum(
        change.size if change.binary else len(change.added_text.encode("utf-8", "replace")) for change in changes
    )
    if lines > MAX_LINES:
        yield PatchRefusal("", f"{lines} changed lines are more than {MAX_LINES}.")
    if len(changes) > MAX_FILES:
        yield PatchRefusal("", f"{len(changes)} changed files are more than {MAX_FILES}.")
    if size > MAX_BYTES:
        yield PatchRefusal("", f"{size} added bytes are more than {MAX_BYTES}.")


def _plain(part: str) -> str:
    """Return a path's part as lenient file systems read it: no invisible characters, dots or streams at the end."""
    if part.isascii():
        return part.partition(":")[0].rstrip(" .").casefold()
    folded = unicodedata.normalize("NFKC", part)
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return visible.partition(":")[0].rstrip(" .").casefold()


def _invisible(text: str) -> str | None:
    """Return the first character that cannot be seen; a byte order mark at the start does not count."""
    if text.isascii():
        return None
    before = ""
    for char in text.removeprefix("\ufeff"):
        if _is_invisible(char) and not (_SELECTORS.match(char) and _takes_a_form(before)):
            return char
        before = char
    return None


def _is_invisible(char: str) -> bool:
    return not char.isascii() and (unicodedata.category(char) == "Cf" or _INVISIBLE.match(char) is not None)


def _takes_a_form(char: str) -> bool:
    """Return whether a visible character can have several forms: an emoji, a keycap, a letter of other scripts."""
    return char in _KEYCAPS or (bool(char) and not char.isascii() and char.isprintable() and not _is_invisible(char))
