"""GitHub's JSON converted to our models: the only place that knows GitHub's field names.

Deleted accounts become `GHOST`, a missing body the empty text. Any other missing field makes the
whole answer unusable (`read`, `each`) or a write's outcome unknown (`reply`), never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from shared.errors import Transient, UnknownOutcome
from shared.models import (
    GHOST_ID,
    Account,
    Assignment,
    Blocker,
    Comment,
    Issue,
    LabelEvent,
    PullRequest,
    Repository,
    Review,
    ReviewComment,
    ReviewState,
)

T = TypeVar("T")

GHOST = Account(GHOST_ID, "ghost")
"""Stands for a deleted account."""

_MALFORMED = (KeyError, TypeError, ValueError, AttributeError)


def read(convert: Callable[[Any], T], value: Any) -> T:
    """Convert what was read; raises `Transient` if a field is missing or of another type."""
    try:
        return convert(value)
    except _MALFORMED as error:
        raise Transient(f"GitHub's answer is not a complete {convert.__name__}: {error!r}") from error


def each(convert: Callable[[Any], T], values: Iterable[Any]) -> tuple[T, ...]:
    """Convert a list that was read, in its order; raises `Transient` as `read` does."""
    return tuple(read(convert, value) for value in values)


def reply(convert: Callable[[Any], T], value: Any) -> T:
    """Convert the reply to a write; raises `UnknownOutcome` if it is not what was expected."""
    try:
        return convert(value)
    except _MALFORMED as error:
        raise UnknownOutcome(f"GitHub's reply is not a complete {convert.__name__}: {error!r}") from error


def account(value: Any) -> Account:
    """Read a user, an organisation or a bot."""
    return Account(int(value["id"]), str(value["login"]))


def author(value: Any) -> Account:
    """Read the account of an author; null is a deleted account."""
    return GHOST if value is None else account(value)


def repository(value: Any) -> Repository:
    """Read a repository."""
    return Repository(
        id=int(value["id"]),
        full_name=str(value["full_name"]),
        default_branch=str(value["default_branch"]),
        private=bool(value.get("private")),
        archived=bool(value.get("archived")),
    )


def label_names(value: Any) -> frozenset[str]:
    """Read the names in a list of labels."""
    return frozenset(str(label if isinstance(label, str) else label["name"]) for label in value)


def label_look(value: Any) -> tuple[str, tuple[str, str]]:
    """Read a label's definition: its name, and its colour (6 hex digits) and description."""
    return str(value["name"]), (str(value.get("color") or "").casefold(), value.get("description") or "")


def issue(value: Any) -> Issue:
    """Read an issue, or a pull request in the form of an issue."""
    return Issue(
        number=int(value["number"]),
        title=str(value["title"]),
        body=value.get("body") or "",
        labels=label_names(value["labels"]),
        author=author(value["user"]),
        created_at=_time(value["created_at"]),
        updated_at=_time(value["updated_at"]),
        open=value["state"] == "open",
        locked=bool(value.get("locked")),
        is_pull_request=bool(value.get("pull_request")),
        closed_at=_time(value["closed_at"]) if value.get("closed_at") else None,
        assignees=tuple(account(one) for one in value.get("assignees") or ()),
        comments=int(value.get("comments") or 0),
        draft=bool(value.get("draft")),
        # Servers without issue dependencies leave the summary out.
        blocked_by=int((value.get("issue_dependencies_summary") or {}).get("blocked_by") or 0),
    )


def blocker(value: Any) -> Blocker:
    """Read an issue in a list of blockers, named with its repository, which may be another one."""
    owner, name = str(value["repository_url"]).rsplit("/", 2)[-2:]
    return Blocker(int(value["number"]), f"{owner}/{name}", value["state"] == "open")


def comment(value: Any) -> Comment:
    """Read a comment in a thread, whose number is the end of its `issue_url`."""
    return Comment(
        id=int(value["id"]),
        number=int(str(value["issue_url"]).rpartition("/")[2]),
        author=author(value["user"]),
        body=value.get("body") or "",
        created_at=_time(value["created_at"]),
        updated_at=_time(value["updated_at"]),
        association=str(value.get("author_association") or ""),
    )


def label_event(value: Any) -> LabelEvent:
    """Read an event of kind `labeled` or `unlabeled`."""
    return LabelEvent(
        id=int(value["id"]),
        label=str(value["label"]["name"]),
        added=value["event"] == "labeled",
        actor=author(value["actor"]),
        at=_time(value["created_at"]),
    )


def assignment(value: Any) -> Assignment:
    """Read an event of kind `assigned`; the person who assigned is `assigner`, and not always its `actor`."""
    return Assignment(
        id=int(value["id"]),
        assignee=author(value["assignee"]),
        actor=author(value["assigner"]),
        at=_time(value["created_at"]),
    )


def pull_request(value: Any) -> PullRequest:
    """Read a pull request, from the single resource or from a list (which lacks `merged` and `mergeable`)."""
    merged = bool(value.get("merged") or value.get("merged_at"))
    return PullRequest(
        number=int(value["number"]),
        title=str(value["title"]),
        body=value.get("body") or "",
        author=author(value["user"]),
        labels=label_names(value["labels"]),
        head_branch=str(value["head"]["ref"]),
        head_sha=str(value["head"]["sha"]),
        base_branch=str(value["base"]["ref"]),
        open=value["state"] == "open",
        merged=merged,
        # Before the merge this field names GitHub's trial merge, which is on no branch.
        merge_sha=value.get("merge_commit_sha") if merged else None,
        mergeable=value.get("mergeable"),
        behind=value.get("mergeable_state") == "behind",
        merge_state=str(value.get("mergeable_state") or ""),
        draft=bool(value.get("draft")),
        node_id=str(value.get("node_id") or ""),
        head_repository=_full_name(value["head"]),
        base_repository=_full_name(value["base"]),
    )


def _full_name(end: Any) -> str:
    """Read the repository of an end of a pull request; null is a deleted one."""
    return str((end.get("repo") or {}).get("full_name") or "")


def review(value: Any) -> Review:
    """Read a submitted review."""
    return Review(
        id=int(value["id"]),
        author=author(value["user"]),
        state=ReviewState(value["state"]),
        body=value.get("body") or "",
        head_sha=value.get("commit_id") or "",
        submitted_at=_time(value["submitted_at"]),
        node_id=str(value.get("node_id") or ""),
    )


def review_comment(value: Any) -> ReviewComment:
    """Read an inline comment; one on a line that is no longer in the diff has no line."""
    return ReviewComment(
        id=int(value["id"]),
        author=author(value["user"]),
        path=str(value["path"]),
        line=value.get("line"),
        body=value.get("body") or "",
        created_at=_time(value["created_at"]),
        updated_at=_time(value["updated_at"]),
        in_reply_to=value.get("in_reply_to_id"),
        review_id=value.get("pull_request_review_id"),
        hunk=value.get("diff_hunk") or "",
    )


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value)
