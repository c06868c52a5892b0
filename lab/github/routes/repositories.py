"""Operations on a repository and its collaborators."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.wire import repositories as wire

routes = Operations()

LEVEL_OF = {"pull": "read", "triage": "write", "push": "write", "maintain": "admin", "admin": "admin"}
"""GitHub's five roles as the lab's three levels."""


@routes.get("")
async def get_repository(call: ApiCall) -> Reply:
    """The repository, with the caller's permissions."""
    return Reply(body=call.show(wire.repository, viewer=call.login))


@routes.get("/collaborators")
async def list_collaborators(call: ApiCall) -> Reply:
    """List people with more than read access, for those who may write; the owner is no outside collaborator."""
    facts = call.repository.facts
    if not call.trusted:
        raise Refusal(403, "Must have push access to view repository collaborators.")
    affiliation = call.choice("Collaborator", "affiliation", ("all", "direct", "outside"))
    least = LEVEL_OF[call.choice("Collaborator", "permission", tuple(LEVEL_OF))]
    logins = [*([] if affiliation == "outside" else [facts.owner]), *facts.collaborators]
    found = [login for login in dict.fromkeys(logins) if facts.reaches(login, least)]
    accounts = [call.site.world.account(login) for login in found]
    return call.list(wire.collaborator, accounts)


@routes.get("/collaborators/{username}/permission")
async def get_permission(call: ApiCall) -> Reply:
    """Return a person's current permission."""
    account = call.site.world.find_account(call.match["username"])
    if account is None:
        raise not_found()
    return Reply(body=call.show(wire.permission, account))
