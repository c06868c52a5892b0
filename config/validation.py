"""From a document to `Settings`, or to the list of everything that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from config.document import Document, Problem
from config.rules import Broken, KeyPath, RulesBroken, dotted
from config.settings import Settings
from config.value_errors import complaint


def validate(document: Document, *, places: Mapping[str, str]) -> tuple[Settings | None, list[Problem]]:
    """The settings, and what is wrong; `places` are the directories that paths may begin with (`config.paths`)."""
    problems = list(document.problems)
    try:
        return _model(document.value, places), problems
    except ValidationError as error:
        if rules := _rules(error):
            return None, problems + [_at(document, broken) for broken in rules]
        errors = _errors(error)
    problems += [_problem(document, path, complaint(one, path), _is_key(one)) for path, one in errors]
    wrong = [path for path, _ in errors]
    for broken in _broken_besides(document, places):
        if not any(path in wrong for path in (broken.path, *broken.depends_on)):
            problems.append(_at(document, broken))
    return None, problems


def _model(value: Any, places: Mapping[str, str]) -> Settings:
    # Through JSON, because strict JSON input accepts what YAML has (lists, strings) for tuples and paths.
    return Settings.model_validate_json(json.dumps(value), context=dict(places))


def _rules(error: ValidationError) -> tuple[Broken, ...]:
    cause = error.errors(include_url=False)[0].get("ctx", {}).get("error")
    return cause.broken if isinstance(cause, RulesBroken) else ()


def _errors(error: ValidationError) -> list[tuple[KeyPath, Any]]:
    """Pydantic's errors with the paths of their keys, without those that only follow from others."""
    found = [
        (tuple(part for part in one["loc"] if part != "[key]"), one)
        for one in error.errors(include_url=False)
        if one["type"] != "default_factory_not_called"
    ]
    inner = {path[:depth] for path, _ in found for depth in range(len(path))}
    return [(path, one) for path, one in found if not (one["type"] == "too_short" and path in inner)]


def _is_key(error: Any) -> bool:
    return error["type"] == "extra_forbidden" or "[key]" in error["loc"]


def _broken_besides(document: Document, places: Mapping[str, str]) -> Iterator[Broken]:
    """The rules that are broken beside the wrong keys: validates again without those keys."""
    rest = json.loads(json.dumps(document.value))
    for _ in range(3):  # a section that lost a required key goes in the next pass
        try:
            _model(rest, places)
        except ValidationError as error:
            if rules := _rules(error):
                yield from rules
                return
            errors = _errors(error)
            for path in sorted((_removable(path, one) for path, one in errors), key=_deepest_and_last_first):
                _remove(rest, path)
            _name_repositories(rest)


def _removable(path: KeyPath, error: Any) -> KeyPath:
    return path[:-1] if error["type"] == "missing" else path


def _deepest_and_last_first(path: KeyPath) -> tuple[int, list[int]]:
    return -len(path), [-part for part in path if isinstance(part, int)]


def _remove(tree: Any, path: KeyPath) -> None:
    for part in path[:-1]:
        tree = tree[part]
    if len(path) == 2 and path[0] == "repositories":
        tree[path[1]] = {}  # the others must keep their numbers
    elif path:
        tree.pop(path[-1], None) if isinstance(tree, dict) else tree.pop(path[-1])


def _name_repositories(tree: Any) -> None:
    """Give every repository that lost its name another one, so that the rest can be judged."""
    if isinstance(tree, dict):
        for index, repository in enumerate(tree.setdefault("repositories", [{}])):
            repository.setdefault("name", f"unnamed/{index}")


def _at(document: Document, broken: Broken) -> Problem:
    return _problem(document, broken.path, broken.message, False)


def _problem(document: Document, path: KeyPath, message: str, of_key: bool) -> Problem:
    line, column = document.place(path, key=of_key)
    return Problem(line, column, f"{dotted(path)}: {message}" if path else message)
