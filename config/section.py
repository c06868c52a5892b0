"""The building blocks of the configuration: the strict model, the text that is never empty, and people's paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationInfo

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A string that is not empty."""

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\[bot\])?")
_TEAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"(?!gh[a-z]_|github_pat_)[A-Za-z_][A-Za-z0-9_]*")


def _login(name: str) -> str:
    if not _LOGIN.fullmatch(name):
        raise ValueError("is not a login; write it as GitHub shows it, without @, as in 'octocat'")
    return name


def _mentioned(name: str) -> str:
    return name if _TEAM.fullmatch(name) else _login(name)


Login = Annotated[Text, AfterValidator(_login)]
"""The login of an account of GitHub."""

Mentioned = Annotated[Text, AfterValidator(_mentioned)]
"""The text after the @ of a mention: a login, or a team as `organisation/team`."""


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(
            "is not the name of an environment variable; the secret itself stands in the variable, never here"
        )
    return name


Variable = Annotated[Text, AfterValidator(_variable)]
"""The name of an environment variable, and not its value."""


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
    if first and first[0].startswith("$"):
        raise ValueError(f"starts with $, and {CREDENTIALS} and ~ alone are replaced; write the whole path")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("starts with ~, but no home directory is known; write the whole path") from None


def _not_empty(path: object) -> object:
    """`path`; an empty one would be the current directory."""
    if isinstance(path, str) and not path.strip():
        raise ValueError("must not be empty")
    return path


UserPath = Annotated[Path, BeforeValidator(_not_empty), AfterValidator(_absolute)]
"""A path in which a leading `~` or `$CREDENTIALS_DIRECTORY` stands for that directory."""
