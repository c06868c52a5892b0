"""Replicas that lag: right after a change the first reads are answered as if it had not happened yet.

GitHub answers from copies that learn of a change a moment later. With `Lag`, each creation, label change, push, merge
and token is followed by a few such answers, drawn from a seed: 401, 404, 422, an older answer, a shorter list, an
empty one, `mergeable: null`. Nothing is lost by them: whoever asks again gets the present answer.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from lab.github.fault_injection.faults import Fault, FaultKind, is_git
from lab.github.fault_injection.middleware import FAULTS, token_of
from lab.github.http.refusals import Refusal, custom, invalid
from lab.github.world.issues import EventRecord

CAUGHT_UP_SECONDS = 20.0
"""Seconds of lab time after a change until every replica knows of it, unless `begin` says otherwise."""

MOST_ANSWERS = 500
"""Answers that are kept, to be given once more when they are old."""


class How(StrEnum):
    """Answer of a replica that does not know of a change yet."""

    UNAUTHORIZED = "401"
    NOT_FOUND = "404"
    NO_LABEL = "404 of a label"
    NO_NODE = "422 no node"
    NO_COMMIT = "422 no commit"
    NO_HEAD = "422 head invalid"
    NO_COMMITS = "422 no commits between"
    OLDER = "an older answer"
    SHORTER = "a list without its last entry"
    EMPTY = "an empty list"
    NOT_MERGEABLE_YET = "mergeable is null"


@dataclass(frozen=True, slots=True)
class LagRule:
    """After `event`, the first calls of `method` and `path` are answered in one of these ways.

    `path` continues the repository's own; what stands in braces is named by the event.
    """

    event: str
    method: str
    path: str
    ways: Sequence[How]


_ITEM = r"/(?:issues|pulls)/{number}"

LATENESS = (
    LagRule("issue", "GET", r"/issues/{number}", (How.NOT_FOUND,)),
    LagRule("issue", "POST", r"/issues/{number}/labels", (How.NOT_FOUND, How.NO_NODE)),
    LagRule("issue", "GET", r"/issues", (How.OLDER,)),
    LagRule("pull", "GET", _ITEM, (How.NOT_FOUND,)),
    LagRule("pull", "GET", rf"{_ITEM}/(?:comments|reviews|events)", (How.NOT_FOUND,)),
    LagRule("pull", "POST", r"/issues/{number}/(?:labels|comments)", (How.NOT_FOUND, How.NO_NODE)),
    LagRule("pull", "POST", r"/pulls/{number}/(?:reviews|requested_reviewers)", (How.NOT_FOUND, How.NO_NODE)),
    LagRule("pull", "GET", r"/pulls", (How.OLDER, How.EMPTY)),
    LagRule("comment", "(?:GET|PATCH)", r"/issues/comments/{id}", (How.NOT_FOUND,)),
    LagRule("comment", "GET", r"/issues/{number}/comments", (How.OLDER, How.SHORTER)),
    LagRule("labels", "GET", r"/issues/{number}(?:/labels)?", (How.OLDER,)),
    LagRule("labels", "GET", r"/issues", (How.OLDER,)),
    LagRule("labels", "DELETE", r"/issues/{number}/labels/{name}", (How.NO_LABEL,)),
    LagRule("review", "GET", r"/pulls/{number}/reviews", (How.OLDER, How.SHORTER)),
    LagRule("push", "GET", r"/commits/{sha}/check-runs", (How.NOT_FOUND, How.NO_COMMIT, How.EMPTY)),
    LagRule("push", "GET", r"/commits/{sha}/(?:check-suites|status)", (How.NOT_FOUND, How.NO_COMMIT)),
    LagRule("push", "POST", r"/pulls", (How.NO_HEAD, How.NO_COMMITS)),
    LagRule("push", "GET", r"/pulls/\d+", (How.NOT_MERGEABLE_YET,)),
    LagRule("merge", "GET", _ITEM, (How.OLDER,)),
    LagRule("merge", "GET", r"/(?:issues|pulls)", (How.OLDER,)),
)
"""Late answers that may follow each event."""

_EVENTS = (
    ("POST", r"/issues", "issue"),
    ("POST", r"/pulls", "pull"),
    ("POST", r"/issues/(?P<number>\d+)/comments", "comment"),
    ("(?:POST|PUT|DELETE)", r"/issues/(?P<number>\d+)/labels(?:/.*)?", "labels"),
    ("PATCH", r"/(?:issues|pulls)/(?P<number>\d+)", "labels"),
    ("POST", r"/pulls/(?P<number>\d+)/reviews", "review"),
    ("PUT", r"/pulls/(?P<number>\d+)/merge", "merge"),
)
_INSIDE = re.compile(r"(?:/api/v3)?/(?:repos/[^/]+/[^/]+|repositories/\d+)(/.*)")
_TOKEN = re.compile(r"/app/installations/\d+/access_tokens")


@dataclass(slots=True)
class _Due:
    """Calls that still get a late answer."""

    method: str
    path: re.Pattern[str]
    ways: Sequence[How]
    left: int
    until: float


class Lag:
    """The lag of the replicas of one lab; `counts` tells which late answers were given."""

    def __init__(self, now: Callable[[], float], events: Callable[[], Sequence[EventRecord]]) -> None:
        """`now` is lab time, `events` what happened in all threads so far. Nothing lags before `begin`."""
        self._events = events
        self._now, self._share, self._seconds = now, 0.0, CAUGHT_UP_SECONDS
        self._chance = random.Random(0)
        self._due: list[_Due] = []
        self._answers: OrderedDict[str, tuple[bytes, str]] = OrderedDict()
        self._young: dict[str, int] = {}
        self.counts: Counter[str] = Counter()

    def begin(self, seed: int, *, share: float = 0.5, seconds: float = CAUGHT_UP_SECONDS) -> None:
        """Let about `share` of the answers that may come late be late from now on; 0 ends it.

        Each is late once or twice, and for `seconds` at most.
        """
        self._chance, self._share, self._seconds = random.Random(seed), share, seconds
        self._due.clear()

    @web.middleware
    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer late, or as the handler does. Belongs inside the faults."""
        if not self._share:
            return await handler(request)
        if self._young.get(token_of(request), 0) > 0:
            self._young[token_of(request)] -= 1
            return self._refuse(request, How.UNAUTHORIZED)
        if request.path.endswith("/graphql"):
            return await self._graphql(request, handler)
        inside = _INSIDE.fullmatch(request.path)
        if is_git(request.path) or inside is None:
            response = await handler(request)
            if _TOKEN.search(request.path) and response.status == 201:
                self._young[json.loads(_body(response))["token"]] = self._chance.choice((0, 1, 2))
            return response
        how = self._take_due(request.method, inside[1])
        if how is not None and (early := self._answer_early(request, how)) is not None:
            return early
        response = await handler(request)
        if how is not None and response.status == 200:
            return self._spoil(request, how, response)
        await self._notice(request, inside[1], response)
        return response

    async def _graphql(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer as the primary does; label changes are late in REST, as after REST's own changes."""
        before = len(self._events())
        response = await handler(request)
        for event in self._events()[before:]:
            if event.event in {"labeled", "unlabeled"}:
                self._follow("labels", {"number": str(event.number)})
            if event.event == "labeled":
                self._follow("labels", {"number": str(event.number), "name": event.detail["name"]})
        return response

    def pushed(self, sha: str) -> None:
        """Note that a branch points to a commit that no replica has seen."""
        self._follow("push", {"sha": sha})

    def forget_token(self, value: str) -> None:
        """Refuse the next request with this token once more."""
        self._young[value] = 1

    def _take_due(self, method: str, path: str) -> How | None:
        now = self._now()
        self._due = [due for due in self._due if due.left > 0 and now < due.until]
        for due in self._due:
            if re.fullmatch(due.method, method) and due.path.fullmatch(path):
                due.left -= 1
                return self._chance.choice(due.ways)
        return None

    def _answer_early(self, request: web.Request, how: How) -> web.Response | None:
        """Return the answer that is given without asking the world; None when it is made from the present answer."""
        if how is How.OLDER and request.method == "GET":
            return self._answer_older(request)
        return self._refuse(request, how) if how in _REFUSALS else None

    def _refuse(self, request: web.Request, how: How) -> web.Response:
        refusal = _REFUSALS[how]
        self._mark(request, how)
        if is_git(request.path):
            return web.Response(status=refusal.status, text=refusal.message, headers=_CHALLENGE)
        return web.json_response(refusal.body, status=refusal.status)

    def _answer_older(self, request: web.Request) -> web.Response | None:
        answer_before = self._answers.get(_key(request))
        if answer_before is None:
            return None
        body, tag = answer_before
        self._mark(request, How.OLDER)
        if tag and tag.removeprefix("W/") in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers={"ETag": tag})
        headers = {"ETag": tag} if tag else {}
        return web.Response(body=body, headers={**headers, "Content-Type": "application/json; charset=utf-8"})

    def _spoil(self, request: web.Request, how: How, response: web.StreamResponse) -> web.StreamResponse:
        """Return the present answer as a replica gives it that knows half of it."""
        value = json.loads(_body(response) or b"null")
        changed = _change(how, value)
        if changed is None or not isinstance(response, web.Response):
            return response
        self._mark(request, how)
        response.body = json.dumps(changed).encode()
        response.headers.popall("ETag", None)  # the tag is the body's, and this is another body
        return response

    async def _notice(self, request: web.Request, path: str, response: web.StreamResponse) -> None:
        """Remember the answer, and the change."""
        if request.method == "GET":
            if response.status == 200 and _body(response):
                self._answers[_key(request)] = _body(response), response.headers.get("ETag", "")
                while len(self._answers) > MOST_ANSWERS:
                    self._answers.popitem(last=False)
            return
        for method, pattern, event in _EVENTS if response.status < 300 else ():
            match = re.fullmatch(pattern, path)
            if match is not None and re.fullmatch(method, request.method):
                self._follow(event, {**_read_names(_body(response)), **match.groupdict()})
                if event == "labels" and request.method == "POST":
                    self._follow_labels(match["number"], await request.read())

    def _follow_labels(self, number: str, body: bytes) -> None:
        given = json.loads(body or b"{}")
        for name in given.get("labels", ()) if isinstance(given, dict) else ():
            self._follow("labels", {"number": number, "name": str(name)})

    def _follow(self, event: str, names: Mapping[str, str]) -> None:
        for row in LATENESS:
            if row.event != event or self._chance.random() >= self._share:
                continue
            wanted = set(re.findall(r"{([a-z]+)}", row.path))
            if wanted <= names.keys() and (event != "labels" or ("name" in wanted) == ("name" in names)):
                path = re.sub(r"{([a-z]+)}", lambda found: re.escape(names[found[1]]), row.path)
                left = self._chance.choice((1, 1, 2))
                until = self._now() + self._seconds
                self._due.append(_Due(row.method, re.compile(path), row.ways, left, until))

    def _mark(self, request: web.Request, how: How) -> None:
        """Mark the exchange as spoiled on purpose, so that it is not judged by GitHub's API description."""
        self.counts[how] += 1
        request[FAULTS].append(Fault(FaultKind.BEHIND))


