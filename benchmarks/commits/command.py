"""`python -m benchmarks commits`: play listed commits through the proof, one at a time, and print what it said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from benchmarks.commits import results
from benchmarks.commits.corpus import read
from benchmarks.commits.play import Place, install, play
from config.environment import snapshot
from shared.errors import Misconfigured

RESULTS = "results.jsonl"


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks commits", description="Judge the proof.")
    parser.add_argument("--list", type=Path, required=True, metavar="FILE", help="the commits, as in docs/design.md")
    parser.add_argument("--repositories", type=Path, required=True, metavar="DIR", help="clones, called owner+name")
    parser.add_argument("--scratch", type=Path, required=True, metavar="DIR", help="packages, checkouts and results")
    parser.add_argument("--project", default="", metavar="A,B", help="only these, as owner/name or name")
    parser.add_argument("--language", default="", metavar="A,B", help="only these")
    parser.add_argument("--commit", default="", metavar="SHA,...", help="only these; at least their first digits")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="so many at most")
    parser.add_argument("--again", action="store_true", help="also what has a result already")
    parser.add_argument("--summary", action="store_true", help="play nothing: the table of all results")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Play or summarize; return 0 if each result is as expected, 1 if not, 2 for what cannot be read."""
    given = arguments(argv)
    try:
        return anyio.run(_main, given)
    except Misconfigured as error:
        sys.stderr.write(f"{error}\n")
        return 2


async def _main(options: argparse.Namespace) -> int:
    corpus = read(await anyio.Path(options.list).read_text(encoding="utf-8"))
    wanted = list(corpus.chosen(_words(options.project), _words(options.language), _words(options.commit)))
    file = options.scratch / RESULTS
    played = results.read(file)
    if not options.summary:
        place = Place(options.repositories.resolve(), options.scratch.resolve())
        left = [one for one in wanted if options.again or (one[0].name, one[1].key) not in played]
        for project, listed in left[: options.limit]:
            await install(project, place)
            result = await play(project, listed, place, snapshot())
            results.append(file, result)
            sys.stdout.write(f"{results.line(result)}\n")
            sys.stdout.flush()
    latest = results.read(file)
    keys = [(project.name, listed.key) for project, listed in wanted]
    found = [latest[key] for key in keys if key in latest]
    if options.summary:
        sys.stdout.write(f"{results.table(found)}\n\n")
    sys.stdout.write(f"{results.summary(found)}\n")
    return int(not all(result.right for result in found))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
