"""Git objects (blobs, trees and commits, as git itself has them) and git refs: read, create, move, delete."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.repositories import git_objects
from lab.github.repositories.bare import ABSENT
from lab.github.repositories.changes import Signature
from lab.github.repositories.git_objects import TREE_MODES, TreeEntry
from lab.github.wire import commits as wire
from lab.github.wire import repositories as ref_wire
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
    return Reply(body=call.show(wire.git_commit, await call.repository.bare.commit(sha)))


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
    return created(call.show(wire.git_commit, await call.repository.bare.commit(sha)))


@routes.get("/git/ref/{ref}", "contents")
async def get_ref(call: ApiCall) -> Reply:
    """One ref by its whole name without `refs/`."""
    name = f"refs/{call.match['ref']}"
    sha = await call.repository.bare.sha(name)
    if sha is None:
        raise not_found()
    return Reply(body=call.show(ref_wire.ref, name, sha))


@routes.get("/git/matching-refs/{ref}", "contents")
async def list_matching_refs(call: ApiCall) -> Reply:
    """All refs whose name begins so; an empty list when there are none."""
    found = await call.repository.bare.refs(f"refs/{call.match['ref']}")
    return call.page(list(found.items()), lambda pair: call.show(ref_wire.ref, *pair))


@routes.write("POST", "/git/refs", "contents")
async def create_ref(call: ApiCall) -> Reply:
    """A new ref; 422 when it exists already: creation is atomic."""
    name, bare = call.text("Reference", "ref"), call.repository.bare
    if not name.startswith("refs/") or name.count("/") < 2:
        raise invalid("Reference", "ref")
    _check_writable(name)
    if (await bare.git.run("check-ref-format", name)).code:
        raise Refusal(422, f"{name} is not a valid ref name.")
    sha = await _object(call)
    if not await bare.update_ref(name, sha, expected=ABSENT):
        raise Refusal(422, "Reference already exists")
    return created(call.show(ref_wire.ref, name, sha))


@routes.write("PATCH", "/git/refs/{ref}", "contents")
async def move_ref(call: ApiCall) -> Reply:
    """Move a ref, forward only unless `force`."""
    name, bare = f"refs/{call.match['ref']}", call.repository.bare
    old = await bare.sha(name)
    if old is None:
        raise Refusal(422, "Reference does not exist")
    _check_writable(name)
    sha = await _object(call)
    forced = call.fields.get("force") is True
    if not forced and await bare.merge_base(old, sha) != old:
        raise Refusal(422, "Update is not a fast forward")
    if not await bare.update_ref(name, sha, expected=old):
        raise Refusal(409, "Reference cannot be updated")
    return Reply(body=call.show(ref_wire.ref, name, sha))


@routes.write("DELETE", "/git/refs/{ref}", "contents")
async def delete_ref(call: ApiCall) -> Reply:
    """Delete a ref; 422 when there is none, or when it is the default branch."""
    name, bare = f"refs/{call.match['ref']}", call.repository.bare
    _check_writable(name)
    if name == f"refs/heads/{call.repository.facts.default_branch}":
        raise Refusal(422, "Cannot delete the default branch")
    old = await bare.sha(name)
    if old is None or not await bare.update_ref(name, None, expected=old):
        raise Refusal(422, "Reference does not exist")
    return Reply(204)


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


def _check_writable(name: str) -> None:
    """422 for what GitHub keeps for itself: nobody writes the refs of pull requests, git's pushes included."""
    if name.startswith("refs/pull/"):
        raise Refusal(422, "Reference cannot be updated")


async def _object(call: ApiCall) -> str:
    """The id of an object that is there: no branch, and no beginning of an id."""
    sha = call.text("Reference", "sha")
    if re.fullmatch(r"[0-9a-f]{40}", sha) is None:
        raise Refusal(422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
    if await git_objects.kind(call.repository.bare.git, sha) is None:
        raise Refusal(422, "Object does not exist")
    return sha
