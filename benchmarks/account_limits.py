"""Use of GitHub's limits by accounts, and obedience of their processes to pauses: counts of exchanges (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.request_counts import Exchange
from benchmarks.table import Row

UNDER_WAY_SECONDS = 0.5
"""Seconds after a refusal in which a request may have been sent before the refusal was read."""

MARGIN_SECONDS = 1.0
"""Seconds at the end of a pause that are not counted: the lab tells whole seconds."""

COUNTED_SECONDS = 59.0
"""Seconds in which no more can be created than in the lab's minute, which it tells in whole seconds."""

CHARGED_PER_HOUR = 5000
"""Requests of one account that GitHub, and the lab, allow in an hour."""

POINTS_PER_MINUTE = 900
"""Points of REST requests that GitHub allows one account in a minute: a read is a point, a write five.

GitHub does not say whether an answer 304 counts; here it does. The lab does not enforce this limit.
"""

_POINTS_OF_A_WRITE = 5


def limits(
    exchanges: Sequence[Exchange], owners: Mapping[str, str], *, issues: int, creations_per_minute: int
) -> list[Row]:
    """Return rows about the busiest account and about what followed a refusal; `owners`: token -> account."""
    created: defaultdict[str, list[Exchange]] = defaultdict(list)
    charged: defaultdict[str, list[float]] = defaultdict(list)
    for exchange in exchanges:
        account = owners.get(exchange.token)
        if account is not None and exchange.charged:
            charged[account].append(exchange.answered)
            if exchange.content and exchange.status < 300:
                created[account].append(exchange)
    minute = max((begun_and_ended_within(made, COUNTED_SECONDS) for made in created.values()), default=0)
    hour = max((busiest(times, 3600.0) for times in charged.values()), default=0)
    refused = Counter(exchange.content for exchange in exchanges if exchange.refused)
    creations = sum(map(len, created.values()))
    return [
        Row("most creations of one account in a minute", minute, "requests", creations_per_minute),
        Row("creations refused", refused[True], "requests", note="the limit was reached"),
        Row("other requests refused", refused[False], "requests"),
        Row("requests of a process that was told to wait", too_early(exchanges), "requests", 0),
        Row("charged requests of the busiest account in an hour", hour, "requests", CHARGED_PER_HOUR),
        Row(
            "charged requests per issue", sum(map(len, charged.values())) / issues, "requests", note="starts and polls"
        ),
        Row("points of the busiest account in a minute", _points(exchanges, owners), "points", POINTS_PER_MINUTE),
        Row("creations per issue", creations / issues, "requests"),
    ]


def _points(exchanges: Iterable[Exchange], owners: Mapping[str, str]) -> int:
    points: defaultdict[str, list[float]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.token in owners and not exchange.git and exchange.path not in {"/rate_limit", "/graphql"}:
            points[owners[exchange.token]] += [exchange.asked] * (_POINTS_OF_A_WRITE if exchange.write else 1)
    return max(map(busiest, points.values()), default=0)


def busiest(times: Iterable[float], seconds: float = 60.0) -> int:
    """Return the most moments within so many seconds, wherever these begin."""
    ordered = sorted(times)
    return max((bisect_left(ordered, start + seconds) - index for index, start in enumerate(ordered)), default=0)


def begun_and_ended_within(exchanges: Sequence[Exchange], seconds: float) -> int:
    """Return the most exchanges that were asked and answered within so many seconds, wherever these begin.

    The server counted each at an unknown moment between the two, which are far apart on a loaded machine.
    """
    return max(
        (
            sum(first.asked <= one.asked and one.answered < first.asked + seconds for one in exchanges)
            for first in exchanges
        ),
        default=0,
    )


def too_early(exchanges: Iterable[Exchange]) -> int:
    """Return the requests, git's aside, that an agent sent between a refusal and the end of the pause it was told."""
    requests = list(exchanges)
    pauses: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for exchange in requests:
        if exchange.refused:
            end = exchange.answered + exchange.wait_seconds - MARGIN_SECONDS
            pauses[exchange.token, exchange.agent].append((exchange.answered + UNDER_WAY_SECONDS, end))
    answered = [one for one in requests if not one.git and one.path != "/rate_limit"]
    return sum(
        any(start < one.asked < end for start, end in pauses.get((one.token, one.agent), ())) for one in answered
    )
