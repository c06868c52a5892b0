"""The building blocks of the configuration: the strict model, the text that is never empty, and people's paths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationInfo

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A string that is not empty."""


class Section(BaseModel):
    """A strict, frozen part of the configuration: unknown keys and wrong types are refused."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )


CREDENTIALS = "$CREDENTIALS_DIRECTORY"
"""systemd's name for the directory into which `LoadCredential=` of a unit puts its secrets."""


def _absolute(path: Path, info: ValidationInfo) -> Path:
    """`path` with its first word replaced; the validation's context says by what."""
    known, first = info.context or {}, path.parts[:1]
    if first == (CREDENTIALS,):
        if not known.get("credentials"):
            raise ValueError(f"starts with {CREDENTIALS}, which is not set; set it to the directory of the secrets")
        return Path(known["credentials"], *path.parts[1:])
    if known.get("home") and first == ("~",):
        return Path(known["home"], *path.parts[1:])
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("starts with ~, but no home directory is known; write the whole path") from None


UserPath = Annotated[Path, AfterValidator(_absolute)]
"""A path in which a leading `~` or `$CREDENTIALS_DIRECTORY` stands for that directory."""
