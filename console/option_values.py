"""Options of the command line that stand for a key of the configuration: wrong values are reported by option name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from config.document import Document
from config.rules import KeyPath, dotted
from config.validation import validate
from shared.errors import Misconfigured

BACKEND: KeyPath = ("repositories", 0, "llm_backend")
TEST_COMMAND: KeyPath = ("repositories", 0, "test_command")
SETUP_COMMAND: KeyPath = ("repositories", 0, "setup_command")
SANDBOX: KeyPath = ("sandbox",)
API_URL: KeyPath = ("github", "api_url")


def usable(given: Mapping[str, tuple[KeyPath, str | None]]) -> None:
    """Return when the configuration takes each option's value at its key; raises `Misconfigured`, naming options.

    None stands for an option that was not given.
    """
    wrong = [
        f"{option}: {said}."
        for option, (key, value) in given.items()
        if value is not None
        for said in _complaints(key, value)
    ]
    if wrong:
        raise Misconfigured("\n".join(wrong))


def _complaints(key: KeyPath, value: str) -> Iterator[str]:
    """Yield the errors in one value, with the default for every other key."""
    whole: dict[str, object] = {"repositories": [{"name": "owner/repo"}], "state_dir": "/"}
    if key[0] == "repositories":
        whole["repositories"] = [{"name": "owner/repo", str(key[-1]): value}]
    else:
        nested: object = value
        for part in reversed(key[1:]):
            nested = {part: nested}
        whole[str(key[0])] = nested
    before = f"{dotted(key)}: "
    for problem in validate(Document(value=whole), places={})[1]:
        if problem.message.startswith(before):
            yield problem.message.removeprefix(before)
