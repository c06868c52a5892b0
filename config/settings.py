"""The whole configuration: one strict frozen model, read once; objects get values from it, never it.

Reading files is `config.loading`; rules that span several keys are `config.rules`.
"""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from config.engine import EngineSettings
from config.rules import RulesBroken, broken


class Settings(EngineSettings):
    """Everything that can be configured."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if found := tuple(broken(self)):
            raise RulesBroken(found)
        return self
