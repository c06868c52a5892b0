"""`workflow-engine recover`: the commands of comments, given at a console; the same table, the same effects."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from json import dumps
from pathlib import Path

import anyio

from config.loading import load
from config.settings import Settings
from console.orders import ACTIONS, DECISIONS, Order, OrderResult, ordered
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import FAILED, OK, code_of
from shared.commands.command import ALIASES, Verb
from shared.commands.command_rules import CommandRefused, configured_backend
from shared.errors import EngineError, Misconfigured

_ITEM = re.compile(r"([^/#\s]+/[^/#\s]+)#([1-9][0-9]{0,9})")


def recovered(
    action: str,
    item: str,
    config: Path | None,
    environment: Mapping[str, str],
    *,
    json: bool = False,
    backend: str = "",
) -> int:
    """Carry out one of `ACTIONS` for an item `owner/repo#7` and print the result.

    `retry` goes on with `backend`, if it is named. Exit code 0 done, 1 refused or GitHub failed, 2 for arguments, 4
    for rights.
    """
    try:
        verb, name, number = _read(action, item)
        settings = load(config, repository=name, environment=environment)
        _check_backend(verb, backend, settings)
        answer = anyio.run(ordered, settings, with_gh_token(settings, environment), Order(verb, number, backend))
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return code_of(error)
    sys.stdout.write(f"{dumps(asdict(answer)) if json else _as_text(answer)}\n")
    return OK if answer.done else FAILED


def _read(action: str, item: str) -> tuple[Verb, str, int]:
    word = ALIASES.get(action, action)
    if word in DECISIONS:
        raise Misconfigured(
            f"`{word}` is decided in the thread, where people see who did it and on which text or commit: "
            f"comment `/{word}` on {item}."
        )
    verb = next((verb for verb in ACTIONS if verb == word), None)
    if verb is None:
        raise Misconfigured(f"'{action}' is no action; there is {', '.join(ACTIONS)}.")
    found = _ITEM.fullmatch(item)
    if found is None:
        raise Misconfigured(f"'{item}' is no issue or pull request: write it as owner/repo#7.")
    return verb, found[1], int(found[2])


def _check_backend(verb: Verb, backend: str, settings: Settings) -> None:
    if backend and verb is not Verb.RETRY:
        raise Misconfigured("Only `retry` takes --backend.")
    found = configured_backend(backend, settings.backends(settings.repositories[0])) if backend else ""
    if isinstance(found, CommandRefused):
        raise Misconfigured(f"{found.sentence[0].upper()}{found.sentence[1:]}.")


def _as_text(answer: OrderResult) -> str:
    told = f"{answer.item}: {answer.outcome}. {answer.next}".strip()
    return told if answer.done else f"{told} What fits at '{answer.stage}': {', '.join(answer.fits) or 'nothing'}."
