"""How `workflow-engine --help` is laid out: commands in groups, and paragraphs that wrap where the terminal ends."""

from __future__ import annotations

import inspect
import re

import typer

GROUPS = {
    "First steps": ("start", "demo", "tdd", "init", "doctor", "install-cli"),
    "Run": ("run", "pause", "resume", "drain"),
    "Look": ("status", "dashboard", "report", "events"),
    "Check and repair": ("verify", "recover", "replay", "uninstall"),
}
"""Every command, in the order in which a person needs them."""


def lay_out(app: typer.Typer) -> None:
    """Order the commands by `GROUPS`, and let their texts wrap by themselves.

    Raises KeyError for a command without a group.
    """
    place = {name: (title, number) for title, names in GROUPS.items() for number, name in enumerate(names)}
    titles = list(GROUPS)
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.name, command.rich_help_panel = name, place[name][0]
        command.help = unwrapped(inspect.getdoc(command.callback) or "")
    app.registered_commands.sort(key=lambda one: (titles.index(place[one.name or ""][0]), place[one.name or ""][1]))


def unwrapped(text: str) -> str:
    """A text whose paragraphs are one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip()))
