"""A configuration that changes under a running daemon: what is taken over, what is refused, how often that is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from config.loading import read
from config.settings import Settings
from runtime.daemon.configuration import LAST_GOOD, Configuration


class Machine:
    """A file, and a state directory."""

    def __init__(self, directory: Path) -> None:
        self.file, self.state = directory / "repos.yml", directory
        self.write()
        self.configuration = Configuration(self.read(), self.read, self.file)

    def write(self, more: str = "", state: str = "") -> None:
        self.file.write_text(f"repositories: [{{name: a/b}}]\nstate_dir: {state or self.state}\n{more}")

    def read(self) -> Settings:
        return read(self.file, environment={})

    @property
    def kept(self) -> str:
        return (self.state / LAST_GOOD).read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def names(act: Callable[[], object]) -> list[str]:
    with capture_logs() as events:
        act()
    return [str(event["event"]) for event in events]


def test_what_can_be_used_is_taken_over_and_kept_once_it_works(machine: Machine) -> None:
    machine.configuration.used(machine.configuration.settings)
    before = machine.kept
    machine.write("cooldown: 7\n")
    found = machine.configuration.changed()
    assert found is not None
    assert found.cooldown == 7
    assert machine.kept == before, "it has not worked yet"
    machine.configuration.used(found)
    assert machine.kept.endswith("cooldown: 7\n")


@pytest.mark.fault(2)
def test_what_cannot_be_used_is_refused_once_and_the_old_one_stays(machine: Machine) -> None:
    machine.configuration.used(machine.configuration.settings)
    before = machine.kept
    machine.write("cooldwn: 7\n")
    assert names(machine.configuration.changed) == ["configuration_refused"]
    assert names(machine.configuration.changed) == []
    assert machine.configuration.settings.cooldown == 10
    assert machine.kept == before
    machine.write("cooldown: minus\n")
    assert names(machine.configuration.changed) == ["configuration_refused"], "another mistake is news"


def test_the_same_again_is_nothing_new_unless_it_is_to_be_read_anew(machine: Machine) -> None:
    machine.write("# a comment\n")
    assert machine.configuration.changed() is None
    assert machine.configuration.changed(anew=True) is not None


def test_what_only_a_restart_changes_is_said_and_left(machine: Machine, tmp_path: Path) -> None:
    machine.write("cooldown: 7\nwebhook: {port: 9480}\n", state=str(tmp_path / "elsewhere"))
    with capture_logs() as events:
        found = machine.configuration.changed()
    assert found is not None
    assert (found.state_dir, found.webhook.port, found.cooldown) == (tmp_path, None, 7)
    assert events[0]["keys"] == ["state_dir", "webhook"]


def test_one_that_fails_only_later_gives_way_to_the_one_before(machine: Machine) -> None:
    good = machine.configuration.settings
    machine.configuration.used(good)
    before = machine.kept
    machine.write("cooldown: 7\n")
    assert machine.configuration.changed() is not None
    machine.configuration.refuse("a/b is archived")
    machine.configuration.used(good)
    assert machine.configuration.settings is good
    assert machine.kept == before
    machine.write("cooldown: 8\n")
    assert machine.configuration.changed() is not None, "a next try is welcome"


class Agent:
    """One that goes by the configuration; it `polls` by its settings when the test says so."""

    def __init__(self, settings: Settings) -> None:
        self.latest_settings = settings
        self.used: Settings | None = settings

    def renew(self, settings: Settings) -> None:
        self.latest_settings, self.used = settings, None

    def polls(self, configuration: Configuration) -> None:
        self.used = self.latest_settings
        configuration.used(self.latest_settings)


@pytest.mark.parametrize("quick", [True, False])
def test_what_one_agent_cannot_use_none_keeps_and_the_file_put_back_is_in_force_for_all(
    machine: Machine, quick: bool
) -> None:
    """A refused configuration is not kept, whether the other agent uses it already or is about to."""
    configuration, good = machine.configuration, machine.configuration.settings
    able, unable = Agent(good), Agent(good)
    configuration.join(able)
    configuration.join(unable)
    before = machine.file.read_text()
    machine.write("cooldown: 7\n")
    new = configuration.changed()
    assert new is not None
    for one in (able, unable):
        one.renew(new)
    if quick:
        able.polls(configuration)
        assert configuration.settings is good, "not all of them go by it"
    unable.latest_settings = good
    configuration.refuse("the token is refused", new)
    assert (able.latest_settings, unable.latest_settings) == (good, good)
    able.polls(configuration)
    unable.polls(configuration)
    machine.file.write_text(before)
    assert configuration.changed() is None, "that is what all go by already"
    machine.write("cooldown: 8\n")
    better = configuration.changed()
    assert better is not None
    for one in (able, unable):
        one.renew(better)
        one.polls(configuration)
    assert configuration.settings is better
    assert machine.kept.endswith("cooldown: 8\n")


def test_a_late_refusal_does_not_take_back_what_was_mended_meanwhile(machine: Machine) -> None:
    configuration = machine.configuration
    agent = Agent(configuration.settings)
    configuration.join(agent)
    machine.write("cooldown: 7\n")
    bad = configuration.changed()
    machine.write("cooldown: 8\n")
    mended = configuration.changed()
    assert mended is not None
    agent.renew(mended)
    configuration.refuse("too late", bad)
    assert agent.latest_settings is mended
    assert configuration.changed() is None


def test_one_with_a_flaw_leaves_everybody_alone(machine: Machine) -> None:
    configuration = machine.configuration
    agent = Agent(configuration.settings)
    configuration.join(agent)
    machine.write("cooldown: 7\n")
    assert names(lambda: configuration.changed(flaw=lambda found: "no such file")) == ["configuration_refused"]
    assert agent.used is configuration.settings
    assert configuration.changed() is not None, "it can be used now"


class Hours:
    """A clock that does something at each sleep, and ends the watch when nothing is left to do."""

    def __init__(self, acts: list[Callable[[], None]]) -> None:
        self.acts = acts

    async def sleep(self, seconds: float) -> None:
        if not self.acts:
            raise EOFError
        self.acts.pop(0)()

    def now(self) -> float:
        raise NotImplementedError

    boot = now


async def test_a_file_that_is_still_being_written_is_waited_for(machine: Machine) -> None:
    told: list[str] = []
    halves = [lambda: machine.write("coo"), lambda: machine.write("cooldown: 7\n"), machine.file.unlink]
    acts = [*halves, lambda: machine.write("cooldown: 8\n"), lambda: None]
    with pytest.raises(EOFError):
        await machine.configuration.watch(lambda: told.append(machine.file.read_text()), Hours(acts))
    assert [text.splitlines()[-1] for text in told] == ["cooldown: 8"]


async def test_a_change_is_told_once_whether_or_not_it_can_be_used(machine: Machine) -> None:
    found: list[Settings | None] = []
    acts: list[Callable[[], None]] = [lambda: machine.write("cooldown: no\n"), *[lambda: None] * 5]
    with pytest.raises(EOFError):
        await machine.configuration.watch(lambda: found.append(machine.configuration.changed()), Hours(acts))
    assert found == [None]
