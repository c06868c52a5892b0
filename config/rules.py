"""Rules that span several keys, and keys that this version does not support yet: pure functions of the keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shared.github.address import LOOPBACK

if TYPE_CHECKING:
    from config.engine import EngineSettings

KeyPath = tuple[str | int, ...]
"""Path of a key, for example `("repositories", 0, "name")`."""


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken rule: the key, one sentence, and the other keys on which it depends."""

    path: KeyPath
    message: str
    depends_on: tuple[KeyPath, ...] = ()


class RulesBroken(ValueError):
    """Several keys contradict each other."""

    def __init__(self, broken: tuple[Broken, ...]) -> None:
        super().__init__("; ".join(f"{dotted(b.path)}: {b.message}" for b in broken))
        self.broken = broken


def dotted(path: KeyPath) -> str:
    """A path as people write it: `repositories[0].name`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def broken(settings: EngineSettings) -> Iterator[Broken]:
    """Every broken rule. Against loopback, where the lab runs, unsafe times and http are accepted."""
    yield from _unique_names(settings)
    yield from _distinct_prefixes(settings)
    yield from _nested_budgets(settings)
    yield from _whole_notices(settings)
    yield from _one_reviewer(settings)
    yield from _suites(settings)
    if not settings.github.loopback:
        yield from _safe_times(settings)
        yield from _safe_transport(settings)


def _unique_names(settings: EngineSettings) -> Iterator[Broken]:
    first: dict[str, int] = {}
    for index, repository in enumerate(settings.repositories):
        earlier = first.setdefault(repository.name.casefold(), index)
        if earlier != index:
            path = ("repositories", index, "name")
            yield Broken(path, f"'{repository.name}' is already configured as repositories[{earlier}]")


def _distinct_prefixes(settings: EngineSettings) -> Iterator[Broken]:
    for index, repository in enumerate(settings.repositories):
        labels = repository.labels
        if labels.status_prefix.casefold() == labels.flag_prefix.casefold():
            path: KeyPath = ("repositories", index, "labels")
            message = f"must differ from status_prefix '{labels.status_prefix}'"
            yield Broken((*path, "flag_prefix"), message, ((*path, "status_prefix"),))


def _nested_budgets(settings: EngineSettings) -> Iterator[Broken]:
    """Yield an error for each limit below a run's budget: a run reserves its whole budget, and none could begin."""
    budgets = settings.budgets
    for name in ("issue", "day", "week"):
        limit = getattr(budgets, name)
        if limit < budgets.run:
            message = f"must be at least budgets.run ({budgets.run:g}), not {limit:g}"
            yield Broken(("budgets", name), message, (("budgets", "run"),))


def _whole_notices(settings: EngineSettings) -> Iterator[Broken]:
    """Yield an error for a message that its receiver cannot check, or that has no receiver."""
    notify = settings.notify
    if notify.webhook is not None:
        if notify.webhook_secret_file is None:
            yield Broken(("notify", "webhook_secret_file"), "is needed with webhook: the receiver checks by it")
        url = urlsplit(notify.webhook.get_secret_value())
        if url.scheme != "https" and url.hostname not in LOOPBACK:
            yield Broken(("notify", "webhook"), "must begin with https://")
    if notify.smtp is not None:
        if urlsplit(notify.smtp.get_secret_value()).scheme not in {"smtp", "smtps"}:
            yield Broken(("notify", "smtp"), "must begin with smtp:// or smtps://")
        for key, given in (("sender", notify.sender), ("to", notify.to)):
            if not given:
                yield Broken(("notify", key), "is needed with smtp")


def _one_reviewer(settings: EngineSettings) -> Iterator[Broken]:
    """Yield an error for a reviewer with two ways to sign in."""
    github = settings.github
    if github.reviewer_app is not None and github.reviewer_token_file is not None:
        path: KeyPath = ("github", "reviewer_app")
        yield Broken(path, "goes not together with reviewer_token_file", (("github", "reviewer_token_file"),))


def _suites(settings: EngineSettings) -> Iterator[Broken]:
    """Yield an error for suites beside the keys of a single one, and for suites named twice."""
    for index, repository in enumerate(settings.repositories):
        path: KeyPath = ("repositories", index)
        for key in ("test_command", "test_report", "working_directory"):
            if repository.suites and getattr(repository, key):
                message = f"goes not together with {key}; write {_KEY_OF_SUITE.get(key, key)} into an entry of suites"
                yield Broken((*path, "suites"), message, ((*path, key),))
        first: dict[tuple[str, str | None], int] = {}
        for place, suite in enumerate(repository.suites):
            earlier = first.setdefault((suite.directory, suite.test_command), place)
            if earlier != place:
                message = f"runs the same as suites[{earlier}]; remove one, or give it another test_command"
                yield Broken((*path, "suites", place), message, ((*path, "suites", earlier),))


_KEY_OF_SUITE = {"working_directory": "directory"}
"""Name of a repository's key in an entry of `suites`, where it differs."""


MARGIN = 1 / 6
"""The part of the lock's timeout that a pause between a check and what follows it may last: 5 minutes of 30."""


def _safe_times(settings: EngineSettings) -> Iterator[Broken]:
    lock, github = settings.lock, settings.github
    least = 3 * lock.heartbeat
    if lock.timeout < least:
        message = f"must be at least 3 heartbeats ({least:g}), not {lock.timeout:g}"
        yield Broken(("lock", "timeout"), message, (("lock", "heartbeat"), _API))
    latest = lock.timeout * (1 - MARGIN)
    if lock.self_fence > latest:
        message = (
            f"must be at most {latest:g}: a sixth of lock.timeout ({lock.timeout:g}) lies between the moment at which "
            f"an agent stops by itself and the one at which others may take over, not {lock.self_fence:g}"
        )
        yield Broken(("lock", "self_fence"), message, (("lock", "timeout"), _API))
    if lock.self_fence <= lock.heartbeat:
        message = f"must be greater than lock.heartbeat ({lock.heartbeat:g}), not {lock.self_fence:g}"
        yield Broken(("lock", "self_fence"), message, (("lock", "heartbeat"), _API))
    if lock.settle < 2:
        yield Broken(("lock", "settle"), f"must be at least 2, not {lock.settle:g}", (_API,))
    if github.write_interval_seconds <= 0:
        yield Broken(("github", "write_interval_seconds"), "must be greater than 0", (_API,))


def _safe_transport(settings: EngineSettings) -> Iterator[Broken]:
    if not settings.github.api_url.startswith("https://"):
        yield Broken(_API, "must begin with https://; http is for loopback only")


_API: KeyPath = ("github", "api_url")


def unsupported(settings: EngineSettings) -> tuple[str, ...]:
    """Return one sentence for each key that asks for what this version does not do; a start refuses on any."""
    if settings.llm.scenario is None and any(r.llm_backend == "scripted" for r in settings.repositories):
        return ("llm.scenario: the scripted backend answers from a file; give the path of its YAML file.",)
    return ()
