"""One agent as its own command starts it, but on a machine whose clocks are wrong: `--ahead SECONDS`.

The engine takes time from a clock that is given to it, so another clock needs no trick with the system's.
"""

from __future__ import annotations

import argparse
import sys

from lab.agents import BUILD
from runtime.arguments import parse
from runtime.launch import launch
from shared.loop.real_clock import RealClock
from shared.workflow import Role


class WrongClock(RealClock):
    """The machine's clocks, `ahead` seconds fast; sleeping takes as long as ever."""

    def __init__(self, ahead: float) -> None:
        super().__init__()
        self._ahead = ahead

    def now(self) -> float:
        """Wall clock."""
        return super().now() + self._ahead

    def boot(self) -> float:
        """Boot clock."""
        return super().boot() + abs(self._ahead)


def main() -> int:
    """`python -m lab.chaos.actor ROLE --ahead SECONDS`, then what the agent's own command takes."""
    parser = argparse.ArgumentParser(prog="python -m lab.chaos.actor")
    parser.add_argument("role", type=Role)
    parser.add_argument("--ahead", type=float, default=0.0)
    own, rest = parser.parse_known_args()
    return launch(own.role, BUILD[own.role], parse(own.role, rest), clock=WrongClock(own.ahead))


if __name__ == "__main__":
    sys.exit(main())
