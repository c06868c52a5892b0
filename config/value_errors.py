"""What is wrong with one value, as one sentence for the person who wrote it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from config.keys import known
from config.rules import KeyPath
from config.settings import Settings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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


def complaint(error: ErrorDetails, path: KeyPath) -> str:
    """The sentence for one error of the model; never shows a text value, which may be a secret."""
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown_key(path)
    if kind == "missing":
        return "this key is required"
    if kind == "literal_error":
        return _not_a_choice(given, _words(error), "[key]" in error["loc"])
    if kind == "string_type":  # a number is not shown: the key may be a secret's
        return f"must be text, not {'a number' if type(given) in (int, float) else _described(given)}"
    if bound := _BOUNDS.get(kind):
        return f"must be {_BOUND_WORDS[bound]} {error['ctx'][bound]:g}, not {given:g}"
    if wanted := _WANTED.get(kind):
        return f"must be {wanted}, not {_described(given)}"
    if kind == "string_too_short":
        return "must not be empty"
    if kind == "too_short":
        return f"needs at least {error['ctx']['min_length']} item"
    message = error["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _unknown_key(path: KeyPath) -> str:
    near = get_close_matches(str(path[-1]), known(Settings, path[:-1]), n=1)
    return "unknown key" + (f"; did you mean '{near[0]}'?" if near else "")


def _words(error: ErrorDetails) -> tuple[str, ...]:
    return tuple(word for word in str(error["ctx"]["expected"]).split("'")[1::2])


def _not_a_choice(given: Any, words: tuple[str, ...], is_key: bool) -> str:
    near = get_close_matches(given, words, n=1) if isinstance(given, str) else []
    shown = repr(given) if isinstance(given, str) else _described(given)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{'unknown key' if is_key else f'is {shown}'}, not one of {', '.join(words)}{hint}"


def _described(value: Any) -> str:
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
