"""Files that `init` writes on this machine: a commented configuration and a signing key, each only if missing."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from importlib.resources import files
from pathlib import Path

import yaml

from console.manual import linked
from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.filesystem.disk_space import as_disk_full

KEY_BYTES = 48
"""Random bytes of a key; it is written as text, because people copy it."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be written where there is none. `shown` is False for a secret; `copying` says what to do with it."""

    path: Path
    content: Callable[[], str]
    shown: bool = True
    copying: str = ""

    def write(self) -> bool:
        """Write it, readable by us alone; False when there is one by now. Raises `Misconfigured` and `DiskFull`."""
        try:
            if not self.path.parent.is_dir():
                self.path.parent.mkdir(mode=0o700, parents=True)
            if self.path.exists():
                return False
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise as_disk_full(error, self.path) or self._refused(error) from None
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(self.content())
                file.flush()
                os.fsync(file.fileno())
        except BaseException as error:
            self.path.unlink()  # the next try would take a part of it for what somebody wrote
            if isinstance(error, OSError):
                raise as_disk_full(error, self.path) or self._refused(error) from None
            raise
        return True

    def rewrite(self) -> None:
        """Write it in place of what is there, as a whole or not at all. Raises `Misconfigured` and `DiskFull`."""
        try:
            directories.replace_content(self.path, self.content().encode())
        except OSError as error:
            raise as_disk_full(error, self.path) or self._refused(error) from None

    def _refused(self, error: OSError) -> Misconfigured:
        return Misconfigured(f"{self.path} cannot be written: {error.strerror}.")

    def diff(self) -> str:
        """Return the change as a unified diff; a secret's content is not shown."""
        if not self.shown:
            return f"+++ {self.path} (a new secret, mode 0600)\n"
        lines = self.content().splitlines(keepends=True)
        return "".join(unified_diff([], lines, "/dev/null", str(self.path)))


def key_file(path: Path) -> NewFile:
    """A new signing key."""
    copying = (
        f"Copy {path} to every machine whose agents work on the same repositories, mode 0600, and name it there in "
        "lock.key_files. Whoever has it can forge the engine's comments."
    )
    return NewFile(path, lambda: f"{secrets.token_urlsafe(KEY_BYTES)}\n", shown=False, copying=copying)


@dataclass(frozen=True, slots=True)
class Blanks:
    """Values that are filled into the example; `api_url` None leaves the example's."""

    repository: str
    key: Path
    api_url: str | None = None


def configuration_file(path: Path, blanks: Blanks) -> NewFile:
    """The commented example, filled in."""
    text = configuration(example(), blanks)
    doctor = f"workflow-engine doctor --config {shlex.quote(str(path))}"
    copying = f"Read it and change what does not fit; `{doctor}` says what is missing."
    return NewFile(path, lambda: text, copying=copying)


def example() -> str:
    """The example that is shipped with the engine."""
    return files("config").joinpath("repos.yml.example").read_text(encoding="utf-8")


def configuration(text: str, blanks: Blanks) -> str:
    """The example with `blanks` filled in; raises ValueError when it has no place for one of them."""
    lines = [line for line in text.splitlines(keepends=True) if "yaml-language-server" not in line]
    text = f"# Written by `workflow-engine init`.\n{linked(''.join(lines))}"
    text = _fill_in(text, r"  - name: owner/repo$", f"  - name: {blanks.repository}")
    text = _fill_in(text, r"  key_files: \[\]", f"  key_files: [{_yaml_quoted(str(blanks.key))}]")
    if blanks.api_url is not None:
        text = _fill_in(text, r"  api_url: \S+", f"  api_url: {_yaml_quoted(blanks.api_url)}")
    return text


def _fill_in(text: str, place: str, filling: str) -> str:
    text, times = re.subn(f"(?m)^{place}", lambda _: filling, text)
    if times != 1:
        raise ValueError(f"the example has {times} lines like {place!r}")
    return text


def addition(before: str, section: str, key: str, value: object) -> str:
    """Return how a person adds a key to the configuration `before`, in which a section may stand only once."""
    said = f"{key}: {as_yaml(value)}"
    if re.search(rf"^{section}[ \t]*:", before, re.MULTILINE):
        return f"Add to `{section}` there:  {said}"
    return f"Add to it:  {section}: {{{said}}}"


def as_yaml(value: object) -> str:
    """Return a value as YAML takes it, in one line; a text stands plain where that is the same text."""
    if isinstance(value, list):
        return f"[{', '.join(map(as_yaml, value))}]"
    text = str(value)
    plain = isinstance(value, int) or (re.fullmatch(r"[A-Za-z~/][\w ./~-]*", text) and yaml.safe_load(text) == text)
    return text if plain else json.dumps(text)


def _yaml_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
