"""The command line of the three agents: the same words for each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from shared.workflow import Role

_WHAT = {
    Role.PLANNER: "Turns stories into specification issues.",
    Role.WORKER: "Implements specification issues test-first and gets their pull requests green.",
    Role.REVIEWER: "Reviews pull requests and, where configured, merges them.",
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments that a person gave to an agent."""

    repository: str | None
    config: Path | None
    once: bool
    wait: bool
    verbose: bool
    agent_id: str | None
    story: str | None = None
    yes: bool = False
    interactive: bool = False
    """True if a person sits in front of a terminal and is asked."""
    roles: frozenset[str] = frozenset()
    log_level: str | None = None
    """The lowest level that is logged; None: on a terminal warnings, elsewhere everything but details."""
    tells: bool = False
    """True if events are told in sentences, on a terminal or not."""


LOG_LEVELS = ("debug", "info", "warning")


def parse(role: Role, argv: Sequence[str] | None = None) -> Arguments:
    """Read the command line; wrong words print a usage line and exit with code 2."""
    settings = {"help_option_names": ["-h", "--help"]}
    command = _Command(f"{role}-agent", settings, callback=_arguments, params=_params(role), help=_WHAT[role])
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        got = command.main(words, f"{role}-agent", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    if not isinstance(got, Arguments):  # help or the version was asked for, and is told
        sys.exit(got)
    return got


def refuse_repeated(command: Any, context: Any, words: Sequence[str]) -> None:
    """Return if no option that takes one value is given again; else end with a usage line and exit code 2.

    `command` and `context` are click's, or those of the copy of it that typer brings along.
    """
    if context.resilient_parsing:  # a shell asks how a line may go on
        return
    _, _, given = command.make_parser(context).parse_args(list(words))
    for param in dict.fromkeys(given):
        takes_one = param.param_type_name == "option" and not (param.multiple or param.is_flag or param.count)
        if takes_one and (times := given.count(param)) > 1:
            often = "twice" if times == 2 else f"{times} times"
            context.fail(f"{param.opts[0]} is given {often}, and one alone can count: leave out the others.")


class _Command(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


def _arguments(
    *, repository: str | None, config: Path | None, once: bool, no_wait: bool, agent_id: str | None, **more: Any
) -> Arguments:
    story = more.get("story")
    if sum(more.get(name) not in (None, False) for name in ("story", "story_file", "daemon")) > 1:
        _refuse("--story, --story-file and --daemon exclude each other")
    if more.get("story_file"):
        story = _read(more["story_file"])
    if story is not None and not story.strip():
        _refuse("the story is empty")
    if more.get("yes") and story is None:
        _refuse("--yes goes with --story or --story-file")
    told = story is not None or once or no_wait or more.get("daemon", True)
    asks = not told and repository is not None and sys.stdin.isatty() and sys.stdout.isatty()
    return Arguments(
        repository=repository,
        config=config,
        once=once or no_wait or story is not None or asks,
        wait=not no_wait,
        verbose=more["verbose"],
        agent_id=agent_id,
        story=story,
        yes=more.get("yes", False),
        interactive=asks,
        roles=_roles(more.get("roles")),
        log_level=more["log_level"],
    )


def _params(role: Role) -> list[click.Parameter]:
    file = click.Path(path_type=Path)
    params: list[click.Parameter] = [
        click.Argument(["repository"], required=False, metavar="[owner/repo]"),
        click.Option(["--config"], type=file, metavar="FILE", help="Configuration file; default: config/repos.yml."),
        _flag("--once", "Work on exactly one item, to its end, and exit."),
        _flag("--no-wait", "Like --once, but stop at the first wait."),
        _flag("--verbose", "Say why, for each decision."),
        click.Option(
            ["--log-level"], type=click.Choice(LOG_LEVELS), help="What is logged; default: on a terminal warning."
        ),
        click.Option(["--agent-id"], metavar="ID", help="This agent's name; default: kept in the state directory."),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_tell_version,
            help="Show the version and exit.",
        ),
    ]
    if role is Role.WORKER:
        roles = "Do only the work of these roles; comma-separated; default: all."
        params.append(click.Option(["--roles"], metavar="ROLE,...", help=roles))
    if role is Role.PLANNER:
        from_file = "The same, with the text from a file; - is standard input."
        params += [
            click.Option(["--story"], metavar="TEXT", help="Open a story with this text and plan it once."),
            click.Option(["--story-file"], type=file, metavar="FILE", help=from_file),
            _flag("--daemon", "Poll story issues, on a terminal too."),
            _flag("--yes", "With --story: create the specifications without asking."),
        ]
    return params


def _flag(name: str, help: str) -> click.Option:
    return click.Option([name], is_flag=True, help=help)


def _refuse(sentence: str) -> NoReturn:
    raise click.UsageError(sentence, click.get_current_context())


def _roles(text: str | None) -> frozenset[str]:
    """Read the option `--roles`; the table of roles is loaded only for who gives it."""
    if text is None:
        return frozenset()
    from shared.llm.role_router import WORKER_ROLES

    wanted = [name.strip() for name in text.split(",")]
    unknown = [name for name in wanted if name not in WORKER_ROLES]
    if unknown:
        _refuse(f"--roles: '{unknown[0]}' is no role of a worker; there is {', '.join(WORKER_ROLES)}")
    return frozenset(wanted)


def _tell_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version; it is looked up only here, because at every start it would cost more than all arguments."""
    if not asked:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(version("workflow-engine"))
    except PackageNotFoundError:  # run from a checkout
        click.echo("workflow-engine, not installed")
    context.exit()


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _refuse(f"the story file {file} cannot be read: {error}")
