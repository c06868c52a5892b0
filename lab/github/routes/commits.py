"""Commits and comparisons."""

from __future__ import annotations

import math

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.repositories import changes
from lab.github.repositories.changes import CommitInfo, Signature
from lab.github.wire import commits as wire

routes = Operations()


LISTED = 1000
"""Commits that a list can reach."""

COMPARED = 250
"""Commits that a comparison shows."""


@routes.get("/commits", "contents")
async def list_commits(call: ApiCall) -> Reply:
    """The history of a branch or commit, newest first, by path, people (login or address) and time."""
    wanted = call.query.get("sha") or call.repository.facts.default_branch
    sha = await call.repository.bare.sha(wanted)
    if sha is None:
        raise not_found()
    since, until = call.since("Commit"), call.until("Commit")
    found = [
        info
        for info in await _history(call, sha)
        if since <= info.committer.date.timestamp() <= (until or math.inf)
        and _is_person(call.query.get("author"), info.author)
        and _is_person(call.query.get("committer"), info.committer)
    ]
    return call.list(wire.commit, found)


@routes.get("/commits/{ref}", "contents")
async def get_commit(call: ApiCall) -> Reply:
    """One commit with its files, or (by media type) its diff, its patch or its bare SHA."""
    sha, bare = await resolve_ref(call), call.repository.bare
    if call.wants("sha"):
        return Reply(content=sha.encode(), content_type="application/vnd.github.sha; charset=utf-8")
    info = await information(call, sha)
    parent = info.parents[0] if info.parents else None
    if (text := await diff_or_patch(call, parent, sha)) is not None:
        return text
    files = [] if parent is None else await bare.changed_files(parent, sha)
    body = call.show(wire.commit, info)
    added, removed = sum(one.additions for one in files), sum(one.deletions for one in files)
    body["stats"] = {"total": added + removed, "additions": added, "deletions": removed}
    body["files"] = [call.show(wire.changed_file, one, sha) for one in files]
    return Reply(body=body)


@routes.get("/compare/{basehead}", "contents")
async def compare(call: ApiCall) -> Reply:
    """Return the commits of `head` that `base` does not have: `base...head`."""
    bare, (left, _, right) = call.repository.bare, call.match["basehead"].partition("...")
    base, head = await bare.sha(left), await bare.sha(right)
    if base is None or head is None:
        raise not_found()
    if (text := await diff_or_patch(call, base, head)) is not None:
        return text
    fork = await bare.merge_base(base, head)
    if fork is None:
        raise Refusal(404, f"No common ancestor between {left} and {right}.")
    ends = (await information(call, base), await information(call, fork))
    ahead, behind = await bare.log(base, head, COMPARED), await bare.log(head, base, COMPARED)
    files = await bare.changed_files(base, head)
    return Reply(body=call.show(wire.comparison, ends, ahead, len(behind), files))


async def diff_or_patch(call: ApiCall, base: str | None, head: str) -> Reply | None:
    """Return the changes as a unified diff, or as mails that hold patches; None where the media type asks for neither.

    They are empty without a base.
    """
    for media, read in (("diff", call.repository.bare.diff), ("patch", call.repository.bare.patch)):
        if call.wants(media):
            text = "" if base is None else await read(base, head)
            return Reply(content=text.encode(), content_type=f"application/vnd.github.{media}; charset=utf-8")
    return None


async def resolve_ref(call: ApiCall) -> str:
    """The commit that the path's `ref` names, or 422 as GitHub words it."""
    sha = await call.repository.bare.sha(call.match["ref"])
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {call.match['ref']}")
    return sha


async def information(call: ApiCall, sha: str) -> CommitInfo:
    """Return git's data about a commit."""
    return (await call.repository.bare.log(None, sha, 1))[0]


async def _history(call: ApiCall, sha: str) -> list[CommitInfo]:
    path = (call.query.get("path") or "").strip("/")
    bounds = (f"--max-count={LISTED}", changes.LOG_FORMAT, sha, "--", *([path] if path else []))
    return changes.commits((await call.repository.bare.git.check("--literal-pathspecs", "log", "-z", *bounds)).stdout)


def _is_person(wanted: str | None, person: Signature) -> bool:
    user = person.email.partition("@")[0]
    return wanted in {None, person.email, user, user.partition("+")[2]}
