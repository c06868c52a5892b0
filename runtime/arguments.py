"""The command line of the three agents: the same words for each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.workflow import Role

_WHAT = {
    Role.PLANNER: "Turns stories into specification issues.",
    Role.WORKER: "Implements specification issues test-first and gets their pull requests green.",
    Role.REVIEWER: "Reviews pull requests and, where configured, merges them.",
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a person asked an agent for."""

    repository: str | None
    config: Path | None
    once: bool
    wait: bool
    verbose: bool
    agent_id: str | None
    story: str | None = None
    yes: bool = False
    interactive: bool = False
    """A person sits in front of a terminal and is asked."""
    roles: frozenset[str] = frozenset()
    log_level: str | None = None
    """The least level of what is logged; None: on a terminal warnings, elsewhere everything but details."""
    tells: bool = False
    """What happens is told in sentences, on a terminal or not."""


def parse(role: Role, argv: Sequence[str] | None = None) -> Arguments:
    """Read the command line; wrong words print a usage line and exit with code 2."""
    parser = _parser(role)
    got = parser.parse_args(argv)
    story = getattr(got, "story", None)
    if getattr(got, "story_file", None):
        story = _read(parser, got.story_file)
    if story is not None and not story.strip():
        parser.error("the story is empty")
    if getattr(got, "yes", False) and story is None:
        parser.error("--yes goes with --story or --story-file")
    interactive = _is_interactive(got, story)
    return Arguments(
        repository=got.repository,
        config=got.config,
        once=got.once or got.no_wait or story is not None or interactive,
        wait=not got.no_wait,
        verbose=got.verbose,
        agent_id=got.agent_id,
        story=story,
        yes=getattr(got, "yes", False),
        interactive=interactive,
        roles=_roles(parser, getattr(got, "roles", None)),
        log_level=got.log_level,
    )


def _is_interactive(got: argparse.Namespace, story: str | None) -> bool:
    """A planner for one repository, on a terminal, that was told neither what to plan nor to poll."""
    if not hasattr(got, "daemon") or got.repository is None or story is not None:
        return False
    return not (got.daemon or got.once or got.no_wait) and sys.stdin.isatty() and sys.stdout.isatty()


def _parser(role: Role) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"{role}-agent", description=_WHAT[role])
    parser.add_argument("repository", nargs="?", metavar="owner/repo", help="one repository; else all configured ones")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration file (default: config/repos.yml)")
    parser.add_argument("--once", action="store_true", help="work on exactly one item, to its end, and exit")
    parser.add_argument("--no-wait", action="store_true", help="like --once, but stop at the first wait")
    parser.add_argument("--verbose", action="store_true", help="say why, for each decision")
    parser.add_argument("--log-level", choices=LOG_LEVELS, help="what is logged (default: on a terminal warning)")
    parser.add_argument("--agent-id", metavar="ID", help="this agent's name (default: kept in the state directory)")
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    if role is Role.WORKER:
        roles = "do only the work of these roles (comma-separated; default: all)"
        parser.add_argument("--roles", metavar="ROLE,...", help=roles)
    if role is Role.PLANNER:
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--story", metavar="TEXT", help="open a story with this text and plan it once")
        group.add_argument(
            "--story-file", type=Path, metavar="FILE", help="the same, with the text from a file; - is standard input"
        )
        group.add_argument("--daemon", action="store_true", help="poll story issues, on a terminal too")
        parser.add_argument("--yes", action="store_true", help="with --story: create the specifications without asking")
    return parser


LOG_LEVELS = ("debug", "info", "warning")

WORKERS_ROLES = ("test-automation", "developer", "code-reviewer", "debugger", "generalist")
"""What a worker may be restricted to."""


def _roles(parser: argparse.ArgumentParser, text: str | None) -> frozenset[str]:
    wanted = [name.strip() for name in (text or "").split(",")] if text is not None else []
    unknown = [name for name in wanted if name not in WORKERS_ROLES]
    if unknown:
        parser.error(f"--roles: '{unknown[0]}' is no role of a worker; there is {', '.join(WORKERS_ROLES)}")
    return frozenset(wanted)


class _Version(argparse.Action):
    """Looks the version up when it is asked for: at every start it would cost more than all other arguments."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"{_version()}\n")
        parser.exit()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("workflow-engine")
    except PackageNotFoundError:  # run from a checkout
        return "workflow-engine, not installed"


def _read(parser: argparse.ArgumentParser, file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"the story file {file} cannot be read: {error}")
