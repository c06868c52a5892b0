"""One API call as an operation sees it, and how operations are declared.

An operation is an async function from `ApiCall` to `Reply`; everything around it (tokens, permissions,
ETags, limits, faults) is `service.py`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.wire.site import Json, ServedRoot
from lab.github.world.accounts import CORE, GRAPHQL, AccountRecord, AppRecord
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import PullRecord
from lab.github.world.records import Staleness
from lab.github.world.repository import RepositoryRecord

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

REPOSITORY = "/repos/{owner}/{repo}"
"""The beginning of every path inside a repository."""

THREADS = ("issues", "pull_requests")
"""Permissions of the operations on threads: either one reaches issues and pull requests."""

DEFAULT_PAGE = 30
LARGEST_PAGE = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer of an operation: JSON in `body`, or ready bytes in `content`."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    content_type: str = "application/json; charset=utf-8"


def created(body: Json) -> Reply:
    """Answer 201 with what was made, and with its address."""
    return Reply(201, body, {"Location": body["url"]})


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One authenticated, permitted request. `path` is what follows the repository's own path.

    The root of `site` is the API's as the caller came to it: pages are turned along the same way.
    """

    site: ServedRoot
    account: AccountRecord
    home: RepositoryRecord | None
    path: str
    match: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    accept: str
    stale: Staleness | None = None
    app: AppRecord | None = None

    @property
    def repository(self) -> RepositoryRecord:
        """The repository that the path names."""
        if self.home is None:
            raise not_found()
        return self.home

    @property
    def trusted(self) -> bool:
        """True if the caller has write access to the repository."""
        return self.repository.facts.reaches(self.login, "write")

    @property
    def login(self) -> str:
        """Login of the caller."""
        return self.account.login

    @property
    def fields(self) -> dict[str, Any]:
        """The body, which must be a JSON object; none counts as an empty one."""
        if self.body is None:
            return {}
        if not isinstance(self.body, dict):
            raise Refusal(400, "Body should be a JSON object")
        return self.body

    def issue(self) -> IssueRecord:
        """The thread that the path names; 404, 410 or 301 if it is not here."""
        return self.repository.issues.require(self.number("issue_number"))

    def pull(self) -> PullRecord:
        """The pull request that the path names, or 404."""
        return self.repository.pulls.require(self.number("pull_number"))

    def number(self, name: str) -> int:
        """A number in the path, or 404."""
        text = self.match[name]
        if re.fullmatch(r"[0-9]{1,18}", text) is None:
            raise not_found()
        return int(text)

    def text(self, resource: str, name: str) -> str:
        """A string of the body that must be there, or 422."""
        found = self.optional_text(resource, name)
        if found is None:
            raise invalid(resource, name, "missing_field")
        return found

    def optional_text(self, resource: str, name: str) -> str | None:
        """A string of the body, or None; 422 for anything else."""
        found = self.fields.get(name)
        if found is not None and not isinstance(found, str):
            raise invalid(resource, name)
        return found

    def integer(self, resource: str, name: str) -> int | None:
        """A whole number of the body, or None; 422 for anything else."""
        found = self.fields.get(name)
        if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
            raise invalid(resource, name)
        return found

    def names(self, resource: str, name: str) -> list[str] | None:
        """A list of strings, or of objects with a `name`; None when the body has no such field."""
        found = self.fields.get(name)
        if found is None:
            return None
        if not isinstance(found, list):
            raise invalid(resource, name)
        values = [one.get("name") if isinstance(one, dict) else one for one in found]
        strings = [value for value in values if isinstance(value, str) and value]
        if len(strings) < len(values):
            raise invalid(resource, name)
        return strings

    def choice(self, resource: str, name: str, allowed: Sequence[str]) -> str:
        """A query parameter with few values, the first of which is the default; 422 for others."""
        value = self.query.get(name) or allowed[0]
        if value not in allowed:
            raise invalid(resource, name)
        return value

    def sort(self, resource: str, comments: list[Any]) -> None:
        """Sort comments by the query's `sort`, and only then by its `direction`; without it they stay as they are."""
        if "sort" in self.query:
            field = f"{self.choice(resource, 'sort', ('created', 'updated'))}_at"
            descending = self.choice(resource, "direction", ("desc", "asc")) == "desc"
            comments.sort(key=lambda comment: (getattr(comment, field), comment.id), reverse=descending)

    def since(self, resource: str) -> int:
        """The query's `since` in epoch seconds; 0 when there is none."""
        return _seconds(resource, "since", self.query.get("since") or None) or 0

    def until(self, resource: str) -> int | None:
        """The query's `until` in epoch seconds, or None."""
        return _seconds(resource, "until", self.query.get("until") or None)

    def time(self, resource: str, name: str) -> int | None:
        """A time of the body in epoch seconds, or None; 422 for anything else."""
        return _seconds(resource, name, self.fields.get(name))

    def wants(self, media: str) -> bool:
        """Return whether `Accept` asks for one of GitHub's media types, for example `diff`."""
        return re.search(rf"application/vnd\.github(\.v3)?\.{media}\b", self.accept) is not None

    def show(
        self, show: Callable[Concatenate[ServedRoot, RepositoryRecord, P], S], *args: P.args, **kwargs: P.kwargs
    ) -> S:
        """Something of the repository as GitHub's JSON."""
        return show(self.site, self.repository, *args, **kwargs)

    def list(
        self, show: Callable[[ServedRoot, RepositoryRecord, R], Json], records: Sequence[R], key: str | None = None
    ) -> Reply:
        """One page of records of the repository; see `page`."""
        return self.page(records, lambda record: show(self.site, self.repository, record), key)

    def page(self, records: Sequence[R], show: Callable[[R], Any], key: str | None = None) -> Reply:
        """One page of a list with its `Link`; with `key` the list is wrapped and counted."""
        size = min(_positive(self.query.get("per_page"), DEFAULT_PAGE), LARGEST_PAGE)
        number, last = _positive(self.query.get("page"), 1), max(1, -(-len(records) // size))
        shown = [show(record) for record in records[(number - 1) * size : number * size]]
        body = shown if key is None else {"total_count": len(records), key: shown}
        links = self._links(number, last)
        return Reply(body=body, headers={"Link": links} if links else {})

    def _links(self, number: int, last: int) -> str:
        near = [("prev", number - 1), ("next", number + 1), ("last", last), ("first", 1)]
        wanted = {"prev": number > 1, "first": number > 1, "next": number < last, "last": number < last}
        return ", ".join(f'<{self._url(page)}>; rel="{rel}"' for rel, page in near if wanted[rel])

    def _url(self, page: int) -> str:
        home = "" if self.home is None else f"/repositories/{self.home.facts.id}"
        return f"{self.site.root}{home}{self.path}?{urlencode({**self.query, 'page': page})}"


Function = Callable[[ApiCall], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API: any one of `permissions` at `level`, and the account's `role`.

    Of two that `creates`, GitHub wants a pause; one `as_app` takes an App's JSON web token instead of a token.
    `resource` names the hourly limit that it is charged to.
    """

    method: str
    template: str
    function: Function
    permissions: tuple[str, ...] = ()
    level: str = "read"
    role: str = "read"
    charged: bool = True
    creates: bool = False
    as_app: bool = False
    resource: str = CORE


class Operations(list[Operation]):
    """The operations of one file, declared by decorator; paths continue `prefix`."""

    def __init__(self, prefix: str = REPOSITORY) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, path: str, *permissions: str, charged: bool = True) -> Callable[[Function], Function]:
        """Declare a read: open to everybody who may read the repository."""
        return self._add("GET", path, permissions=permissions, charged=charged)

    def read_as_admin(self, path: str) -> Callable[[Function], Function]:
        """Declare a read that needs the administration permission even where everybody may read."""
        return self._add("GET", path, permissions=("administration",), role="admin")

    def write(
        self, method: str, path: str, *permissions: str, role: str = "write", creates: bool = False
    ) -> Callable[[Function], Function]:
        """Declare a write: it needs the token's permission, and the account's `role` in the repository."""
        return self._add(method, path, permissions=permissions, level="write", role=role, creates=creates)

    def graphql(self, path: str) -> Callable[[Function], Function]:
        """Declare the path of GraphQL, which has an hourly limit of its own."""
        return self._add("POST", path, level="write", role="write", resource=GRAPHQL)

    def as_app(self, method: str, path: str) -> Callable[[Function], Function]:
        """Declare an operation that only an App may do, as itself."""
        return self._add(method, path, as_app=True)

    def _add(self, method: str, path: str, **needs: Any) -> Callable[[Function], Function]:
        def declare(function: Function) -> Function:
            self.append(Operation(method, self._prefix + path, function, **needs))
            return function

        return declare


def _seconds(resource: str, name: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        return int(datetime.fromisoformat(value).timestamp())
    except (TypeError, ValueError, OverflowError):
        raise invalid(resource, name) from None


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"0*[1-9][0-9]{0,17}", text) else default
