"""Judges every exchange with the lab, request and answer, by GitHub's official API description.

An `Exchange` that the description does not allow becomes a complaint. Validators are compiled when
they are first needed, once per process.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from lab.github.http.exchanges import Exchange

DESCRIPTION = Path(__file__).parent / "data" / "github-api-description.json"

BARE_REFUSALS = frozenset({400, 401, 403, 404, 409, 410, 422, 429})
"""Statuses that any operation may answer, described or not, with a `message`; so may every 5xx."""

REDIRECTS = frozenset({301, 302, 307})

NULL_ON_THE_WIRE = (
    ("pull-request-review-comment", "line"),
    ("pull-request-review-comment", "position"),
    ("pull-request-simple", "labels", "items", "description"),
)
"""Fields that GitHub sends as null although its description does not allow that: outdated remarks, plain labels."""

BARE_NAMES = "/repos/{owner}/{repo}/issues/{issue_number}/labels"
"""The path at which POST and PUT also accept a bare list of names, which this edition does not describe."""

GRAPHQL = "/graphql"
"""The path outside of the REST description; `tests/unit/rest/test_graphql_documents.py` judges it."""

_FOREIGN_MEDIA = re.compile(r"application/vnd\.github\.(v3\.)?(diff|patch|raw|sha)\b")

Json = dict[str, Any]


class Judge:
    """An observer of the lab: `lab.exchanges.observe(judge)`. Without `requests` it judges answers only."""

    def __init__(self, *, requests: bool = True) -> None:
        self._requests = requests
        self.complaints: list[str] = []
        self.judged = 0

    def __call__(self, exchange: Exchange) -> None:
        """Judge one exchange."""
        if exchange.template == GRAPHQL:
            return
        self.judged += 1
        where = f"{exchange.method} {exchange.template or exchange.path}"
        operation = _operations().get((exchange.method, exchange.template or ""))
        if operation is None:
            self.complaints.append(f"{where}: the description has no such operation")
            return
        asked = _request(operation, exchange) if self._requests else []
        found = [*asked, *([] if exchange.fault else _answer(operation, exchange))]
        self.complaints += [f"{where} -> {exchange.status}: {complaint}" for complaint in found]


def _request(operation: Json, exchange: Exchange) -> list[str]:
    return [*_path(operation, exchange), *_query(operation, exchange), *_body(operation, exchange)]


def _path(operation: Json, exchange: Exchange) -> list[str]:
    match = _path_pattern(exchange.template or "").fullmatch(exchange.path)
    values = match.groupdict() if match else {}
    return [
        f"path parameter {name!r}: {values[name]!r} is not an integer"
        for name, schema in operation["path"].items()
        if schema.get("type") == "integer" and name in values and not values[name].isdecimal()
    ]


def _query(operation: Json, exchange: Exchange) -> list[str]:
    complaints = []
    for name, text in parse_qsl(exchange.query, keep_blank_values=True):
        schema = operation["query"].get(name)
        if schema is None:
            complaints.append(f"query parameter {name!r} is not described")
        elif not _validator(json.dumps(schema)).is_valid(_typed(schema, text)):
            complaints.append(f"query parameter {name!r}: {text!r} is not allowed")
    return complaints


def _body(operation: Json, exchange: Exchange) -> list[str]:
    if not exchange.request_body:
        return ["a body is required"] if operation["body_required"] else []
    if operation["body"] is None:
        return ["no body is described"]
    try:
        body = json.loads(exchange.request_body)
    except ValueError:
        return ["the body is not JSON"]
    schema = json.loads(operation["body"])
    known = schema.get("properties")
    unknown = [] if known is None or not isinstance(body, dict) else sorted(body.keys() - known.keys())
    return [*(f"body: {name!r} is not described" for name in unknown), *_complain("body", operation["body"], body)]


_CONDITIONS = ("If-None-Match", "If-Modified-Since")


def _answer(operation: Json, exchange: Exchange) -> list[str]:
    status = exchange.status
    if status == 304:
        conditional = exchange.method == "GET" and any(name in exchange.request_headers for name in _CONDITIONS)
        return [] if conditional else ["a 304 answers nothing that was conditional"]
    media = exchange.response_headers.get("Content-Type", "")
    if status == 200 and _FOREIGN_MEDIA.match(media):
        return []
    if status in REDIRECTS:
        return [] if "Location" in exchange.response_headers else ["a redirect without Location"]
    schema = operation["answers"].get(str(status))
    if not schema and (status in BARE_REFUSALS or status >= 500):
        schema = _MESSAGE
    if schema is None:
        return ["the description has no such status"]
    return _content(schema, exchange)


def _content(schema: str, exchange: Exchange) -> list[str]:
    if schema == _NOTHING:
        return ["an answer without content is described"] if exchange.response_body else []
    if not exchange.response_headers.get("Content-Type", "").startswith("application/json"):
        return ["the answer is not JSON"]
    try:
        answer = json.loads(exchange.response_body)
    except ValueError:
        return ["the answer cannot be read"]
    refusal = [] if exchange.status < 400 else _complain("answer", _MESSAGE, answer)
    return [*_complain("answer", schema, answer), *refusal]


_MESSAGE = json.dumps({"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}})
_NOTHING = ""


def _complain(what: str, schema: str, value: Any) -> list[str]:
    validator = _validator(schema)
    if validator.is_valid(value):
        return []
    return [f"{what} at {error.instance_path}: {error.message[:300]}" for error in validator.iter_errors(value)]


@cache
def _validator(schema: str) -> Any:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(json.loads(schema), registry=_registry(), validate_formats=True)


@cache
def _registry() -> Any:
    from jsonschema_rs import Registry

    return Registry([("urn:github", {"components": {"schemas": _description()["components"]["schemas"]}})])


def description() -> Json:
    """Return a new copy of GitHub's description, with its omissions corrected."""
    described: Json = json.loads(DESCRIPTION.read_bytes())
    for name, *path in NULL_ON_THE_WIRE:
        schema = described["components"]["schemas"][name]
        for step in path:
            schema = schema[step] if step == "items" else schema["properties"][step]
        schema["nullable"] = True
    for method in ("post", "put"):
        content = described["paths"][BARE_NAMES][method]["requestBody"]["content"]["application/json"]
        content["schema"] = {"anyOf": [content["schema"], {"type": "array", "items": {"type": "string"}}]}
    return described


