"""A repository and who may do what in it."""

from __future__ import annotations

from lab.call import Call, Operations, Reply
from lab.refusals import not_found
from lab.wire import repositories as wire

routes = Operations()


@routes.get("")
async def get_repository(call: Call) -> Reply:
    """The repository, with the caller's permissions."""
    return Reply(body=wire.repository(call.site, call.repository, viewer=call.login))


@routes.get("/collaborators/{username}/permission")
async def get_permission(call: Call) -> Reply:
    """What a person may do, now."""
    account = call.site.world.find_account(call.match["username"])
    if account is None:
        raise not_found()
    return Reply(body=wire.permission(call.site, call.repository, account))
