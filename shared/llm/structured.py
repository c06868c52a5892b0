"""JSON schemas that every vendor accepts, and answers back in the shape that the caller's model expects (pure).

The strict subset: every object closed and all of its properties required. A property that was
optional may be null instead, and a null that only fills such a place is taken out of the answer
again. Limits that vendors do not know (lengths, defaults) are left out; the caller's pydantic model
checks them when it reads the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_UNKNOWN_TO_VENDORS = frozenset(
    {"default", "title", "examples", "minLength", "maxLength", "uniqueItems", "format", "contentMediaType"}
)
_OF_SCHEMAS = ("properties", "$defs")


def strict(schema: Schema) -> dict[str, Any]:
    """Return `schema` in the strict subset; an answer that fits it fits `schema` after `fitted`."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # nothing may stand beside a reference
    found = {key: _strict_value(key, value) for key, value in schema.items() if key not in _UNKNOWN_TO_VENDORS}
    if "properties" in schema:
        required = set(schema.get("required", ()))
        found["properties"] = {
            name: part if name in required or _takes_null(part) else {"anyOf": [part, {"type": "null"}]}
            for name, part in found["properties"].items()
        }
        found["required"] = list(found["properties"])
        found["additionalProperties"] = False
    return found


def fitted(answer: Any, schema: Schema) -> Any:
    """Return `answer` to `strict(schema)` without the nulls that stand for omitted optional properties."""
    return _fit(answer, schema, schema)


def as_text(schema: Schema) -> str:
    """Return a strict schema on one line, for an argument or a file."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _strict_value(key: str, value: Any) -> Any:
    if key in _OF_SCHEMAS:
        return {name: strict(part) for name, part in value.items()}
    if isinstance(value, Mapping) and key != "const":
        return strict(value)
    if isinstance(value, list) and key in {"anyOf", "allOf", "oneOf", "prefixItems"}:
        return [strict(part) for part in value]
    return value


def _takes_null(schema: Schema) -> bool:
    kinds = schema.get("type")
    return kinds == "null" or (isinstance(kinds, list) and "null" in kinds) or any(map(_takes_null, _choices(schema)))


def _choices(schema: Schema) -> list[Schema]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def _fit(answer: Any, schema: Schema, root: Schema) -> Any:
    schema = _resolve(schema, root)
    if isinstance(answer, list):
        return [_fit(part, schema.get("items", {}), root) for part in answer]
    if not isinstance(answer, dict):
        return answer
    properties = schema.get("properties") or _of_choices(schema, root)
    required = set(schema.get("required", ()))
    return {
        name: _fit(value, properties.get(name, {}), root)
        for name, value in answer.items()
        if value is not None or name in required or _takes_null(_resolve(properties.get(name, {}), root))
    }


def _of_choices(schema: Schema, root: Schema) -> Schema:
    """Return the properties of the one choice that is an object, as in `X | None`."""
    objects = [part for part in (_resolve(choice, root) for choice in _choices(schema)) if "properties" in part]
    found: Schema = objects[0]["properties"] if len(objects) == 1 else {}
    return found


def _resolve(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    found: Schema = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
    return found
