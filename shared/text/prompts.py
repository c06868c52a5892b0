"""Prompts: Markdown files beside the agent that owns them, rendered strictly (reading them is the only I/O).

A file begins with front matter:

    ---
    variables: [title, diff, conventions]   # every variable that it shows
    prose: [title]                          # of these: prose from strangers
    code: [diff]                            # of these: code, logs and other output from strangers
    ---

and shows each variable as `{{ name }}`. A variable with text from strangers is alone on its line and is
put into a marked block that the text cannot close.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from shared.errors import EngineError
from shared.text import clean, printable

_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n+(.*)", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{ ([a-z][a-z0-9_]*) \}\}")
_LISTS = ("variables", "prose", "code")
_NOTHING = "(none)"
_DRAWS = 8
"""Delimiters drawn before giving up; with a real source of randomness the first one fits."""


class PromptError(EngineError):
    """A prompt file and what it is rendered with do not fit together."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Prose from a stranger. A prompt's front matter can declare it as well, then `str` is enough."""

    text: str


def _random_delimiter() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class _Prompt:
    name: str
    text: str
    variables: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompt files of one directory."""

    directory: Path
    delimiter: Callable[[], str] = _random_delimiter

    def names(self) -> tuple[str, ...]:
        """Return the names of all prompts, sorted."""
        return tuple(sorted(path.stem for path in self.directory.glob("*.md")))

    def variables(self, name: str) -> tuple[str, ...]:
        """Return the variables that prompt `name` must be given."""
        return _read_prompt(self.directory, name).variables

    def render(self, name: str, **variables: str | Untrusted) -> str:
        """Return the text of prompt `name`; an empty value shows as `(none)`.

        Raises `PromptError` for a missing and an unused variable, and for a file whose front matter
        and text differ.
        """
        prompt = _read_prompt(self.directory, name)
        _agree(f"{name} is rendered", set(prompt.variables), set(variables))
        delimiter = self._delimiter(variables)
        shown = {key: _show_value(prompt, key, value, delimiter) for key, value in variables.items()}
        return _PLACEHOLDER.sub(lambda found: shown[found[1]], prompt.text)

    def _delimiter(self, variables: Mapping[str, str | Untrusted]) -> str:
        texts = [value.text if isinstance(value, Untrusted) else value for value in variables.values()]
        for _ in range(_DRAWS):
            drawn = self.delimiter()
            if drawn and not any(drawn in cleaned(text) for text in texts for cleaned in (clean, printable)):
                return drawn
        raise PromptError("No delimiter was drawn that the texts do not contain.")


def _show_value(prompt: _Prompt, name: str, value: str | Untrusted, delimiter: str) -> str:
    text = value.text if isinstance(value, Untrusted) else value
    if name in prompt.code:
        return _block(name, printable(text), delimiter)
    if name in prompt.prose or isinstance(value, Untrusted):
        return _block(name, clean(text), delimiter)
    return printable(text).strip() or _NOTHING


def _block(name: str, text: str, delimiter: str) -> str:
    return f"<<<{name} {delimiter}\n{text.strip(chr(10)) or _NOTHING}\n{delimiter} {name}>>>"


def _read_prompt(directory: Path, name: str) -> _Prompt:
    try:
        raw = (directory / f"{name}.md").read_text("utf-8")
    except FileNotFoundError as error:
        raise PromptError(f"There is no prompt '{name}' in {directory}.") from error
    found = _FRONT_MATTER.fullmatch(raw)
    if found is None:
        raise PromptError(f"{name}.md does not begin with front matter between two lines of three dashes.")
    prompt = _Prompt(name, found[2].rstrip() + "\n", **_lists(name, found[1]))
    _check(prompt)
    return prompt


def _lists(name: str, front_matter: str) -> dict[str, tuple[str, ...]]:
    fields = yaml.safe_load(front_matter)
    if not isinstance(fields, dict) or not set(fields) <= set(_LISTS) or "variables" not in fields:
        raise PromptError(f"{name}.md: the front matter has `variables`, and if needed `prose` and `code`.")
    if not all(isinstance(names, list) and all(isinstance(n, str) for n in names) for names in fields.values()):
        raise PromptError(f"{name}.md: `variables`, `prose` and `code` are lists of names.")
    return {key: tuple(cast(list[str], names)) for key, names in fields.items()}


def _check(prompt: _Prompt) -> None:
    declared, strange = set(prompt.variables), {*prompt.prose, *prompt.code}
    _agree(f"{prompt.name}.md", declared, set(_PLACEHOLDER.findall(prompt.text)))
    if not strange <= declared or set(prompt.prose) & set(prompt.code):
        raise PromptError(f"{prompt.name}.md: `prose` and `code` name variables, each at most once.")
    for fault in _faults(prompt, strange):
        raise PromptError(f"{prompt.name}.md: {fault}.")


def _faults(prompt: _Prompt, strange: set[str]) -> Iterator[str]:
    for line in prompt.text.split("\n"):
        if "{{" in _PLACEHOLDER.sub("", line):
            yield f"'{line.strip()}' has a placeholder that is not spelled `{{{{ name }}}}`"
        if strange & set(_PLACEHOLDER.findall(line)) and not _PLACEHOLDER.fullmatch(line):
            yield f"'{line.strip()}' has text from strangers in the middle of a line"


def _agree(kind: str, wanted: set[str], given: set[str]) -> None:
    missing, unused = sorted(wanted - given), sorted(given - wanted)
    if missing or unused:
        parts = [f"without {', '.join(missing)}"] * bool(missing) + [f"with unknown {', '.join(unused)}"] * bool(unused)
        raise PromptError(f"{kind} {' and '.join(parts)}.")
