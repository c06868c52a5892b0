"""Addresses and accounts of the lab: the parts of every URL and of every user object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from lab.github.repositories.git_command import GITHUB
from lab.github.world.accounts import CORE, AccountRecord, Allowance
from lab.github.world.hub import World
from lab.github.world.repository import RepositoryRecord

Json = dict[str, Any]

_USER_URLS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}

_REPOSITORY_PAGES = "{?type,page,per_page,sort}"
_SEARCH_PAGES = "{&page,per_page,sort,order}"

_ADDRESSES = {
    "current_user": "/user",
    "current_user_authorizations_html": "/settings/connections/applications{/client_id}",
    "authorizations": "/authorizations",
    "code_search": f"/search/code?q={{query}}{_SEARCH_PAGES}",
    "commit_search": f"/search/commits?q={{query}}{_SEARCH_PAGES}",
    "emails": "/user/emails",
    "emojis": "/emojis",
    "events": "/events",
    "feeds": "/feeds",
    "followers": "/user/followers",
    "following": "/user/following{/target}",
    "gists": "/gists{/gist_id}",
    "issue_search": f"/search/issues?q={{query}}{_SEARCH_PAGES}",
    "issues": "/issues",
    "keys": "/user/keys",
    "label_search": "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}",
    "notifications": "/notifications",
    "organization": "/orgs/{org}",
    "organization_repositories": f"/orgs/{{org}}/repos{_REPOSITORY_PAGES}",
    "organization_teams": "/orgs/{org}/teams",
    "public_gists": "/gists/public",
    "rate_limit": "/rate_limit",
    "repository": "/repos/{owner}/{repo}",
    "repository_search": f"/search/repositories?q={{query}}{_SEARCH_PAGES}",
    "current_user_repositories": f"/user/repos{_REPOSITORY_PAGES}",
    "starred": "/user/starred{/owner}{/repo}",
    "starred_gists": "/gists/starred",
    "topic_search": "/search/topics?q={query}{&page,per_page}",
    "user": "/users/{user}",
    "user_organizations": "/user/orgs",
    "user_repositories": f"/users/{{user}}/repos{_REPOSITORY_PAGES}",
    "user_search": f"/search/users?q={{query}}{_SEARCH_PAGES}",
}
"""Kind of thing -> its address."""

GHOST = AccountRecord(10137, "ghost", bot=False, created_at=0)
"""GitHub's stand-in for a deleted account in events."""

WEB_FLOW = AccountRecord(19864447, "web-flow", bot=False, created_at=0)
"""Committer of GitHub's own commits: merges, and edits on its pages."""

_PRIVATE = "@users.noreply.github.com"
"""The end of the address that GitHub gives to everybody: `ID+LOGIN@...`, in older commits `LOGIN@...`."""


@dataclass(frozen=True, slots=True)
class ServedRoot:
    """The API root as a client knows it (no trailing slash), and the world behind it; `own` is the lab's own root."""

    root: str
    world: World
    own: str = ""

    @property
    def downloads(self) -> str:
        """Another host, where downloads are: clients must not show it their token."""
        return (self.own or self.root).replace("//127.0.0.1:", "//localhost:", 1)

    @property
    def pages(self) -> str:
        """The site's root for people: the same host without the API's part of its name or path."""
        return self.root.removesuffix("/api/v3").replace("//api.github.com", "//github.com", 1)

    def user(self, login: str | None) -> Json | None:
        """The account of a login as GitHub's simple user; None for nobody and for deleted accounts."""
        account = None if login is None else self.world.find_account(login)
        return None if account is None else self.person(account)

    def actor(self, login: str) -> Json:
        """Like `user`, but a deleted account shows as the ghost."""
        return self.user(login) or self.person(GHOST)

    def writer(self, address: str) -> Json | None:
        """Return the account of an address in a commit; None if it is no known account's."""
        if address == GITHUB[1]:
            return self.person(WEB_FLOW)
        if address.endswith(_PRIVATE):
            before = address.removesuffix(_PRIVATE)
            return self.user(before.partition("+")[2] or before)
        known = (one for one in self.world.accounts.values() if one.email and one.email == address.lower())
        return next((self.person(one) for one in known), None)

    def person(self, account: AccountRecord) -> Json:
        """GitHub's simple user."""
        login = quote(account.login)
        url = f"{self.root}/users/{login}"
        return {
            "login": account.login,
            "id": account.id,
            "node_id": node("U", account.id),
            "avatar_url": f"{self.root}/_avatars/{account.id}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.pages}/{login}",
            **{key: url + suffix for key, suffix in _USER_URLS.items()},
            "type": "Bot" if account.bot else "User",
            "site_admin": False,
        }

    def profile(self, account: AccountRecord, *, private: bool) -> Json:
        """GitHub's long user object; `private` adds what only the account itself sees."""
        nothing: Json = dict.fromkeys(("company", "email", "hireable", "bio", "location"))
        counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        mine = {
            **dict.fromkeys(("private_gists", "total_private_repos", "owned_private_repos", "disk_usage"), 0),
            "collaborators": 0,
            "two_factor_authentication": True,
        }
        return {
            **self.person(account),
            "name": account.login,
            "blog": "",
            **nothing,
            **counts,
            "created_at": stamp(account.created_at),
            "updated_at": stamp(account.created_at),
            **(mine if private else {}),
        }

    def api(self, repository: RepositoryRecord) -> str:
        """The repository's API URL."""
        return f"{self.root}/repos/{repository.full_name}"

    def html(self, repository: RepositoryRecord) -> str:
        """The repository's page."""
        return f"{self.pages}/{repository.full_name}"

    def association(self, repository: RepositoryRecord, login: str) -> str:
        """Return the author's association with the repository."""
        if login.lower() == repository.facts.owner.lower():
            return "OWNER"
        return "COLLABORATOR" if login in repository.facts.collaborators else "NONE"


def addresses(root: str) -> Json:
    """The answer to `GET /`: every kind of thing and where it is, of this API's or not."""
    return {f"{name}_url": f"{root}{path}" for name, path in _ADDRESSES.items()}


def limits(allowances: Mapping[str, Allowance]) -> Json:
    """The answer to `GET /rate_limit`; `allowances`: resource -> the account's."""
    resources = {
        name: {"limit": one.limit, "used": one.used, "remaining": one.remaining, "reset": one.reset}
        for name, one in allowances.items()
    }
    search = {"limit": 30, "used": 0, "remaining": 30, "reset": allowances[CORE].reset}
    return {"resources": {**resources, "search": search}, "rate": resources[CORE]}


def stamp(seconds: int) -> str:
    """A time as GitHub writes it: UTC, whole seconds."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def stamp_or_none(seconds: int | None) -> str | None:
    """Return `stamp` of a time, or None."""
    return None if seconds is None else stamp(seconds)


def node(kind: str, number: int | str) -> str:
    """A global node id; opaque to clients."""
    return f"{kind}_lab{number}"
