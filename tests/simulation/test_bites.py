"""Bugs planted one at a time: some of the catalogue here, each noticed soon; all of it fits the source as it is.

`make test-lock-mutants` looks for every one of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .mutants.catalogue import BY_NAME, MUTANTS
from .mutants.lock_copy import copy_of
from .mutants.mutant import Change, Mutant, Outdated, Ring, sources
from .mutants.simulated import looked_for
from .schedule import Schedule, Variation
from .worlds import WORLDS

SCHEDULES = 400
"""Within so many schedules a bug has to be noticed."""

NOTICED = {
    "any author trusted": ("calm", "6 progress"),
    "no second look": ("hostile", "11 take-over"),
    "one heartbeat of grace": ("hostile", "11 take-over"),
    "the release of the epoch before stays": ("hostile", "11 take-over"),
    "no self-fence": ("harsh", "10 proof"),
    "epochs do not grow": ("hostile", "1 epochs"),
    "the comment is not recorded": ("calm", "12 recorded"),
    "who lost writes its ACK": ("in-step", "13 losers"),
    "a breaker that is not asked": ("rule-all", "7 cost"),
    "a second post after a lost reply": ("harsh", "7 cost"),
    "the fence is read after the thread": ("calm", "10 proof"),
    "a person's edit is written over": ("calm", "9 wishes"),
    "an unsure clock decides": ("date-burst", "11 take-over"),
    "the second look a second later": ("quick", "11 take-over"),
    "a ref that was deleted frees": ("ref-deleted", "11 take-over"),
    "an end does not free": ("ref-deleted", "1 epochs"),
    "a fresh stamp means nothing": ("calm", "7 cost"),
    "a fence that cannot be read is none": ("calm", "7 cost"),
    "who is stopped keeps the fence": ("normal", "9 wishes"),
    "another nonce means edited by a person": ("odd-edits", "9 wishes"),
    "an edit shows in nothing without a key": ("calm", "9 wishes"),
    "stamps come too late": ("own-edits", "10 proof"),
    "a pause before the comment does not count": ("harsh", "10 proof"),
    "posts are asked for without end": ("limited", "12 recorded"),
    "a newer epoch's text is written over": ("copied", "13 losers"),
    "other ACKs are left as they are": ("mixed", "14 comments"),
    "our own nonce means nothing": ("parked", "15 own epoch"),
}
"""In which world each is looked for, and which check notices it."""


def first_broken(world: str, check: str, variation: Variation) -> int | None:
    """The first seed in which a check fails."""
    for seed in range(SCHEDULES):
        broken = Schedule(WORLDS[world], seed, variation).run().violations
        if any(violation.startswith(f"{check}:") for violation in broken):
            return seed
    return None


@pytest.mark.parametrize("name", NOTICED)
def test_a_planted_bug_is_noticed(name: str) -> None:
    world, check = NOTICED[name]
    seed = first_broken(world, check, Variation(copy_of(BY_NAME[name])))
    assert seed is not None
    assert Schedule(WORLDS[world], seed).run().violations == ()


@pytest.mark.parametrize(
    ("variation", "world", "check"),
    [
        (Variation(frozen_fence=True), "parked", "2 stale write"),
        (Variation(labels_decide=True), "calm", "1 epochs"),
    ],
)
def test_a_bug_of_those_who_use_the_lock_is_noticed(variation: Variation, world: str, check: str) -> None:
    assert first_broken(world, check, variation) is not None


def test_a_copy_without_a_bug_behaves_as_the_lock_itself() -> None:
    copy = Variation(copy_of(Mutant("nothing", Ring.SIMULATION, ())))
    for seed in range(10):
        assert Schedule(WORLDS["hostile"], seed, copy).run().digest == Schedule(WORLDS["hostile"], seed).run().digest


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_fits_the_source_as_it_is(mutant: Mutant) -> None:
    for path, text in sources(mutant).items():
        compile(text, path, "exec")
    assert all(change.old != change.new for change in mutant.changes)


def test_every_bug_applies_and_uses_only_names_that_exist(tmp_path: Path) -> None:
    for number, mutant in enumerate(MUTANTS):
        for path, text in sources(mutant).items():
            place = tmp_path / str(number) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    ruff = (sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821,F823")
    found = subprocess.run((*ruff, "--output-format=concise", str(tmp_path)), capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_a_bug_that_no_longer_fits_the_source_is_refused() -> None:
    stale = Mutant("stale", Ring.SIMULATION, (Change("shared/lock/format_1.py", "no such text", ""),))
    with pytest.raises(Outdated, match="stands 0 times"):
        copy_of(stale)


def test_every_bug_has_its_own_name() -> None:
    assert len(BY_NAME) == len(MUTANTS) >= 60


def test_what_breaks_the_lock_altogether_is_noticed() -> None:
    broken = Mutant(
        "broken", Ring.SIMULATION, (Change("shared/lock/format_1.py", "    return holder\n", "    return none\n"),)
    )
    assert looked_for(broken) == "NameError in a schedule"


def test_the_command_tries_a_bug_in_a_process_of_its_own() -> None:
    command = (sys.executable, "-m", "tests.simulation.mutants", "--workers", "1", "a chain that begins anew counts")
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "1 bugs; of 1 within the reach of the simulation it noticed 1." in found.stdout
