"""The response of `/metrics`: counters and present state in Prometheus' text format, from a registry of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
            yield _prefixed(family)
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
        online = GaugeMetricFamily("agent_online", "Whether the agent could work now.", labels=["agent", "kind"])
        online.add_metric([self.agent, str(self.role)], 0.0 if self.health.unready() else 1.0)
        yield online
        ratio = GaugeMetricFamily(
            "agent_task_success_ratio", "Calls that completed among all calls of a role.", labels=["role"]
        )
        for role, (calls, completed) in self.tallies.tasks.items():
            ratio.add_metric([role], completed / calls)
        yield ratio
        share = GaugeMetricFamily("github_write_share", "The part of the account's write limits that the process uses.")
        share.add_metric([], self.health.share())
        yield share
        refused = GaugeMetricFamily(
            "fences_refused_seconds",
            "For how long nothing is claimed, because the git server refuses fences.",
            labels=["repository"],
        )
        for repository, seconds in self.health.refusing.items():
            refused.add_metric([repository], seconds)
        yield refused
        dropped = CounterMetricFamily("events_dropped", "Events that were given up because they could not be written.")
        dropped.add_metric([], self.event_log.dropped)
        yield dropped
        untraced = CounterMetricFamily("events_untraced", "Events that were given up because no collector took them.")
        untraced.add_metric([], self.health.untraced())
        yield untraced

    def _of_repositories(self) -> Iterator[Metric]:
        left = GaugeMetricFamily("github_budget_remaining", "Requests left of the hourly limit.", labels=["repository"])
        limit = GaugeMetricFamily("github_budget_limit", "Requests that an hour has.", labels=["repository"])
        for repository, budget in self.health.budgets.items():
            if (known := budget()) is not None:
                limit.add_metric([repository], known.limit)
                left.add_metric([repository], known.remaining)
        depth = GaugeMetricFamily(
            "queue_depth", "Open items at each stage, as last listed.", labels=["repository", "stage"]
        )
        for repository, queue in self.health.queues.items():
            for stage, items in queue().items():
                depth.add_metric([repository, stage], items)
        aside = GaugeMetricFamily(
            "repository_set_aside", "1: it cannot be used, and is tried again.", labels=["repository"]
        )
        for repository in self.health.pulses | self.health.aside:
            aside.add_metric([repository], float(repository in self.health.aside))
        yield from (left, limit, depth, aside)


def new_name(old: str) -> str:
    """Return a figure's name with the engine's prefix, without a second `workflow`."""
    return PREFIX + old.removeprefix("workflow_")


def _prefixed(family: Metric) -> Metric:
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
