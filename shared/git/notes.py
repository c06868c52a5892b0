"""The results of each phase: one signed JSON note per phase commit, and the git notes that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

import anyio.to_thread
from pydantic import TypeAdapter, ValidationError

from shared.git import loose_objects, names, objects, ref_files
from shared.git.command import Git, Identity, Signature
from shared.git.loose_objects import TreeEntry
from shared.text import comment_signatures, one_line, printable
from shared.text.comment_signatures import CommentSignatures, Gate, Keyring

VERSION = 1

PROOF_ENTRIES = 50
"""Most entries of each list of a proof; the others are counted in a last one."""

PROOF_CHARS = 300
"""Most characters of each text of a proof."""

DIFF_CHARS = 2_000
"""Most characters of one changed test's diff."""

DIFFS_CHARS = 20_000
"""Most characters of all diffs of a proof together; later ones are empty."""

_PURPOSE = "note"

_FILE = "100644"

_SUBJECT = "Notes added by 'git notes add'\n"
"""git's message for each commit of a notes ref."""


class CommitKind(StrEnum):
    """The kind of a phase commit."""

    RED = "red"
    GREEN = "green"
    REFACTOR = "refactor"
    FIX = "fix"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The test results before the cycle; `ids_sha` is the SHA-256 of the sorted ids that passed."""

    passed: int
    failed: int
    ids_sha: str


@dataclass(frozen=True, slots=True)
class NoteError:
    """Reason why a phase did not succeed; `timestamp` is server time in ISO 8601."""

    type: str
    message: str
    details: str = ""
    retry_count: int = 0
    timestamp: str = ""


@dataclass(frozen=True, slots=True)
class RemarkAnswer:
    """The answer to one remark in a review. `of` names the versions of the texts that it answers.

    `root` is the inline comment that takes it as a reply, 0 if there is none; `about` quotes the remark, and is
    empty for the text of the engine's own review, whose findings have threads of their own.
    """

    of: tuple[str, ...]
    root: int
    about: str
    done: bool
    said: str


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """An old test whose expectation changed: `what` was seen of both versions, and the difference."""

    test: str
    what: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class ProofNote:
    """The trials of a head's new tests, and the fate of old ones.

    `damages` counts damaged versions of the code, `unnoticed` names those at which no new test failed. `weak` are
    new tests that were set aside because they prove nothing, each with the reason; `pinned` are changed files that
    steer the test run, for which the base's version was used; `doubts` are questions that no run can decide, for the
    person who merges; `local_suite` is `full` or `changed` (the rest is CI's).
    """

    damages: int = 0
    noticed: int = 0
    unnoticed: tuple[str, ...] = ()
    changed_tests: tuple[ChangedTest, ...] = ()
    removed_tests: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    unstable: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    suite_runs: int = 0
    local_suite: str = "full"


@dataclass(frozen=True, slots=True)
class Note:
    """One phase of one cycle. `red` and `green` map a test id to its outcome; `cost_usd` None: unknown.

    `exit_code` is the test command's, in the run that `test_result` counts. `quality` maps a quality command
    to its result, `set_aside` a criterion to the reason why no test of it was taken. `rolled_back` is the work begun
    on top of this commit and undone again. `answers` are to be posted once this commit is pushed. `proof` is None
    in notes of older engines, and if nothing was proved. `summary` is the coder's account of the change, `covers`
    maps a test to the criterion that it is about by its coder's word.
    """

    issue: int
    cycle: int
    phase: CommitKind
    next_phase: str
    base: str
    current_test: str = ""
    new_tests: tuple[str, ...] = ()
    red: Mapping[str, str] = field(default_factory=dict)
    green: Mapping[str, str] = field(default_factory=dict)
    baseline: Baseline | None = None
    test_result: str = ""
    attempts: int = 0
    cost_usd: float | None = None
    cost_source: str = "unknown"
    error: NoteError | None = None
    exit_code: int | None = None
    quality: Mapping[str, str] = field(default_factory=dict)
    set_aside: Mapping[str, str] = field(default_factory=dict)
    rolled_back: tuple[NoteError, ...] = ()
    answers: tuple[RemarkAnswer, ...] = ()
    proof: ProofNote | None = None
    summary: str = ""
    covers: Mapping[str, str] = field(default_factory=dict)
    v: int = VERSION
    mac: str = ""


@cache
def _reader() -> TypeAdapter[Note]:
    """Return the parser of notes, made when the first note is read: an idle agent has none."""
    return TypeAdapter(Note)


def write(note: Note, keys: Keyring) -> str:
    """Return the note as one line of JSON, signed and without secrets; `note.mac` is replaced."""
    content = _without_secrets(asdict(replace(note, mac="")), keys.outgoing)
    if content["proof"] is not None:
        content["proof"] = _limit_proof(content["proof"])
    ring = Keyring(keys.repository_id, keys.keys)  # no gate: a change to the whole would spoil its parts
    signed = ring.sign(_PURPOSE, note.issue, _body(content, mac=""))
    mark = comment_signatures.find(signed)
    return _json(content | {"mac": mark.fields["mac"] if mark else ""})


def read(text: str, keys: Keyring) -> Note | None:
    """Return the note that `text` spells; None if it is none, of another version, or not signed by our keys."""
    try:
        content = json.loads(text)
        note = _reader().validate_json(text, strict=True)
    except (ValueError, RecursionError, ValidationError):
        return None
    if note.v != VERSION or keys.verify(_PURPOSE, note.issue, _body(content, note.mac)) is not CommentSignatures.VALID:
        return None
    return note


def _body(content: Mapping[str, Any], mac: str) -> str:
    """Return the text that the MAC covers. The marker comes first, so that no text inside the note can pose as it."""
    mark = comment_signatures.render("engine-note", {}).replace(" mac= ", f" mac={mac} ")
    return f"{mark}\n{_json({**content, 'mac': ''})}"


def _without_secrets(value: Any, gate: Gate) -> Any:
    match value:
        case str():
            return gate.hide(value)
        case Mapping():
            return {gate.hide(name): _without_secrets(item, gate) for name, item in value.items()}
        case list() | tuple():
            return [_without_secrets(item, gate) for item in value]
        case _:
            return value


def _limit_proof(proof: Mapping[str, Any]) -> dict[str, Any]:
    """Return a proof with limited lists and texts, free of secrets already: a cut secret is not recognised."""
    small = dict(proof)
    for name in ("unnoticed", "removed_tests", "weak", "unstable", "pinned", "doubts", "remarks"):
        texts = [one_line(text, PROOF_CHARS) for text in _first_entries(proof[name])]
        small[name] = [*texts, *_count_rest(proof[name])]
    left, changed = DIFFS_CHARS, []
    for test in _first_entries(proof["changed_tests"]):
        diff = printable(test["diff"])[: min(DIFF_CHARS, left)]
        left -= len(diff)
        changed.append({**{name: one_line(test[name], PROOF_CHARS) for name in ("test", "what")}, "diff": diff})
    more = [{"test": rest, "what": "not listed", "diff": ""} for rest in _count_rest(proof["changed_tests"])]
    return small | {"changed_tests": [*changed, *more]}


def _first_entries(entries: Sequence[Any]) -> Sequence[Any]:
    return entries if len(entries) <= PROOF_ENTRIES else entries[: PROOF_ENTRIES - 1]


def _count_rest(entries: Sequence[Any]) -> list[str]:
    left = len(entries) - len(_first_entries(entries))
    return [f"... and {left} more"] if left else []


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


class Notes:
    """The notes in one clean git directory; a ref is full, for example `refs/notes/workflow/issue-42`."""

    def __init__(self, git: Git, identity: Identity) -> None:
        self._git = git
        self._identity = identity

    async def add(self, ref: str, commit: str, text: str) -> str:
        """Attach `text`, which is not empty, to a commit, replacing its old note; returns the ref's new commit id."""
        tip = await objects.peeled(self._git, names.ref(ref), "commit")
        noted = await objects.tree(self._git, tip) if tip else ()
        if not _is_plain(noted):
            return await self._add_by_git(ref, commit, text)
        kept = [entry for entry in noted if entry.name != names.oid(commit)]
        blob = await self._git.store("blob", text.encode())
        tree = await self._git.store("tree", loose_objects.tree([*kept, TreeEntry(_FILE, commit, blob)]))
        made = await self._git.commit(tree, [tip] if tip else [], _SUBJECT, Signature(self._identity))
        if not await anyio.to_thread.run_sync(ref_files.move, self._git.git_dir, ref, made, tip or ""):
            await self._git.run("update-ref", "--no-deref", ref, made, tip or "0" * len(made))
        return made

    async def _add_by_git(self, ref: str, commit: str, text: str) -> str:
        """Add to many notes, which git sorts into directories, or to a tree that holds other things too."""
        blob = await self._git.store("blob", text.encode())
        verb = ("notes", f"--ref={names.ref(ref)}", "add", "--force", f"--reuse-message={blob}", names.oid(commit))
        await self._git.run(*verb, signature=Signature(self._identity))
        return (await self._git.run("rev-parse", "--verify", f"{ref}^{{commit}}")).text

    async def all(self, ref: str) -> dict[str, str]:
        """Return every note of a ref: commit id -> text; empty if the ref does not exist."""
        listed = await self._note_blobs(ref)
        texts = await objects.read(self._git, list(listed.values()))
        return {commit: (text or b"").decode("utf-8", "replace") for commit, text in zip(listed, texts, strict=True)}

    async def _note_blobs(self, ref: str) -> dict[str, str]:
        """Return the blob of each commit that has a note."""
        tip = await objects.peeled(self._git, names.ref(ref), "commit")
        if tip is None:
            return {}
        noted = await objects.tree(self._git, tip)
        if _is_plain(noted):
            return {entry.name: entry.oid for entry in noted}
        told = (await self._git.run("notes", f"--ref={ref}", "list")).text.split()
        return dict(zip(told[1::2], told[0::2], strict=True))


def _is_plain(noted: Sequence[TreeEntry]) -> bool:
    """Return whether a tree holds only notes, once each: git makes directories of many; others may push anything."""
    found = {entry.name for entry in noted}
    return len(found) == len(noted) and names.are_oids(*found) and {entry.mode for entry in noted} <= {_FILE}
