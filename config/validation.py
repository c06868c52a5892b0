"""From a document to `Settings`, or to the list of all its errors: a sentence for each, for the person who wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from config.document import Document, Problem
from config.rules import Broken, KeyPath, RulesBroken, dotted
from config.settings import Settings
from shared.text import one_line

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


def validate(document: Document, *, places: Mapping[str, str]) -> tuple[Settings | None, list[Problem]]:
    """Return the settings, and the errors; `places` are the directories that paths begin with (`config.section`)."""
    problems = list(document.problems)
    try:
        return _model(document.value, places), problems
    except ValidationError as error:
        if rules := _rules(error):
            return None, problems + [_at(document, broken) for broken in rules]
        problems += problems_of(document, error, Settings)
        errors = _errors(error)
    wrong = [path for path, _ in errors]
    for broken in _broken_besides(document, places):
        if not any(path in wrong for path in (broken.path, *broken.depends_on)):
            problems.append(_at(document, broken))
    return None, problems


def problems_of(document: Document, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return the errors in a document that was validated as `model`."""
    return [_problem(document, path, complaint(one, path, model), _is_key(one)) for path, one in _errors(error)]


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
    """Yield the rules that are broken beside the wrong keys: validates again without those keys."""
    rest = json.loads(json.dumps(document.value))
    for _ in range(3):  # a section that lost a required key goes in the next pass
        try:
            _model(rest, places)
        except ValidationError as error:
            if rules := _rules(error):
                yield from rules
                return
            errors = _errors(error)
            for path in sorted((_path_to_remove(path, one) for path, one in errors), key=_deepest_and_last_first):
                _remove(rest, path)
            _name_repositories(rest)


def _path_to_remove(path: KeyPath, error: Any) -> KeyPath:
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


_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "path_type": "a path",
    "finite_number": "a finite number",
}

_BOUNDS = {"greater_than": "gt", "greater_than_equal": "ge", "less_than": "lt", "less_than_equal": "le"}

_BOUND_WORDS = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}


def complaint(error: ErrorDetails, path: KeyPath, model: type[BaseModel] = Settings) -> str:
    """The sentence for one error of the model; never shows a text value, which may be a secret."""
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown_key(path, model)
    if kind == "missing":
        return "this key is required"
    if kind == "literal_error":
        words = str(error["ctx"]["expected"]).split("'")[1::2]
        return _not_a_choice(given, words, "[key]" in error["loc"])
    if kind == "string_type":  # a number is not shown: the key may be a secret's
        return f"must be text, not {'a number' if type(given) in (int, float) else _describe(given)}"
    if bound := _BOUNDS.get(kind):
        return f"must be {_BOUND_WORDS[bound]} {error['ctx'][bound]:.15g}, not {given:.15g}"
    if wanted := _WANTED.get(kind):
        return f"must be {wanted}{_advice(kind, given, path, model)}"
    if kind == "string_too_short":
        return "must not be empty"
    if kind == "too_short":
        return f"needs at least {error['ctx']['min_length']} item"
    message = error["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _advice(kind: str, given: Any, path: KeyPath, model: type[BaseModel]) -> str:
    """Return what a value is not, and how it is written where that is often mistaken."""
    if kind in {"int_type", "float_type"} and isinstance(given, str) and any(char.isdigit() for char in given):
        return " without unit or quotes, not text"
    if kind == "model_type" and (needed := _required(model, path)):
        return f", not {_describe(given)}; it needs at least '{needed[0]}:'"
    return f", not {_describe(given)}"


def _required(model: type[BaseModel], path: KeyPath) -> list[str]:
    for part in path:
        if part in model.model_fields and (below := section(model.model_fields[str(part)].annotation)):
            model = below[0]
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _unknown_key(path: KeyPath, model: type[BaseModel]) -> str:
    word, here = str(path[-1]), known(model, path[:-1])
    elsewhere = [_under(home) for home in homes(Settings, word)]
    if elsewhere and model is not Settings:
        return "unknown key here; it is set in the configuration of the engine's operator alone"
    if elsewhere and not any(key.endswith(f"_{word}") for key in here):
        return f"unknown key here; it belongs {', or '.join(elsewhere)}"
    longer = [key for key in here if len(word) >= _SHORTEST_BEGINNING and key.startswith(word.casefold())]
    near = longer[:1] or get_close_matches(word, here, n=1)
    return "unknown key" + (f"; did you mean '{near[0]}'?" if near else "")


_SHORTEST_BEGINNING = 4
"""Letters of a key that are enough to know the whole one."""


def _under(home: tuple[str, ...]) -> str:
    """Return the place of a section's keys, as in "under `ci:` in an entry of `repositories:`"."""
    if not home:
        return "at the top level"
    entries = [(name.removesuffix("[]").removesuffix(".<name>"), name[-1] in "]>") for name in reversed(home)]
    return "under " + " in ".join(f"{'an entry of ' if each else ''}`{name}:`" for name, each in entries)


def _not_a_choice(given: Any, words: list[str], is_key: bool) -> str:
    near = get_close_matches(given, words, n=1) if isinstance(given, str) else []
    shown = repr(one_line(given, _SHOWN_CHARS)) if isinstance(given, str) else _describe(given)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{'unknown key' if is_key else f'is {shown}'}, not one of {', '.join(words)}{hint}"


_SHOWN_CHARS = 60
"""Characters of a wrong word that are shown."""


def _describe(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:g}"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def section(annotation: Any) -> tuple[type[BaseModel], str] | None:
    """The section below a field and what stands after its key: nothing, `[]` or `.<name>`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    if origin is tuple and (found := section(arguments[0])):
        return found[0], "[]"
    if origin is dict and (found := section(arguments[1])):
        return found[0], ".<name>"
    if origin is Annotated:
        return section(arguments[0])
    if arguments and origin is not Literal:
        return next((found for part in arguments if (found := section(part))), None)
    return None


def known(model: type[BaseModel], path: KeyPath) -> tuple[str, ...]:
    """The keys that may stand in the mapping at `path`; empty when there is no such section."""
    for part in path:
        if isinstance(part, int):
            continue
        if part in model.model_fields:
            below = section(model.model_fields[part].annotation)
            if below is None:
                return ()
            model = below[0]
    return tuple(model.model_fields)


def homes(model: type[BaseModel], key: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each section that has a key of this name, as the keys that lead to it: none for the top level.

    A key whose value is a list or a mapping of sections ends in `[]` or `.<name>`.
    """
    if key in model.model_fields:
        yield above
    for name, field in model.model_fields.items():
        if below := section(field.annotation):
            yield from homes(below[0], key, (*above, f"{name}{below[1]}"))
