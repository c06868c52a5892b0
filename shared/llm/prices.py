"""Prices of tokens: a dated list of public prices beside this file, which the configuration can replace or extend."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from shared.llm.port import Usage

LIST = Path(__file__).with_name("prices.yml")

MILLION = 1_000_000

MOST_TOKENS = 10**9
"""Largest plausible number of tokens: larger, infinite and non-numeric counts are rejected."""

_SUFFIX = re.compile(r"(?:-latest|-\d{8}|-\d{4}-\d{2}-\d{2})?(?:\[[^\]]*\])?")
"""Suffix that vendors add to a model's name without changing its price: a date, a context size."""


def count_of(usage: Mapping[str, Any], key: str, otherwise: int = 0) -> int:
    """Return a number of tokens as a program or a vendor gives it; `otherwise` if it is missing or implausible."""
    value = usage.get(key)
    return int(value) if isinstance(value, int | float) and 0 <= value <= MOST_TOKENS else otherwise


class Price(BaseModel):
    """US dollars per million tokens of one model; `above` and `times` raise all of them for long prompts.

    `search` is for a thousand searches that the vendor makes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float = Field(ge=0)
    written: float = Field(ge=0)
    written_hour: float | None = Field(None, ge=0)
    above: int | None = Field(None, ge=1)
    times: float = Field(1, ge=1)
    search: float = Field(10, ge=0)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The usage of one request. `input` was neither read from the vendor's cache (`cached`) nor written to it.

    `estimated` is True if the answer ended before it reported them, so that they are estimated from the seen part.
    """

    model: str = ""
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    written_hour: int = 0
    searches: int = 0
    estimated: bool = False

    @property
    def prompt(self) -> int:
        """Length of the prompt in tokens."""
        return self.input + self.cached + self.written + self.written_hour


def usage_of(requests: Sequence[Tokens], model: str, cost_usd: float | None, cost_source: str) -> Usage:
    """Add up the tokens of a run's requests."""
    return Usage(
        input_tokens=sum(one.input for one in requests),
        output_tokens=sum(one.output for one in requests),
        cached_tokens=sum(one.cached for one in requests),
        cache_write_tokens=sum(one.written + one.written_hour for one in requests),
        model=model,
        cost_usd=cost_usd,
        cost_source=cost_source,
    )


class Prices:
    """The prices of models, by the vendor's name with or without a date behind it."""

    def __init__(self, models: Mapping[str, Price]) -> None:
        self._models = dict(models)

    @classmethod
    def listed(cls, configured: Mapping[str, Price] | None = None) -> Prices:
        """Return the prices of the list beside this file, overridden by the `configured` ones."""
        found = yaml.safe_load(LIST.read_text("utf-8"))
        return cls({**_PRICES.validate_python(found["models"]), **(configured or {})})

    def knows(self, model: str) -> bool:
        """Return whether a model has a price."""
        return self._price(model) is not None

    def cost(self, tokens: Tokens) -> float | None:
        """Return the cost in US dollars; None for a model without a price."""
        price = self._price(tokens.model)
        return None if price is None else _cost(price, tokens)

    def most(self, tokens: Tokens) -> float:
        """Return the cost in US dollars at the most expensive known model: an upper bound if the price is unknown."""
        return max((_cost(price, tokens) for price in self._models.values()), default=0.0)

    def _price(self, model: str) -> Price | None:
        return self._models.get(model) or self._models.get(_plain(model))


_PRICES = TypeAdapter(dict[str, Price])


def _cost(price: Price, tokens: Tokens) -> float:
    hour = price.written if price.written_hour is None else price.written_hour
    found = tokens.input * price.input + tokens.output * price.output + tokens.cached * price.cached
    found += tokens.written * price.written + tokens.written_hour * hour
    long = price.above is not None and tokens.prompt > price.above
    return found * (price.times if long else 1.0) / MILLION + tokens.searches * price.search / 1000


LONGEST_NAME = 200
"""Characters of a model's name that are examined."""


def _plain(model: str) -> str:
    """Return the name without a date or context size at its end, and without the platform's prefix."""
    name = model.rpartition("/")[2]
    for end in range(1, min(len(name), LONGEST_NAME)):
        if name[end] in "-[" and _SUFFIX.fullmatch(name, end):
            return name[:end]
    return name
