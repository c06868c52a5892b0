"""The response of `/metrics`: counters and present state in Prometheus' text format, from a registry of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from shared.telemetry.events import EventLog
from shared.telemetry.fold import COUNTERS, DURATIONS, SECONDS, Durations, Labels, Tallies
from shared.telemetry.health_state import HealthState
from shared.workflow import Role

PREFIX = "workflow_engine_"
"""Prefix of every name; the names without it are those of version 0.1 and go with the next."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """All figures of a process; satisfies prometheus_client's `Collector`."""

    agent: str
    role: Role
    tallies: Tallies
    health: HealthState
    event_log: EventLog

    def text(self) -> bytes:
        """Return the body of the response to `/metrics`."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Yield every family, also those that have no value yet; each under its old name, too."""
        for family in self._families():
            yield _with_prefix(family)
            family.documentation = f"Old name of {new_name(family.name)}."
            yield family

    def _families(self) -> Iterator[Metric]:
        for name, help_text in COUNTERS.items():
            yield _counter(name, help_text, self.tallies.counters[name])
        for name, help_text in DURATIONS.items():
            yield _histogram(name, help_text, self.tallies.durations[name])
        yield from self._of_agent()
        yield from self._of_repositories()

    def _of_agent(self) -> Iterator[Metric]:
        online = [((self.agent, str(self.role)), 0.0 if self.health.unready() else 1.0)]
        yield _gauge("agent_online", "Whether the agent could work now.", ("agent", "kind"), online)
        ratios = [((role,), completed / calls) for role, (calls, completed) in self.tallies.tasks.items()]
        yield _gauge("agent_task_success_ratio", "Calls that completed among all calls of a role.", ("role",), ratios)
        share = "The part of the account's write limits that the process uses."
        yield _gauge("github_write_share", share, (), [((), self.health.share())])
        interval = "Seconds between two polls: more than configured where GitHub's limit of a minute does not suffice."
        slowest = max((pulse.interval() for pulse in self.health.pulses.values()), default=0.0)
        yield _gauge("poll_interval_seconds", interval, (), [((), slowest)])
        refused = "For how long nothing is claimed, because the git server refuses fences."
        yield _gauge("fences_refused_seconds", refused, _REPOSITORY, _by_repository(self.health.refusing))
        dropped = "Events that were given up because they could not be written."
        yield CounterMetricFamily("events_dropped", dropped, value=self.event_log.dropped)
        untraced = "Events that were given up because no collector took them."
        yield CounterMetricFamily("events_untraced", untraced, value=self.health.untraced())

    def _of_repositories(self) -> Iterator[Metric]:
        rate_limits = {name: known for name, read in self.health.rate_limits.items() if (known := read()) is not None}
        left = _by_repository({name: one.remaining for name, one in rate_limits.items()})
        yield _gauge("github_budget_remaining", "Requests left of the hourly limit.", _REPOSITORY, left)
        limits = _by_repository({name: one.limit for name, one in rate_limits.items()})
        yield _gauge("github_budget_limit", "Requests that an hour has.", _REPOSITORY, limits)
        queues = {name: queue() for name, queue in self.health.queues.items()}
        depths = [((name, stage), items) for name, queue in queues.items() for stage, items in queue.items()]
        yield _gauge("queue_depth", "Open items at each stage, as last listed.", ("repository", "stage"), depths)
        aside = {name: float(name in self.health.aside) for name in self.health.pulses | self.health.aside}
        tried = "1: it cannot be used, and is tried again."
        yield _gauge("repository_set_aside", tried, _REPOSITORY, _by_repository(aside))


_REPOSITORY = ("repository",)


def _by_repository(values: Mapping[str, float]) -> list[tuple[tuple[str, ...], float]]:
    return [((repository,), value) for repository, value in values.items()]


def _gauge(name: str, help_text: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=labels)
    for of_labels, value in values:
        family.add_metric(of_labels, value)
    return family


def new_name(old: str) -> str:
    """Return a figure's name with the engine's prefix, without a second `workflow`."""
    return PREFIX + old.removeprefix("workflow_")


def _with_prefix(family: Metric) -> Metric:
    found = Metric(new_name(family.name), family.documentation, family.type)
    found.samples = [sample._replace(name=new_name(sample.name)) for sample in family.samples]
    return found


def _counter(name: str, help_text: str, series: dict[Labels, float]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=_names(series))
    for labels, value in sorted(series.items()):
        family.add_metric([value for _, value in labels], value)
    return family


def _histogram(name: str, help_text: str, series: dict[Labels, Durations]) -> Metric:
    family = HistogramMetricFamily(name, help_text, labels=_names(series))
    for labels, durations in sorted(series.items()):
        family.add_metric([value for _, value in labels], list(_classes(durations)), durations.total)
    return family


def _classes(durations: Durations) -> Iterator[tuple[str, float]]:
    """Yield the buckets as Prometheus wants them: each includes all shorter ones."""
    so_far = 0
    for end, count in zip((*map(str, SECONDS), "+Inf"), durations.classes, strict=True):
        so_far += count
        yield end, so_far


def _names(series: Iterable[Labels]) -> list[str]:
    """Return the names of the labels; every series of one figure has the same."""
    return [name for name, _ in next(iter(series), ())]
