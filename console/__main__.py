"""`workflow-engine`: the commands for people; each is loaded when it is used."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="workflow-engine",
    help="Turns stories on GitHub into tested, reviewed and merged pull requests.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def engine(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options that stand before a command."""
    if show_version:
        typer.echo(version("workflow-engine"))
        raise typer.Exit


@app.command()
def demo(
    workers: Annotated[int, typer.Option(help="How many worker processes.")] = 1,
    stories: Annotated[int, typer.Option(help="How many stories to tell.")] = 1,
    keep: Annotated[bool, typer.Option(help="Keep logs, repositories and states afterwards.")] = False,
    kill_every: Annotated[float, typer.Option(help="SIGKILL a random agent about every so many seconds.")] = 0.0,
    directory: Annotated[Path, typer.Option(help="Where it may write.")] = Path(".demo"),
    set_up: Annotated[bool, typer.Option("--set-up", help="Only make the project's environment.")] = False,
) -> None:
    """From a story to a merged pull request: no token, no network, no GitHub, under a minute."""
    import anyio
    from rich.console import Console

    from console.demo import Wishes, show
    from console.launch import complain
    from shared.errors import EngineError

    wishes = Wishes(directory, stories, workers, keep, kill_every, set_up)
    try:
        raise typer.Exit(anyio.run(show, wishes, Console()))
    except EngineError as error:
        raise typer.Exit(complain(error)) from None


def main() -> None:
    """Run `workflow-engine`."""
    app()


if __name__ == "__main__":
    main()
