"""The commands of `workflow-engine`: in groups, with texts that wrap and no names of types; no option counts twice."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from runtime.arguments import refuse_repeated

GROUPS = {
    "First steps": ("start", "demo", "tdd", "init", "doctor", "install-cli"),
    "Run": ("run", "pause", "resume", "drain"),
    "Look": ("status", "dashboard", "report", "events"),
    "Check and repair": ("verify", "recover", "replay", "uninstall"),
}
"""Every command, in the order in which a person needs them."""


_COMPLETION = {
    "install_completion": "Let this shell complete commands.",
    "show_completion": "Print what that would install.",
}
"""Shorter than the library's own sentences."""


class PlainCommand(TyperCommand):
    """A command whose help shows the meaning of values, not their Python types.

    It refuses an option that is given again, where the last one would count without a word. The module of `click`
    depends on the version of typer.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the words that are left; wrong ones end it with exit code 2."""
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters as they are shown."""
        return _plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The same for the program's group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters as they are shown."""
        return _plain(super().get_params(ctx))


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if param.param_type_name == "argument":  # its name says it
            vars(param)["display_type_rich"] = lambda ctx: None
        if param.name in _COMPLETION:
            vars(param)["help"] = _COMPLETION[param.name]
    return params


def lay_out(app: typer.Typer) -> None:
    """Order the commands by `GROUPS`, and let their texts wrap by themselves.

    Raises KeyError for a command without a group.
    """
    place = {name: (title, number) for title, names in GROUPS.items() for number, name in enumerate(names)}
    titles = list(GROUPS)
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.name, command.rich_help_panel = name, place[name][0]
        command.cls = PlainCommand
        command.help = unwrapped(inspect.getdoc(command.callback) or "")
    app.registered_commands.sort(key=lambda one: (titles.index(place[one.name or ""][0]), place[one.name or ""][1]))


def unwrapped(text: str) -> str:
    """A text whose paragraphs are one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip()))
