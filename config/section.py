"""The building blocks of the configuration: the strict model and the text that is never empty."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A string that is not empty."""


class Section(BaseModel):
    """A strict, frozen part of the configuration: unknown keys and wrong types are refused."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )
