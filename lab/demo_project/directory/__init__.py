"""An in-memory directory of users."""

from directory.store import Directory, DuplicateUser, UnknownUser
from directory.user import User

__all__ = ["Directory", "DuplicateUser", "UnknownUser", "User"]
