"""Git refs: read, create, move, delete."""

from __future__ import annotations

import re

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.repositories import git_objects
from lab.github.repositories.bare import ABSENT
from lab.github.wire import repositories as wire

routes = Operations()


@routes.get("/git/ref/{ref}", "contents")
async def get_ref(call: ApiCall) -> Reply:
    """One ref by its whole name without `refs/`."""
    name = f"refs/{call.match['ref']}"
    sha = await call.repository.bare.sha(name)
    if sha is None:
        raise not_found()
    return Reply(body=call.show(wire.ref, name, sha))


@routes.get("/git/matching-refs/{ref}", "contents")
async def list_matching_refs(call: ApiCall) -> Reply:
    """All refs whose name begins so; an empty list when there are none."""
    found = await call.repository.bare.refs(f"refs/{call.match['ref']}")
    return call.page(list(found.items()), lambda pair: call.show(wire.ref, *pair))


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
    return created(call.show(wire.ref, name, sha))


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
    return Reply(body=call.show(wire.ref, name, sha))


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
