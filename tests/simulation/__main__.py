"""`python -m tests.simulation`: the story of one seed, or the sum of many."""

from __future__ import annotations

import argparse
import sys

from .batch import run_many
from .schedule import Schedule
from .worlds import WORLDS, world_of


def main() -> int:
    """0 when every promise was kept and everything that should happen sometimes happened; else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="tell the story of this one")
    parser.add_argument("--schedules", type=int, default=100_000, metavar="N", help="how many (default: 100000)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (default: 0)")
    parser.add_argument("--world", choices=sorted(WORLDS), default="", help="default: a mixture")
    parser.add_argument("--workers", type=int, default=2, help="how many processes (default: 2)")
    parser.add_argument("--quiet", action="store_true", help="say only what was broken, not what was too rare")
    options = parser.parse_args()
    if options.seed is not None:
        return _tell(options.seed, options.world)
    total = run_many(options.first, options.schedules, options.workers, options.world)
    if not options.quiet:
        print(total.line())
    missing = [] if options.world or options.quiet else total.missing()
    for line in total.failing:
        print(f"broken: {line}", file=sys.stderr)
    for line in missing:
        print(f"too rare: {line}", file=sys.stderr)
    return 1 if total.failing or missing else 0


def _tell(seed: int, world: str) -> int:
    place = WORLDS[world] if world else world_of(seed)
    outcome = Schedule(place, seed, told=True).run()
    print(f"seed {seed} in the world '{place.name}': {outcome.events} events")
    print("\n".join(outcome.story))
    print("\n".join(f"BROKEN: {violation}" for violation in outcome.violations) or "every promise was kept")
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())