@cache
def _description() -> Json:
    converted: Json = _converted(description())
    return converted


def _converted(part: Any) -> Any:
    """Convert OpenAPI 3.0 to JSON Schema: `nullable` becomes a null type, references get the registry's address.

    `oneOf` becomes `anyOf`: the description's alternatives overlap (an empty list is a list of
    strings and a list of objects).
    """
    if isinstance(part, list):
        return [_converted(one) for one in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/components/schemas/"):
        return {"$ref": f"urn:github{reference}"}
    names = {"oneOf": "anyOf"}
    fields = {names.get(key, key): _converted(value) for key, value in part.items() if key != "nullable"}
    if part.get("nullable") is not True:
        return fields
    known = {"properties": fields["properties"]} if "properties" in fields else {}
    return {"anyOf": [fields, {"type": "null"}], **known}


@cache
def _operations() -> dict[tuple[str, str], Json]:
    paths = _description()["paths"]
    methods = ("get", "post", "put", "patch", "delete")
    return {
        (method.upper(), path): _operation(item[method])
        for path, item in paths.items()
        for method in methods
        if method in item
    }


def _operation(described: Json) -> Json:
    parameters = [_resolved(parameter) for parameter in described.get("parameters", [])]
    body = described.get("requestBody")
    return {
        "path": {p["name"]: p["schema"] for p in parameters if p["in"] == "path"},
        "query": {p["name"]: p["schema"] for p in parameters if p["in"] == "query"},
        "body": None if body is None else _schema(body),
        "body_required": body is not None and body.get("required", False),
        "answers": {status: _schema(_resolved(answer)) for status, answer in described["responses"].items()},
    }


def _schema(described: Json) -> str:
    """Return the JSON schema of a body or an answer as text, which is the key of its validator."""
    content = described.get("content", {})
    media = content.get("application/json")
    return json.dumps(media["schema"]) if media and "schema" in media else _NOTHING


def _resolved(part: Json) -> Json:
    reference = part.get("$ref")
    if reference is None:
        return part
    found: Any = _description()
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    resolved: Json = found
    return resolved


@cache
def _path_pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>.+)", template))


def _typed(schema: Json, text: str) -> Any:
    if schema.get("type") == "integer" and text.isdecimal():
        return int(text)
    if schema.get("type") == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text
