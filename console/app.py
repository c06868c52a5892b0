"""`workflow-engine`: the commands for people; each is loaded when it is used."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from console import help as layout
from console import operating
from console.command_environment import surroundings
from console.tdd.options import tdd
from shared.llm import PROGRAMS

app = typer.Typer(
    name="workflow-engine",
    help="Turns stories on GitHub into tested, reviewed and merged pull requests.",
    no_args_is_help=True,
    cls=layout.PlainGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


_ANSWERS = "Answers, in place of questions"
"""The options of `start` that say what it would find or ask."""


@app.callback(invoke_without_command=True)
def engine(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options that stand before a command."""
    if show_version:
        typer.echo(version("workflow-engine"))
        raise typer.Exit


@app.command()
def demo(  # noqa: PLR0913 - each is an option of the command line
    workers: Annotated[int, typer.Option(metavar="N", help="How many worker processes.")] = 1,
    stories: Annotated[int, typer.Option(metavar="N", help="How many stories to tell.")] = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Keep logs, repositories and states.")] = False,
    kill_every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Kill an agent about so often.", show_default=False)
    ] = 0.0,
    directory: Annotated[Path, typer.Option(metavar="DIR", help="Where it may write.")] = Path(".demo"),
    set_up: Annotated[bool, typer.Option("--set-up", help="Only make the environment.")] = False,
    llm: Annotated[str, typer.Option(metavar="NAME", help="scripted, claude or codex.")] = "scripted",
    repo: Annotated[Path | None, typer.Option(metavar="PATH", help="Work on a copy of your repository.")] = None,
    story: Annotated[str | None, typer.Option(metavar="TEXT", help="What to build there, title first.")] = None,
    test_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What runs its tests; else detected.")
    ] = None,
    budget: Annotated[float, typer.Option(metavar="USD", help="What all paid runs may cost.")] = 10.0,
    minutes: Annotated[float | None, typer.Option(metavar="N", help="After how long to give up.")] = None,
) -> None:
    """Show a whole story, offline and free, in under a minute.

    From a story to a merged pull request: no token, no network, no GitHub.

    With --llm claude or codex the vendor's own program codes: at its vendor with the key or login in the
    environment, or, without one, at a scripted model on this machine. --repo and --story try it on your own code:
    the engine works on a copy, and the result is a branch that you can fetch.
    """
    import anyio

    from console.demo.command import DemoOptions, show
    from console.printer import Printer
    from runtime.exit_codes import complain
    from shared.errors import EngineError

    options = DemoOptions(
        directory, stories, workers, keep, kill_every, set_up, llm, repo, story, test_command, budget, minutes
    )
    try:
        raise typer.Exit(anyio.run(show, options, Printer()))
    except EngineError as error:
        raise typer.Exit(complain(error)) from None


@app.command()
def replay(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `llm.record` named.")],
    item: Annotated[str | None, typer.Option(metavar="#N", help="Which issue, if it holds several.")] = None,
    test_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What runs the tests; else as recorded.")
    ] = None,
    keep: Annotated[bool, typer.Option(help="Keep repositories and states afterwards.")] = False,
) -> None:
    """Play a recorded issue again in a lab: no model, no cost.

    Exit code 0 if it went the same way.
    """
    from console.demo.replay import ReplayOptions, replayed

    raise typer.Exit(replayed(ReplayOptions(directory, item, test_command, keep), surroundings()))


@app.command()
def doctor(
    repositories: Annotated[
        list[str] | None, typer.Argument(metavar="owner/repo", help="Which ones; else all configured.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="For this agent alone: planner, worker or reviewer.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run no test.")] = False,
) -> None:
    """Say whether the engine can work here, and what to do if not.

    Exit code 4 when anything fails, 1 when only GitHub did not answer.
    """
    from console.doctor.command import examined
    from shared.workflow import AGENTS, Role

    if agent is not None and agent not in AGENTS:
        raise typer.BadParameter(f"'{agent}' is no agent; there is planner, worker and reviewer.", param_hint="--agent")
    roles = AGENTS if agent is None else frozenset({Role(agent)})
    environment = surroundings(calm=True)
    raise typer.Exit(examined(repositories or (), config, environment, roles, json=json, quick=quick))


@app.command()
def verify(  # noqa: PLR0913 - each is an option of the command line
    pull_request: Annotated[str | None, typer.Argument(metavar="owner/repo#N", help="Whose claim to check.")] = None,
    local: Annotated[
        tuple[str, str] | None, typer.Option(metavar="BASE HEAD", help="Two commits instead, without GitHub.")
    ] = None,
    repo: Annotated[Path, typer.Option(metavar="PATH", help="The repository of --local.")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    test_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What runs the tests; else detected.")
    ] = None,
    may_change: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="With --local: an old test file that may change.")
    ] = None,
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="With --local: feature, or refactoring, documentation, removal ...")
    ] = "feature",
    specification: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --local: what the change was asked to do, as an issue's text."),
    ] = None,
) -> None:
    """Run again what a pull request claims about its tests.

    They run on its base, its head and damaged heads.

    Exit code 0 if its claim is true, 1 if it is not true or the change is not proven, 3 if it is proven and nobody
    claims it; 2 for wrong arguments or configuration, 4 when GitHub does not answer or does not allow it.
    """
    from console.verify.command import VerifyOptions, verified

    options = VerifyOptions(
        pull_request, local, repo, json, config, test_command, tuple(may_change or ()), kind, specification
    )
    raise typer.Exit(verified(options, surroundings()))


