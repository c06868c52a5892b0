"""Walks the configuration's model: which keys exist where, for messages and for the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from config.rules import KeyPath


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
