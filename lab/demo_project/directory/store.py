"""The directory itself: users by login, in the order in which they were added."""

from collections.abc import Iterator

from directory.user import User


class DuplicateUser(ValueError):
    """A user with this login is in the directory already."""


class UnknownUser(KeyError):
    """No user with this login is in the directory."""


class Directory:
    """A set of users, found by login."""

    def __init__(self) -> None:
        self._users: dict[str, User] = {}

    def add(self, user: User) -> None:
        """Add a user; raises DuplicateUser when the login is taken."""
        if user.login in self._users:
            raise DuplicateUser(user.login)
        self._users[user.login] = user

    def get(self, login: str) -> User:
        """The user with this login; raises UnknownUser when there is none."""
        try:
            return self._users[login]
        except KeyError:
            raise UnknownUser(login) from None

    def __iter__(self) -> Iterator[User]:
        return iter(self._users.values())

    def __len__(self) -> int:
        return len(self._users)