@app.command()
def recover(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do.")],
    item: Annotated[str, typer.Argument(metavar="owner/repo#N", help="Which issue or pull request.")],
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    backend: Annotated[str, typer.Option(metavar="NAME", help="Have `retry` go on with this backend.")] = "",
) -> None:
    """Carry out a command such as `/retry` from this console.

    ACTION is start, pause, resume, stop, retry, reset-attempts, spec-review or close-and-reset.

    Exit code 0 when it was done, 1 when it does not fit or GitHub failed, 2 for arguments, 4 for missing rights.
    """
    from console.recover import recovered

    raise typer.Exit(recovered(action, item, config, surroundings(), json=json, backend=backend))


@app.command()
def install_cli(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"Which program: {', '.join(PROGRAMS)}.")],
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file (for its state_dir).")] = None,
    state_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Install there instead.")] = None,
    package_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Of the package; else the tried one.")
    ] = None,
) -> None:
    """Install a coding program: Claude Code or Codex.

    It is fetched as its vendor publishes it for Python, into the state directory.
    """
    from console.install_cli import installed

    raise typer.Exit(installed(name, config, state_dir, package_version))


@app.command()
def init(
    repository: Annotated[str | None, typer.Argument(metavar="owner/repo", help="Which one; else all.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file, also a new one.")] = None,
    api_url: Annotated[str | None, typer.Option(metavar="URL", help="GitHub Enterprise API URL, if any.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Give existing labels the engine's looks.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Make labels, a signing key and a configuration.

    Only what is missing: what is there stays as it is.
    """
    import sys

    from console.init.command import InitOptions, initialise

    ask = typer.confirm if sys.stdin.isatty() else None
    options = InitOptions(repository, config, api_url, yes=yes, update=update, dry_run=dry_run)
    raise typer.Exit(initialise(options, ask, surroundings()))


@app.command()
def uninstall(
    repository: Annotated[str, typer.Argument(metavar="owner/repo", help="From where.")],
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Although an agent holds something there.")] = False,
) -> None:
    """Remove the engine's labels, refs and state of a repository.

    It says what is left. Exit code 1 when an agent works there or nobody agreed, 2 for arguments, 4 for rights.
    """
    import sys

    from console.uninstall import UninstallOptions, removed

    ask = typer.confirm if sys.stdin.isatty() else None
    raise typer.Exit(removed(UninstallOptions(repository, config, yes, dry_run, force), ask, surroundings()))


@app.command()
def start(  # noqa: PLR0913 - each is an option of the command line
    context: typer.Context,
    repository: Annotated[str, typer.Argument(metavar="owner/repo", help="Where the first issue is to be.")],
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: take what is found or given.")] = False,
    issue: Annotated[
        str, typer.Option(metavar="N|TEXT", help="Number or text of the first issue.", rich_help_panel=_ANSWERS)
    ] = "",
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"{', '.join(PROGRAMS)}; else the one that has a key.", rich_help_panel=_ANSWERS
        ),
    ] = None,
    test_command: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="What runs the tests; else detected.", rich_help_panel=_ANSWERS),
    ] = None,
    test_report: Annotated[
        str | None, typer.Option(metavar="GLOB", help="JUnit XML that it writes, if any.", rich_help_panel=_ANSWERS)
    ] = None,
    setup_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What installs what they need.", rich_help_panel=_ANSWERS)
    ] = None,
    reviewer_token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of the reviewer's own account.", rich_help_panel=_ANSWERS)
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(metavar="MODE", help="bubblewrap, container or none.", rich_help_panel=_ANSWERS)
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file, also a new one.")] = None,
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Of a GitHub Enterprise server.", rich_help_panel=_ANSWERS)
    ] = None,
    comments: Annotated[bool, typer.Option("--comments", help="Explain each key of a new configuration.")] = False,
    prepare_only: Annotated[bool, typer.Option("--prepare-only", help="Begin no issue.")] = False,
    scenario: Annotated[Path | None, typer.Option(hidden=True, help="What backend `scripted` answers.")] = None,
) -> None:
    """Set up a repository, and let a worker take the first issue.

    It finds or makes token, backend, tests, labels, configuration and issue, asks at most five questions, and can be
    repeated: what is there stays, what is missing is made.

    Exit code as of `worker-agent --once`; 4 when something is missing, with what to do, 1 when GitHub did not
    answer, 2 for wrong options.
    """
    import sys

    from console.start.command import StartOptions, started
    from console.start.draft import Choices
    from console.start.questions import Nobody, Terminal

    choices = Choices(
        repository,
        test_command=test_command,
        test_report=test_report,
        setup_command=setup_command,
        api_url=api_url,
        sandbox=sandbox,
        reviewer_token_file=reviewer_token_file and reviewer_token_file.absolute(),
        scenario=scenario and scenario.absolute(),
    )
    person = Terminal() if sys.stdin.isatty() and not yes else Nobody(agreed=yes)
    options = StartOptions(choices, config, backend, issue, comments, prepare_only)
    raise typer.Exit(started(options, person, surroundings(calm=True), clock=context.obj))


for _command in (tdd, *operating.COMMANDS):
    app.command()(_command)
layout.lay_out(app)
