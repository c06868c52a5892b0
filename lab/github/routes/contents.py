"""Files and directories at a commit."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.wire import commits as wire
from lab.github.wire.site import Json

routes = Operations()


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


async def _directory(call: ApiCall, sha: str, path: str, ref: str) -> list[Json]:
    entries = await _entries(call, sha, f"{path}/" if path else ".", ref)
    if not entries:
        raise not_found()
    return entries


async def _entries(call: ApiCall, sha: str, path: str, ref: str) -> list[Json]:
    """Return the entries of git's tree at `path`: the entry itself, or with a final slash those in it."""
    listing = await call.repository.bare.git.run("ls-tree", "--long", "-z", sha, "--", path)
    shown = []
    for line in filter(None, listing.stdout.decode("utf-8", "replace").split("\0")):
        facts, _, name = line.partition("\t")
        _, kind, blob, size = facts.split()
        entry = call.show(wire.content, name, ref, (blob, int(size) if size.isdecimal() else 0))
        shown.append(wire.directory(entry) if kind == "tree" else entry)
    return shown
