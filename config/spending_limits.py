"""Limits of spending and prices of models, as configured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.section import Section


class BudgetSettings(Section):
    """Limits of spending, in US dollars."""

    run: float = Field(5, gt=0, le=10_000)
    """Limit of one run."""
    issue: float = Field(25, gt=0)
    """Limit of one issue."""
    day: float = Field(100, gt=0)
    """Limit of 24 hours."""
    week: float = Field(500, gt=0)
    """Limit of 7 days."""
    warn: float = Field(0.8, gt=0, le=1)
    """Part of a limit from which a warning is given."""
    unknown_run: float = Field(15, gt=0)
    """Cost of a run whose real cost is unknown."""
    scope: Literal["repository"] = "repository"
    """Scope of the limits; the only value."""


class PriceSettings(Section):
    """Prices of a model's tokens, in US dollars per million."""

    input: float = Field(ge=0)
    """Tokens of a prompt outside of the vendor's cache."""
    output: float = Field(ge=0)
    """Tokens of an answer."""
    cached: float = Field(ge=0)
    """Tokens of a prompt read from the cache."""
    written: float = Field(ge=0)
    """Tokens of a prompt written to the cache."""
    written_hour: float | None = Field(None, ge=0)
    """Tokens written for an hour; null means as `written`."""
    above: int | None = Field(None, ge=1)
    """Tokens of a prompt beyond which `times` holds; null means never."""
    times: float = Field(1, ge=1)
    """Factor for longer prompts."""
    search: float = Field(10, ge=0)
    """A thousand searches of the vendor (`llm.vendor_tools`)."""
