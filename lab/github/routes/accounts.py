"""Who am I, who is that, and how many requests are left."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import not_accessible, not_found
from lab.github.wire.site import addresses, limits

routes = Operations(prefix="")


@routes.get("/")
async def get_root(call: ApiCall) -> Reply:
    """Where things are; `gh auth status` asks for it to see whether a token is good."""
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
    """What is left of the hour; reading it costs nothing."""
    world = call.site.world
    return Reply(body=limits(world.meter.allowance(call.login, world.registrar.now())))
