"""GitHub's refusals: a status, a message and, for 422, a list of errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"
"""The page that every refusal names; GitHub names a more exact one."""


class Refusal(Exception):
    """An answer of 3xx or 4xx that ends an operation."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: tuple[Mapping[str, Any] | str, ...] = (),
        headers: Mapping[str, str] | None = None,
        url: str | None = None,
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status, self.message, self.errors = status, message, errors
        self.headers = dict(headers or {})
        self.url = url

    @property
    def body(self) -> dict[str, Any]:
        """The JSON that GitHub sends with it."""
        errors = {"errors": list(self.errors)} if self.errors else {}
        where = {} if self.url is None else {"url": self.url}
        said = {"message": self.message, **errors, **where}
        return {**said, "documentation_url": DOCUMENTATION, "status": str(self.status)}


class Moved(Exception):
    """The resource has moved to `path`, below the API's root."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def redirected(method: str, location: str) -> Refusal:
    """301 for a read; 307 for anything else, so that it is repeated with its method and body."""
    status = 301 if method in {"GET", "HEAD"} else 307
    return Refusal(status, "Moved Permanently", url=location, headers={"Location": location})


def not_found() -> Refusal:
    """Return a 404: it does not exist, or may not be seen."""
    return Refusal(404, "Not Found")


def not_accessible(*, bot: bool) -> Refusal:
    """The token's permissions do not reach so far."""
    return Refusal(403, f"Resource not accessible by {'integration' if bot else 'personal access token'}")


def no_rights() -> Refusal:
    """The person behind the token may not do this in this repository."""
    return Refusal(403, "Must have admin rights to Repository.")


def invalid(resource: str, field: str, code: str = "invalid") -> Refusal:
    """422 for one field: `missing_field`, `invalid`, `already_exists`; for a review it is a bare sentence."""
    if resource == "PullRequestReview":
        return unprocessable(f"{field.capitalize()} is {'missing' if code == 'missing_field' else code}")
    return Refusal(422, "Validation Failed", errors=({"resource": resource, "code": code, "field": field},))


def custom(resource: str, message: str, field: str | None = None) -> Refusal:
    """422 with GitHub's own sentence."""
    where = {} if field is None else {"field": field}
    error = {"resource": resource, "code": "custom", **where, "message": message}
    return Refusal(422, "Validation Failed", errors=(error,))


def unprocessable(message: str) -> Refusal:
    """422 as the review and git operations word it: bare sentences."""
    return Refusal(422, "Unprocessable Entity", errors=(message,))
