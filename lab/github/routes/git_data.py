"""Git objects: blobs, trees and commits, as git itself has them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.repositories import git_objects
from lab.github.repositories.changes import Signature
from lab.github.repositories.git_objects import TREE_MODES, TreeEntry
from lab.github.wire import commits as wire
from lab.github.wire.site import Json

routes = Operations()


@routes.write("POST", "/git/blobs", "contents")
async def create_blob(call: ApiCall) -> Reply:
    """Content as text or base64; it is there, although nothing names it yet."""
    content, encoding = call.fields.get("content"), call.optional_text("Blob", "encoding") or "utf-8"
    if not isinstance(content, str):
        raise invalid("Blob", "content", "missing_field")
    try:
        data = base64.b64decode(content) if encoding == "base64" else content.encode()
    except binascii.Error:
        raise invalid("Blob", "content") from None
    if encoding not in {"utf-8", "base64"}:
        raise invalid("Blob", "encoding")
    sha = await git_objects.write_blob(call.repository.bare.git, data)
    return created({"sha": sha, "url": f"{call.site.api(call.repository)}/git/blobs/{sha}"})


@routes.get("/git/trees/{tree_sha}", "contents")
async def get_tree(call: ApiCall) -> Reply:
    """The entries of a tree, which a commit or a branch may name; with `recursive` (any value) all below it."""
    git, wanted = call.repository.bare.git, call.match["tree_sha"]
    sha = wanted if await git_objects.kind(git, wanted) == "tree" else await call.repository.bare.sha(wanted)
    if sha is None:
        raise not_found()
    return Reply(body=await _tree(call, sha, recursive="recursive" in call.query))


@routes.write("POST", "/git/trees", "contents")
async def create_tree(call: ApiCall) -> Reply:
    """A tree from entries, over `base_tree` if given; an entry whose `sha` is null takes a path away."""
    git, base = call.repository.bare.git, call.optional_text("Tree", "base_tree")
    entries = call.fields.get("tree")
    if not isinstance(entries, list) or not entries:
        raise Refusal(422, "Invalid tree info")
    if base is not None and await git_objects.kind(git, base) not in {"tree", "commit"}:
        raise Refusal(422, "base_tree is not a valid tree oid")
    sha = await git_objects.write_tree(git, base, [await _entry(call, one) for one in entries])
    if sha is None:
        raise Refusal(422, "tree.path contains a malformed path component")
    return created(await _tree(call, sha, recursive=False))


@routes.get("/git/commits/{commit_sha}", "contents")
async def get_git_commit(call: ApiCall) -> Reply:
    """One commit as git has it."""
    git, sha = call.repository.bare.git, call.match["commit_sha"]
    if await git_objects.kind(git, sha) != "commit":
        raise not_found()
    return Reply(body=call.show(wire.git_commit, await git_objects.read_commit(git, sha)))


@routes.write("POST", "/git/commits", "contents")
async def create_git_commit(call: ApiCall) -> Reply:
    """A commit of a tree; without `author` it is the caller's, now."""
    git, tree = call.repository.bare.git, call.text("Commit", "tree")
    message, parents = call.text("Commit", "message"), call.names("Commit", "parents") or []
    if await git_objects.kind(git, tree) != "tree":
        raise Refusal(422, "Tree SHA does not exist")
    for parent in parents:
        if await git_objects.kind(git, parent) != "commit":
            raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    author = _signature(call, "author", _myself(call))
    people = (author, _signature(call, "committer", author))
    sha = await git_objects.write_commit(git, tree, parents, message, people)
    return created(call.show(wire.git_commit, await git_objects.read_commit(git, sha)))


async def _tree(call: ApiCall, sha: str, *, recursive: bool) -> Json:
    git = call.repository.bare.git
    tree = (await git.check("rev-parse", f"{sha}^{{tree}}")).text
    entries = await git_objects.read_tree(git, tree, recursive=recursive)
    return call.show(wire.tree, tree, entries)


async def _entry(call: ApiCall, given: Any) -> TreeEntry:
    """One entry of the body, its blob written if it brings its content."""
    fields: Mapping[str, Any] = given if isinstance(given, dict) else {}
    path, mode = fields.get("path"), fields.get("mode") or "100644"
    if not isinstance(path, str) or not path or not isinstance(mode, str) or mode not in TREE_MODES:
        raise Refusal(422, "tree.path or tree.mode is invalid")
    git, content, sha = call.repository.bare.git, fields.get("content"), fields.get("sha")
    if isinstance(content, str):
        sha = await git_objects.write_blob(git, content.encode())
    elif sha is None and "sha" not in fields:
        raise Refusal(422, "Must supply either tree.sha or tree.content")
    elif sha is not None and (not isinstance(sha, str) or await git_objects.kind(git, sha) != TREE_MODES[mode]):
        raise Refusal(422, f"tree.sha {sha} is not a valid {TREE_MODES[mode]}")
    return TreeEntry(path, mode, TREE_MODES[mode], sha)


def _myself(call: ApiCall) -> Signature:
    address = f"{call.account.id}+{call.login}@users.noreply.github.com"
    return Signature(call.login, address, datetime.fromtimestamp(call.repository.registrar.now(), UTC))


def _signature(call: ApiCall, role: str, default: Signature) -> Signature:
    given = call.fields.get(role)
    if given is None:
        return default
    if not isinstance(given, dict):
        raise invalid("Commit", role)
    name, email, date = (given.get(key) for key in ("name", "email", "date"))
    if not all(text is None or _is_name(text) for text in (name, email)):
        raise invalid("Commit", role)
    try:
        when = default.date if date is None else datetime.fromisoformat(date).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise invalid("Commit", f"{role}.date") from None
    if when.timestamp() < 0:
        raise invalid("Commit", f"{role}.date")
    return Signature(name or default.name, email or default.email, when)


def _is_name(text: Any) -> bool:
    """Return whether a name or address has any character left that git keeps."""
    return isinstance(text, str) and any(mark > " " and mark not in ".,:;<>\"\\'" for mark in text)
