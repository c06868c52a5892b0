"""Notices about running agents at a terminal: the opening, and the remains after Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from settings_scene import settings

from runtime.session_notices import Interruption, interruption_text, opening
from runtime.signals import Orders
from shared.workflow import Role

ROLES = (Role.PLANNER, Role.WORKER, Role.REVIEWER)
LARGE = {"anyio", "structlog", "httpx", "cryptography", "rich.live"}


@dataclass
class Holder:
    """An agent with items."""

    held: tuple[str, ...] = field(default=("ada/thing#3",))


def repositories(*names: str, **more: object) -> tuple[dict[str, object], ...]:
    return tuple({"name": name, **more} for name in names)


def test_the_opening_says_who_works_where_and_how_it_ends() -> None:
    told = opening(ROLES, settings(repositories=repositories("ada/thing", poll_interval=30)))
    assert (
        told == "Planner, worker and reviewer for ada/thing: looking for work every 30 s, until Ctrl-C. Signing in ..."
    )
    several = settings(repositories=(*repositories("a/a", "a/b", poll_interval=5), *repositories("a/c")))
    assert opening((Role.WORKER,), several).startswith("Worker for a/a, a/b and a/c: looking for work, until Ctrl-C.")
    many = settings(repositories=repositories(*(f"a/r{number}" for number in range(9))))
    assert "for a/r0, a/r1, a/r2, a/r3 and 5 more: " in opening(ROLES, many)


def test_nothing_large_is_loaded_before_the_opening(tmp_path: Path) -> None:
    script = (
        "import json, sys\n"
        "import console.app\n"
        "from console.operating import announce_agents\n"
        "announce_agents(('ada/thing',), None)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert not LARGE & set(json.loads(done.stdout))
    assert done.stderr == "", "no person reads it"


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ((), "Interrupted; nothing was in work: the same command goes on."),
        (
            ("a/b#3",),
            "Interrupted; a/b#3 keeps what was built, and any agent may take it up: the same command goes on.",
        ),
        (
            ("a/b#3", "a/b#4"),
            "Interrupted; a/b#3 and a/b#4 keep what was built, and any agent may take them up: "
            "the same command goes on.",
        ),
    ],
)
def test_an_interruption_says_what_is_left_and_how_to_go_on(items: tuple[str, ...], sentence: str) -> None:
    assert interruption_text(items) == sentence


@pytest.mark.parametrize(
    ("number", "told", "lines"), [(signal.SIGINT, True, 2), (signal.SIGINT, False, 0), (signal.SIGTERM, True, 0)]
)
def test_what_was_held_is_asked_before_it_is_released(
    capsys: pytest.CaptureFixture[str], number: int, told: bool, lines: int
) -> None:
    orders, holder = Orders(), Holder()
    interruption = Interruption(orders, shown=told)
    interruption.holders.append(holder)
    orders.stop(number)
    holder.held = ()
    interruption.end()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert [line for line in said if "ada/thing#3 keeps" in line] == said[1:]
