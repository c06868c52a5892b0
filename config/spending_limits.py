"""Limits of spending and prices of models, as configured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.section import Section


class BudgetSettings(Section):
    """Limits of spending, in US dollars."""

    run: float = Field(5, gt=0, le=10_000)
    """Limit of one run of a coding backend."""
    issue: float = Field(25, gt=0)
    """Limit of one issue over all its runs."""
    day: float = Field(100, gt=0)
    """Limit of 24 hours."""
    week: float = Field(500, gt=0)
    """Limit of 7 days."""
    warn: float = Field(0.8, gt=0, le=1)
    """Fraction of a limit from which a warning is given."""
    unknown_run: float = Field(15, gt=0)
    """Cost that counts for a run whose real cost is unknown."""
    scope: Literal["repository"] = "repository"
    """Scope over which the limits of day and week are counted; there is one value so far."""


class PriceSettings(Section):
    """Prices of a model's tokens, in US dollars per million."""

    input: float = Field(ge=0)
    """Tokens of a prompt that are neither read from the vendor's cache nor written to it."""
    output: float = Field(ge=0)
    """Tokens of an answer."""
    cached: float = Field(ge=0)
    """Tokens of a prompt that are read from the cache."""
    written: float = Field(ge=0)
    """Tokens of a prompt that are written to the cache."""
    written_hour: float | None = Field(None, ge=0)
    """Tokens written to the cache for an hour; null means as `written`."""
    above: int | None = Field(None, ge=1)
    """Length of a prompt in tokens beyond which `times` holds; null means that there is none."""
    times: float = Field(1, ge=1)
    """Factor of the price for a request with a longer prompt."""
    search: float = Field(10, ge=0)
    """A thousand searches that the vendor makes for it, where `llm.vendor_tools` allows them."""