_CHALLENGE = {"WWW-Authenticate": 'Basic realm="GitHub"'}

_REFUSALS = {
    How.UNAUTHORIZED: Refusal(401, "Bad credentials"),
    How.NOT_FOUND: Refusal(404, "Not Found"),
    How.NO_LABEL: Refusal(404, "Label does not exist"),
    How.NO_NODE: Refusal(
        422, "Validation Failed", errors=("Could not resolve to a node with the global id of 'PR_kwDO'.",)
    ),
    How.NO_COMMIT: Refusal(422, "No commit found for SHA"),
    How.NO_HEAD: invalid("PullRequest", "head"),
    How.NO_COMMITS: custom("PullRequest", "No commits between the base and the head"),
}


def _change(how: How, value: Any) -> Any:
    """Return the value as `how` has it; None when it makes no difference."""
    if how is How.NOT_MERGEABLE_YET and isinstance(value, dict):
        return {**value, "mergeable": None}
    if how not in {How.SHORTER, How.EMPTY}:
        return None
    if isinstance(value, list):
        return value[:-1] if how is How.SHORTER else []
    if isinstance(value, dict) and isinstance(value.get("check_runs"), list):
        return {"total_count": 0, "check_runs": []}
    return None


def _read_names(body: bytes) -> dict[str, str]:
    value = json.loads(body) if body else None
    if not isinstance(value, dict):
        return {}
    return {name: str(value[name]) for name in ("number", "id") if name in value}


def _key(request: web.Request) -> str:
    return f"{request.headers.get('Authorization', '')} {request.raw_path}"


def _body(response: web.StreamResponse) -> bytes:
    body = response.body if isinstance(response, web.Response) else None
    return body if isinstance(body, bytes) else b""
