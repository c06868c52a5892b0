"""Apps, installations and their tokens as GitHub's JSON."""

from __future__ import annotations

from lab.github.wire import repositories
from lab.github.wire.site import Json, ServedRoot, node, stamp
from lab.github.world.accounts import AppRecord, InstallationRecord, TokenRecord
from lab.github.world.checks import ACTIONS

ACTIONS_APP_ID = 15368
"""The id of GitHub Actions among the Apps."""

_ACTIONS = AppRecord(
    id=ACTIONS_APP_ID,
    slug=ACTIONS,
    owner="github",
    public_key="",
    permissions={"checks": "write", "contents": "read", "metadata": "read"},
    created_at=0,
)


def integration(site: ServedRoot, app: AppRecord) -> Json:
    """One App."""
    return {
        "id": app.id,
        "client_id": app.client_id,
        "slug": app.slug,
        "node_id": node("A", app.id),
        "owner": site.actor(app.owner),
        "name": app.slug,
        "description": f"The App {app.slug}.",
        "external_url": f"{site.pages}/{app.owner}",
        "html_url": f"{site.pages}/apps/{app.slug}",
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "permissions": dict(app.permissions),
        "events": [],
    }


def own(site: ServedRoot, app: AppRecord) -> Json:
    """An App as it sees itself."""
    count = sum(one.app_id == app.id for one in site.world.apps.installations.values())
    return {**integration(site, app), "installations_count": count}


def by_slug(site: ServedRoot, slug: str) -> Json | None:
    """The App of that slug; GitHub Actions is always there."""
    known = (_ACTIONS, *site.world.apps.records.values())
    return next((integration(site, app) for app in known if app.slug == slug), None)


def behind(site: ServedRoot, login: str) -> Json | None:
    """The App whose bot has that login: `performed_via_github_app`; None for people."""
    app = site.world.apps.written_by(login)
    return None if app is None else integration(site, app)


def installation(site: ServedRoot, app: AppRecord, record: InstallationRecord) -> Json:
    """Show an App's installation."""
    owner = site.world.account(record.account)
    url = f"{site.root}/app/installations/{record.id}"
    return {
        "id": record.id,
        "account": site.person(owner),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{site.root}/installation/repositories",
        "html_url": f"{site.pages}/settings/installations/{record.id}",
        "app_id": app.id,
        "client_id": app.client_id,
        "app_slug": app.slug,
        "target_id": owner.id,
        "target_type": "User",
        "permissions": dict(record.permissions),
        "events": [],
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": None,
    }


def access_token(site: ServedRoot, token: TokenRecord) -> Json:
    """A fresh token of an installation, with the repositories that it was given for."""
    reached = [site.world.repositories[one] for one in token.repositories or ()]
    return {
        "token": token.value,
        "expires_at": stamp(token.expires_at or 0),
        "permissions": dict(token.permissions),
        "repository_selection": "selected",
        "repositories": [repositories.repository(site, repository) for repository in reached],
    }
