"""Commits and comparisons, what anybody with a token says of a commit, and the files at one."""

from __future__ import annotations

import math

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.repositories import changes, git_objects
from lab.github.repositories.changes import CommitInfo, Signature
from lab.github.wire import checks as check_wire
from lab.github.wire import commits as wire
from lab.github.wire.site import Json

routes = Operations()

LISTED = 1000
"""Commits that a list can reach."""

COMPARED = 250
"""Commits that a comparison shows."""

STATES = ("error", "failure", "pending", "success")

LONGEST_DESCRIPTION = 140
"""Characters of a status."""


@routes.get("/commits/{ref}/status", "statuses")
async def get_combined_status(call: ApiCall) -> Reply:
    """The newest status of each context and what they add up to; `pending` when there are none."""
    sha = await resolve(call, call.match["ref"])
    found = call.repository.checks.statuses_of(sha)
    page = call.list(check_wire.short_status, found)
    return Reply(body=call.show(check_wire.combined, sha, found, page.body), headers=page.headers)


@routes.get("/commits/{ref}/statuses", "statuses")
async def list_statuses(call: ApiCall) -> Reply:
    """Every status of a commit that was ever set, newest first."""
    sha = await resolve(call, call.match["ref"])
    found = [status for status in call.repository.checks.statuses.values() if status.sha == sha]
    return call.list(check_wire.status, found[::-1])


@routes.write("POST", "/statuses/{sha}", "statuses")
async def create_status(call: ApiCall) -> Reply:
    """Say something of a commit."""
    sha = await resolve(call, call.match["sha"])
    state, description = call.text("Status", "state"), call.optional_text("Status", "description")
    if state not in STATES:
        raise invalid("Status", "state")
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        raise invalid("Status", "description")
    context, url = call.optional_text("Status", "context") or "default", call.optional_text("Status", "target_url")
    checks = call.repository.checks
    record = checks.say(sha, context, state, description=description, creator=call.login, url=url)
    return created(call.show(check_wire.status, record))


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
    sha, bare = await resolve(call, call.match["ref"]), call.repository.bare
    if call.wants("sha"):
        return Reply(content=sha.encode(), content_type="application/vnd.github.sha; charset=utf-8")
    info = await bare.commit(sha)
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
    ends = (await bare.commit(base), await bare.commit(fork))
    ahead, behind = await bare.log(base, head, COMPARED), await bare.log(head, base, COMPARED)
    files = await bare.changed_files(base, head)
    return Reply(body=call.show(wire.comparison, ends, ahead, len(behind), files))


@routes.get("/contents/{path}", "contents")
async def get_content(call: ApiCall) -> Reply:
    """A file (base64, or as it is with the raw media type), or the entries of a directory."""
    path = call.match["path"].strip("/")
    ref = call.query.get("ref") or call.repository.facts.default_branch
    sha = await call.repository.bare.sha(ref)
    if sha is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    data = await call.repository.bare.read(sha, path) if path else None
    if data is None:
        return Reply(body=await _directory(call, sha, path, ref))
    if call.wants("raw"):
        return Reply(content=data, content_type="application/vnd.github.raw; charset=utf-8")
    (entry,) = await _entries(call, sha, path, ref)
    return Reply(body=wire.file(entry, data))


async def diff_or_patch(call: ApiCall, base: str | None, head: str) -> Reply | None:
    """Return the changes as a unified diff, or as mails that hold patches; None where the media type asks for neither.

    They are empty without a base.
    """
    for media, read in (("diff", call.repository.bare.diff), ("patch", call.repository.bare.patch)):
        if call.wants(media):
            text = "" if base is None else await read(base, head)
            return Reply(content=text.encode(), content_type=f"application/vnd.github.{media}; charset=utf-8")
    return None


async def resolve(call: ApiCall, ref: str) -> str:
    """The commit that a ref names, or 422 as GitHub words it."""
    sha = await call.repository.bare.sha(ref)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    return sha


async def _history(call: ApiCall, sha: str) -> list[CommitInfo]:
    path = (call.query.get("path") or "").strip("/")
    bounds = (f"--max-count={LISTED}", changes.LOG_FORMAT, sha, "--", *([path] if path else []))
    return changes.commits((await call.repository.bare.git.check("--literal-pathspecs", "log", "-z", *bounds)).stdout)


def _is_person(wanted: str | None, person: Signature) -> bool:
    user = person.email.partition("@")[0]
    return wanted in {None, person.email, user, user.partition("+")[2]}


async def _directory(call: ApiCall, sha: str, path: str, ref: str) -> list[Json]:
    entries = await _entries(call, sha, f"{path}/" if path else ".", ref)
    if not entries:
        raise not_found()
    return entries


async def _entries(call: ApiCall, sha: str, path: str, ref: str) -> list[Json]:
    """Return the entries of git's tree at `path`: the entry itself, or with a final slash those in it."""
    listing = await call.repository.bare.git.run("ls-tree", "--long", "-z", sha, "--", path)
    return [call.show(wire.content, entry, ref) for entry in git_objects.tree_entries(listing.stdout)]
