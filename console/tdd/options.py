"""The command line of `workflow-engine tdd`; what it does is loaded when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shared.llm import BACKENDS

_TASKS, _HOW = "Tasks", "In place of the configuration"
"""Groups of options."""


def tdd(  # noqa: PLR0913 - each is an option of the command line
    specification: Annotated[
        Path | None, typer.Argument(metavar="SPEC.md", help="What should be built, in Markdown.")
    ] = None,
    max_reviews: Annotated[
        int | None, typer.Option(metavar="N", help="Reviews before a person decides (3).", show_default=False)
    ] = None,
    branch: Annotated[str | None, typer.Option(metavar="NAME", help="The new branch; else tdd/<task>.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="What sort of work; else what the file says."),
    ] = None,
    base: Annotated[str | None, typer.Option(metavar="BRANCH", help="Where to start; else the current branch.")] = None,
    no_cleanup: Annotated[bool, typer.Option("--no-cleanup", help="Keep the engine's own files afterwards.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Only a branch; no pull request on origin.")] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="TASK", help="Go on with a task that stopped.", rich_help_panel=_TASKS)
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="Show the tasks of this work tree.", rich_help_panel=_TASKS)
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Configuration file.", rich_help_panel=_HOW)
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Coding backend: {', '.join(BACKENDS)}.", rich_help_panel=_HOW),
    ] = None,
    test_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What runs the tests; else detected.", rich_help_panel=_HOW)
    ] = None,
    setup_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="What installs what they need.", rich_help_panel=_HOW)
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(metavar="MODE", help="bubblewrap, container or none.", rich_help_panel=_HOW)
    ] = None,
) -> None:
    """Build a specification in the repository around you.

    Tests first, then code, then review; GitHub is not needed. The engine works on a copy. Your work tree, index,
    branches, stash and configuration stay as they are; what it adds is one new branch, and a pull request on origin
    unless --local. Tasks are recorded in .workflow/, which git is told to ignore.

    KIND is feature, refactoring, documentation, removal, dependency or configuration.

    Exit code 0 when the review approves, 1 when it failed, 2 for arguments or configuration, 4 for missing
    credentials, 5 when the reviews are used up (the branch is kept), 130 when interrupted. After 1, 5 and 130
    --resume goes on from what was built; a specification that was changed meanwhile, or another one that is named with
    it, is what counts from then on.
    """
    from config.environment import snapshot
    from console.tdd.command import done
    from console.tdd.task import TddOptions

    options = TddOptions(
        specification,
        max_reviews,
        branch,
        base,
        cleanup=not no_cleanup,
        local=local,
        resume=resume,
        listing=show_list,
        json=json,
        config=config,
        llm=llm,
        test_command=test_command,
        setup_command=setup_command,
        sandbox=sandbox,
        kind=kind,
    )
    raise typer.Exit(done(options, snapshot()))
