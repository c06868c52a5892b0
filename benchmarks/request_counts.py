"""Counts of requests to GitHub (pure): the proxy notes requests, the benchmarks read tallies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_CONTENT = re.compile(
    r"/repos/[^/]+/[^/]+/(issues|pulls)(/\d+/(comments|reviews|merge|requested_reviewers)(/\d+/replies)?)?"
)
"""Paths whose POST or PUT notifies people: GitHub's official description marks these."""

_SPEECH = re.compile(r"/repos/[^/]+/[^/]+/(pulls|issues/\d+/comments|pulls/\d+/(comments|reviews))")
"""POSTs by which a comment, a review or a pull request appears in front of people."""

_CHANGE_LIST = re.compile(r"/repos/[^/]+/[^/]+/issues\?state=open&sort=updated&direction=desc&per_page=100")

_NUMBER = re.compile(r"(?<=/)\d+(?=/|$)")
_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the status of its answer; `target` is path and query, `token` the end of the caller's token.

    `agent` is the agent that the request names.
    `asked` and `answered` are seconds of the event loop's clock; `wait_seconds` is the pause that the answer asks for.
    """

    method: str
    target: str
    status: int
    token: str = ""
    asked: float = 0.0
    answered: float = 0.0
    wait_seconds: float = 0.0
    agent: str = ""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def git(self) -> bool:
        """True if git sent it: git is not charged to the REST limits."""
        return ".git/" in self.path

    @property
    def charged(self) -> bool:
        """True if it counts against REST's hourly limit: no 304, and no look at the limit itself."""
        return not self.git and not self.graphql and self.status != 304 and self.path != "/rate_limit"

    @property
    def graphql(self) -> bool:
        """True if it is an operation of GraphQL, which has an hourly limit of its own, of as many points."""
        return self.path == "/graphql"

    @property
    def write(self) -> bool:
        """True if it changes something."""
        return not self.git and self.method in WRITES

    @property
    def content(self) -> bool:
        """True if it counts against the limits on creating content."""
        return self.method in {"POST", "PUT"} and not self.git and _CONTENT.fullmatch(self.path) is not None

    @property
    def refused(self) -> bool:
        """True if a limit was reached: the caller is to wait."""
        return not self.git and self.status in {403, 429} and self.wait_seconds > 0

    @property
    def speech(self) -> bool:
        """True if a comment, review or pull request appeared."""
        return self.method == "POST" and self.status < 300 and _SPEECH.fullmatch(self.path) is not None

    @property
    def change_list(self) -> bool:
        """True if it is the poll: the one list that tells of any change."""
        return self.method == "GET" and _CHANGE_LIST.fullmatch(self.target) is not None

    @property
    def shape(self) -> str:
        """Method and path with numbers and commits blanked, for people."""
        path = _SHA.sub("SHA", _NUMBER.sub("N", self.path))
        return (
            f"{self.method} {re.sub(r'^/repos/[^/]+/[^/]+', '', path) or path}{' (poll)' if self.change_list else ''}"
        )


def wait_asked(headers: Mapping[str, str]) -> float:
    """Return the seconds that an answer asks to wait: as given, or until a used-up hour ends; 0 for none."""
    if "Retry-After" in headers:
        return float(headers["Retry-After"])
    if headers.get("X-RateLimit-Remaining") != "0":
        return 0.0
    return max(0.0, float(headers["X-RateLimit-Reset"]) - parsedate_to_datetime(headers["Date"]).timestamp())


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a stretch of traffic."""

    requests: int
    charged: int
    charged_change_lists: int
    graphql: int
    writes: int
    content: int
    speech: int
    git: int
    shapes: dict[str, int]

    @property
    def charged_besides_polling(self) -> int:
        """Charged requests without the reads of the change list."""
        return self.charged - self.charged_change_lists


def tally(exchanges: Iterable[Exchange]) -> Tally:
    """Count; `shapes` are the charged requests by what they are."""
    every = list(exchanges)
    rest = [one for one in every if not one.git]
    charged = [one for one in rest if one.charged]
    return Tally(
        requests=len(rest),
        charged=len(charged),
        charged_change_lists=sum(one.change_list for one in charged),
        graphql=sum(one.graphql for one in rest),
        writes=sum(one.write for one in rest),
        content=sum(one.content for one in rest),
        speech=sum(one.speech for one in rest),
        git=len(every) - len(rest),
        shapes=dict(sorted(Counter(one.shape for one in charged).items(), key=lambda pair: (-pair[1], pair[0]))),
    )
