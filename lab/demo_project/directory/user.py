"""The users of the directory."""

from dataclasses import dataclass


@dataclass(frozen=True)
class User:
    """One person; `login` is unique in a directory."""

    login: str
    name: str
    email: str
