"""git's names, checked before they reach a command line: refs, object ids, repositories; and its lists of them.

A name that passes begins with `refs/` or is hexadecimal, so it can never be read as an option.
"""

from __future__ import annotations

import re
from pathlib import Path

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?!\.)[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.lock)(?<!\.))+")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
_FULL_NAME = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9_.-]*)/(\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*)")

_WORK = re.compile(r"auto/issue-([0-9]{1,10})|tdd/([0-9]{1,10})-[a-z0-9-]+")


def oid(text: str) -> str:
    """Return `text` if it is a whole object id in lower case; raises ValueError."""
    if not _OID.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole object id")
    return text


def are_oids(*texts: str) -> bool:
    """Return whether all of these are whole object ids: a question about such objects has one answer for ever."""
    return all(_OID.fullmatch(text) for text in texts)


def ref(text: str) -> str:
    """Return `text` if it is a full ref name (https://git-scm.com/docs/git-check-ref-format); raises ValueError."""
    if not _REF.fullmatch(text) or ".." in text or "@{" in text:
        raise ValueError(f"{text!r} is not a full ref name")
    return text


def revision(text: str) -> str:
    """Return `text` if it is a full ref name or a whole object id; raises ValueError."""
    return ref(text) if text.startswith("refs/") else oid(text)


def mirror_path(mirrors: Path, host: str, full_name: str) -> Path:
    """Return the path of a repository's mirror: `<mirrors>/<host>/<owner>/<repo>.git`; raises ValueError."""
    if not _HOST.fullmatch(host):
        raise ValueError(f"{host!r} is not a host name")
    owner, name = _parts(full_name)
    return mirrors / host / owner / f"{name}.git"


def workspace_path(workspaces: Path, full_name: str, number: int) -> Path:
    """Return the path of an issue's workspace: `<workspaces>/<owner>__<repo>/issue-<n>`; raises ValueError."""
    owner, name = _parts(full_name)
    return workspaces / f"{owner}__{name}" / f"issue-{int(number)}"


def notes_ref(issue: int) -> str:
    """Return the ref of the notes on one issue's phases."""
    return f"refs/notes/workflow/issue-{issue}"


def _parts(full_name: str) -> tuple[str, str]:
    found = _FULL_NAME.fullmatch(full_name)
    if found is None or ".." in full_name:
        raise ValueError(f"{full_name!r} is not owner/repository")
    return found[1], found[2]


def work_branch(number: int) -> str:
    """Return the usual work branch of an issue."""
    return f"auto/issue-{int(number)}"


def activation_branch(number: int, test: str) -> str:
    """Return the work branch of issue `number` about the pending test `test`: a valid name, unlike any other."""
    words = re.sub(r"[^a-z0-9]+", "-", test.casefold()).strip("-")
    return f"tdd/{int(number)}-{words[-60:].strip('-') or 'test'}"


def issue_of_branch(branch: str) -> int | None:
    """Return the issue whose work branch this is; None for a person's branch and for one that was set aside."""
    found = _WORK.fullmatch(branch)
    return int(found[1] or found[2]) if found else None


def fields(output: bytes) -> tuple[str, ...]:
    """Return the fields of NUL-terminated output; bytes that are not UTF-8 come as surrogates."""
    return tuple(field.decode("utf-8", "surrogateescape") for field in output.split(b"\0") if field)


def joined(values: list[str]) -> bytes:
    """Return NUL-terminated input for git's `-z --stdin`: the opposite of `fields`."""
    return b"".join(value.encode("utf-8", "surrogateescape") + b"\0" for value in values)
