"""The page, made whole on the server from templates in which text of others is never anything but text."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from console.dashboard.view import DashboardView


def _template(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_TEMPLATES = Environment(
    loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def page(view: DashboardView) -> str:
    """The whole document."""
    return _TEMPLATES.get_template("page.html").render(view=view)


def live(view: DashboardView) -> str:
    """Return the part of the document that changes: the server's events carry it."""
    return _TEMPLATES.get_template("live.html").render(view=view)
