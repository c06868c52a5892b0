"""Operations about accounts: the caller, other users, the remaining requests; a GitHub App as itself."""

from __future__ import annotations

from collections.abc import Mapping

from lab.github.http.call import REPOSITORY, ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, invalid, not_accessible, not_found
from lab.github.wire import apps as wire
from lab.github.wire.site import addresses, limits
from lab.github.world.accounts import HOUR, LEVELS, AppRecord, InstallationRecord

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
    now = world.registrar.now()
    return Reply(body=limits({name: quota.allowance(call.login, now) for name, quota in world.quotas.items()}))


@routes.as_app("GET", "/app")
async def get_app(call: ApiCall) -> Reply:
    """The App."""
    return Reply(body=wire.own(call.site, _app(call)))


@routes.as_app("GET", f"{REPOSITORY}/installation")
async def get_repository_installation(call: ApiCall) -> Reply:
    """Return the App's installation that reaches a repository; 404 when there is none."""
    app = _app(call)
    found = call.site.world.apps.installation_in(app, call.repository.facts.id)
    if found is None:
        raise not_found()
    return Reply(body=wire.installation(call.site, app, found))


@routes.as_app("POST", "/app/installations/{installation_id}/access_tokens")
async def create_access_token(call: ApiCall) -> Reply:
    """A token for an hour, for all of the installation's repositories and permissions or for some of them."""
    app, world = _app(call), call.site.world
    found = world.apps.installations.get(call.number("installation_id"))
    if found is None or found.app_id != app.id:
        raise not_found()
    token = world.token(
        app.bot,
        _permissions(call, found),
        expires_at=world.registrar.now() + HOUR,
        repositories=_repositories(call, found),
    )
    return Reply(201, wire.access_token(call.site, world.tokens[token]))


def _app(call: ApiCall) -> AppRecord:
    if call.app is None:
        raise Refusal(401, "A JSON web token could not be decoded")
    return call.app


def _permissions(call: ApiCall, installation: InstallationRecord) -> Mapping[str, str]:
    wanted = call.fields.get("permissions")
    if wanted is None:
        return installation.permissions
    if not isinstance(wanted, dict) or not all(level in LEVELS[1:] for level in wanted.values()):
        raise invalid("InstallationAccessToken", "permissions")
    for name, level in wanted.items():
        if LEVELS.index(installation.permissions.get(name, "none")) < LEVELS.index(level):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _repositories(call: ApiCall, installation: InstallationRecord) -> tuple[int, ...]:
    names, ids = call.fields.get("repositories"), call.fields.get("repository_ids")
    if names is None and ids is None:
        return installation.repositories
    if not isinstance(names or [], list) or not isinstance(ids or [], list):
        raise invalid("InstallationAccessToken", "repositories")
    reached = {number: call.site.world.repositories[number].facts.name for number in installation.repositories}
    wanted = [*(names or []), *(ids or [])]
    found = tuple(number for number, name in reached.items() if name in wanted or number in wanted)
    if not wanted or len(found) < len(wanted):
        raise Refusal(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    return found
