"""Operations about accounts: the caller, other users, and the remaining requests."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import not_accessible, not_found
from lab.github.wire.site import addresses, limits

routes = Operations(prefix="")


@routes.get("/")
async def get_root(call: ApiCall) -> Reply:
    """Return the API's addresses; `gh auth status` calls it to check a token."""
    return Reply(body=addresses(call.site.root))


@routes.get("/user")
async def get_authenticated(call: ApiCall) -> Reply:
    """The caller; an App's token belongs to no user."""
    if call.account.bot:
        raise not_accessible(bot=True)
    return Reply(body=call.site.profile(call.account, private=True))


@routes.get("/users/{username}")
async def get_user(call: ApiCall) -> Reply:
    """Anybody."""
    account = call.site.world.find_account(call.match["username"])
    if account is None:
        raise not_found()
    return Reply(body=call.site.profile(account, private=False))


@routes.get("/rate_limit", charged=False)
async def get_rate_limit(call: ApiCall) -> Reply:
    """Return the remaining requests of the hour; the call costs nothing."""
    world = call.site.world
    return Reply(body=limits(world.meter.allowance(call.login, world.registrar.now())))
