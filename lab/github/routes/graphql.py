"""GraphQL, as far as the engine uses it: executed by graphql-core against `graphql_schema`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from graphql import GraphQLError, GraphQLSchema, build_schema, graphql

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal
from lab.github.merge_button import enter_queue
from lab.github.routes.graphql_schema import SCHEMA
from lab.github.wire import site
from lab.github.world.accounts import GRAPHQL
from lab.github.world.issues import IssueRecord
from lab.github.world.labels import LabelRecord
from lab.github.world.pulls import InlineRecord, PullRecord, ReviewRecord
from lab.github.world.repository import RepositoryRecord

R = TypeVar("R")

routes = Operations("")


@cache
def schema() -> GraphQLSchema:
    """Build the schema that is served, checked once."""
    return build_schema(SCHEMA)


@routes.graphql("/graphql")
async def answer(call: ApiCall) -> Reply:
    """Execute one operation; GraphQL answers 200 to what it refuses, with its sentences beside the data."""
    world = call.site.world
    if world.quotas[GRAPHQL].allowance(call.login, world.registrar.now()).remaining == 0:
        said = f"API rate limit already exceeded for user ID {call.account.id}."
        return Reply(body={"errors": [{"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": said}]})
    document, variables = call.text("Query", "query"), call.fields.get("variables") or {}
    name = call.fields.get("operationName")
    result = await graphql(schema(), document, _Root(call), variable_values=variables, operation_name=name)
    body: dict[str, Any] = {"data": result.data}
    if result.errors:
        body["errors"] = [{"message": one.message, "path": one.path} for one in result.errors]
    return Reply(body=body)


class _Root:
    """The fields of `Query` and `Mutation`."""

    def __init__(self, call: ApiCall) -> None:
        self._call = call

    def node(self, _: object, id: str) -> Mapping[str, Any]:
        """A pull request by its node id."""
        repository, pull = self._pull(id)
        return _pull_request(repository, pull)

    def repository(self, _: object, owner: str, name: str, followRenames: bool = True) -> Mapping[str, Any] | None:
        """A repository that the caller may read."""
        found = self._call.site.world.repository(f"{owner}/{name}")
        if found is None or not found.facts.reaches(self._call.login, "read"):
            raise GraphQLError(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return _repository(found)

    def viewer(self, _: object) -> Mapping[str, Any]:
        """Return the caller."""
        account = self._call.account
        return {"__typename": "User", "id": site.node("U", account.id), "login": account.login}

    async def enqueuePullRequest(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Enter the merge queue."""
        repository, pull = self._pull(input["pullRequestId"])
        try:
            await enter_queue(repository, pull, input.get("expectedHeadOid"), self._call.account)
        except Refusal as refusal:
            raise GraphQLError(refusal.message) from refusal
        return {"mergeQueueEntry": _entry(pull)}

    def resolveReviewThread(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Mark a thread as resolved."""
        repository, remark = self._find(input["threadId"], _roots, _thread_id)
        return {"thread": _thread(repository.pulls.inline.change(remark.id, resolved=True))}

    def minimizeComment(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Hide a review; allowed to its author, and to those with write access."""
        repository, review = self._find(input["subjectId"], lambda one: one.pulls.reviews.values(), _review_node)
        hidden = repository.pulls.reviews.change(review.id, hidden=input["classifier"].lower())
        return {"minimizedComment": _review(hidden)}

    def addLabelsToLabelable(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put labels on an issue or a pull request."""
        repository, number = self._labelable(input["labelableId"])
        names = [one.name for one in _labels(repository, input["labelIds"])]
        repository.issues.add_labels(number, names, self._call.login)
        return {"labelable": self._labelled(repository, number)}

    def removeLabelsFromLabelable(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take labels off; labels that the thread does not have are no error."""
        repository, number = self._labelable(input["labelableId"])
        for label in _labels(repository, input["labelIds"]):
            if label.name in repository.issues.require(number).labels:
                repository.issues.remove_label(number, label.name, self._call.login)
        return {"labelable": self._labelled(repository, number)}

    def _labelled(self, repository: RepositoryRecord, number: int) -> Mapping[str, Any]:
        """A thread after a change of its labels; a pull request with the reviews that the caller sees."""
        shown = _labelled_thread(repository, number)
        if not repository.issues.require(number).is_pull:
            return shown
        reviews = _pages(lambda: [_review(one) for one in repository.pulls.reviews_of(number, self._call.login)])
        return {**shown, "reviews": reviews}

    def updateIssue(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Replace an issue's text."""
        repository, number = self._issue(input["id"])
        repository.issues.edit(number, self._call.login, body=input.get("body"))
        return {"issue": _labelled_thread(repository, number)}

    def closeIssue(self, _: object, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Close an issue; a closed one stays closed."""
        repository, number = self._issue(input["issueId"])
        repository.issues.close(number, self._call.login, (input.get("stateReason") or "COMPLETED").lower())
        return {"issue": _labelled_thread(repository, number)}

    def _issue(self, name: str) -> tuple[RepositoryRecord, int]:
        repository, number = self._labelable(name)
        if repository.issues.require(number).is_pull:
            raise GraphQLError(f"Could not resolve to Issue node with the global id of '{name}'.")
        return repository, number

    def _labelable(self, name: str) -> tuple[RepositoryRecord, int]:
        repository, thread = self._find(name, lambda one: one.issues.records.values(), _thread_node)
        return repository, thread.number

    def _pull(self, name: str) -> tuple[RepositoryRecord, PullRecord]:
        repository, thread = self._find(name, _pull_threads, _thread_node)
        return repository, repository.pulls.require(thread.number)

    def _find(
        self, name: str, records: Callable[[RepositoryRecord], Iterable[R]], node: Callable[[R], str]
    ) -> tuple[RepositoryRecord, R]:
        """The one of these records that has that node id, in a repository in which the caller may write."""
        for repository in self._call.site.world.repositories.values():
            for record in records(repository):
                if node(record) == name:
                    if not repository.facts.reaches(self._call.login, "write"):
                        raise GraphQLError("Resource not accessible by personal access token")
                    return repository, record
        raise GraphQLError(f"Could not resolve to a node with the global id of '{name}'")


def _pull_threads(repository: RepositoryRecord) -> list[IssueRecord]:
    return [thread for thread in repository.issues.records.values() if thread.is_pull]


def _roots(repository: RepositoryRecord) -> list[InlineRecord]:
    """The first remark of each conversation."""
    return [remark for remark in repository.pulls.inline.values() if remark.in_reply_to is None]


def _thread_node(thread: IssueRecord) -> str:
    return site.node("PR" if thread.is_pull else "I", thread.id)


def _labels(repository: RepositoryRecord, ids: Sequence[str]) -> list[LabelRecord]:
    labels = {site.node("LA", one.id): one for one in repository.labels.values()}
    for name in ids:
        if name not in labels:
            raise GraphQLError(f"Could not resolve to a node with the global id of '{name}'")
    return [labels[name] for name in ids]


def _labelled_thread(repository: RepositoryRecord, number: int) -> Mapping[str, Any]:
    thread = repository.issues.require(number)
    labels = _pages(lambda: [{"id": name, "name": name} for name in thread.labels])
    kind = "PullRequest" if thread.is_pull else "Issue"
    return {"__typename": kind, "id": _thread_node(thread), "number": number, "labels": labels}


def _repository(repository: RepositoryRecord) -> Mapping[str, Any]:
    owner, _, name = repository.full_name.partition("/")

    def pulls(_: object, **filters: Any) -> Mapping[str, Any]:
        found = [one for one in repository.pulls.records.values() if _is_asked_for(repository, one, filters)]
        order = filters.get("orderBy") or {"direction": "ASC"}
        found.sort(key=lambda one: one.number, reverse=order["direction"] == "DESC")
        return _page([_pull_request(repository, one) for one in found], filters.get("first", 100), filters.get("after"))

    return {
        "__typename": "Repository",
        "id": f"R_{owner}_{name}",
        "name": name,
        "owner": {"__typename": "User", "id": f"U_{owner}", "login": owner},
        "pullRequest": lambda _, number: _pull_by_number(repository, number),
        "pullRequests": pulls,
    }


def _is_asked_for(repository: RepositoryRecord, pull: PullRecord, filters: Mapping[str, Any]) -> bool:
    states = filters.get("states")
    return (
        filters.get("headRefName") in {None, pull.head_branch}
        and filters.get("baseRefName") in {None, pull.base_branch}
        and (states is None or _state(repository, pull) in states)
    )


def _state(repository: RepositoryRecord, pull: PullRecord) -> str:
    if pull.merged_at is not None:
        return "MERGED"
    return "OPEN" if repository.pulls.thread(pull.number).open else "CLOSED"


def _pages(nodes: Callable[[], list[Mapping[str, Any]]]) -> Callable[..., Mapping[str, Any]]:
    """Return a resolver for a field that is a connection."""
    return lambda _, first=100, after=None: _page(nodes(), first, after)


def _page(nodes: list[Mapping[str, Any]], first: int, after: str | None) -> Mapping[str, Any]:
    """A connection's page; a cursor is the place in the whole list."""
    begin = int(after or 0)
    page = nodes[begin : begin + first]
    info = {"hasNextPage": begin + first < len(nodes), "endCursor": str(begin + len(page))}
    return {"nodes": page, "pageInfo": info, "totalCount": len(nodes)}


def _pull_by_number(repository: RepositoryRecord, number: int) -> Mapping[str, Any]:
    pull = repository.pulls.records.get(number)
    if pull is None:
        raise GraphQLError(f"Could not resolve to a PullRequest with the number of {number}.")
    return _pull_request(repository, pull)


def _pull_request(repository: RepositoryRecord, pull: PullRecord) -> Mapping[str, Any]:
    remarks = repository.pulls.inline_of
    threads = _pages(lambda: [_thread(one) for one in remarks(pull.number) if one.in_reply_to is None])
    thread = repository.pulls.thread(pull.number)
    return {
        "__typename": "PullRequest",
        "id": site.node("PR", thread.id),
        "headRefName": pull.head_branch,
        "headRepository": lambda *_: None if pull.fork else _repository(repository),
        "number": pull.number,
        "state": _state(repository, pull),
        "title": thread.title,
        "mergeQueueEntry": None if pull.queued_at is None else _entry(pull),
        "timelineItems": lambda _, last, **filters: {"nodes": _removals(repository, pull)[-last:]},
        "reviewThreads": threads,
    }


def _entry(pull: PullRecord) -> Mapping[str, Any]:
    return {"__typename": "MergeQueueEntry", "id": f"MQE_{pull.number}", "state": "QUEUED"}


def _removals(repository: RepositoryRecord, pull: PullRecord) -> list[Mapping[str, Any]]:
    """Return each removal from the merge queue, oldest first."""
    name = "removed_from_merge_queue"
    found = [one for one in repository.issues.events if (one.number, one.event) == (pull.number, name)]
    return [
        {
            "__typename": "RemovedFromMergeQueueEvent",
            "id": site.node("RFMQE", one.id),
            "reason": one.detail["reason"],
            "createdAt": site.stamp(one.at),
            "actor": {"__typename": one.detail["by"], "login": one.actor},
        }
        for one in found
    ]


def _review(record: ReviewRecord) -> Mapping[str, Any]:
    shown = {"isMinimized": bool(record.hidden), "minimizedReason": record.hidden or None}
    return {"__typename": "PullRequestReview", "id": _review_node(record), **shown}


def _review_node(record: ReviewRecord) -> str:
    return site.node("PRR", record.id)


def _thread(root: InlineRecord) -> Mapping[str, Any]:
    first = {"__typename": "PullRequestReviewComment", "id": site.node("PRRC", root.id), "fullDatabaseId": str(root.id)}
    return {
        "__typename": "PullRequestReviewThread",
        "id": _thread_id(root),
        "isResolved": root.resolved,
        "comments": {"nodes": [first], "totalCount": 1},
    }


def _thread_id(root: InlineRecord) -> str:
    return site.node("PRRT", root.id)
