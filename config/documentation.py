"""Everything that is printed from the model: the tables, the JSON schema, and the files that hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from config.settings import Settings
from config.validation import section
from shared.workflow.diagram import diagrams, overview, stage_table
from shared.workflow.labels import Labels

_HEAD = "| key | default | meaning |\n|---|---|---|\n"


def reference() -> str:
    """Markdown for docs: every key, section by section."""
    parts = (
        f"### {f'`{name}`' if name else 'Top level'}\n\n{(model.__doc__ or '').strip()}\n\n"
        f"{_HEAD}{''.join(_rows(name, model))}"
        for name, model in _sections()
    )
    return "\n".join(parts)


def schema() -> str:
    """The JSON schema of the configuration file, for editors."""
    content = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Settings.model_json_schema()
    return json.dumps(content, indent=2) + "\n"


def generated(root: Path) -> dict[Path, str]:
    """Each file that holds generated text and what it must contain, marked blocks put in."""
    readme, configuration, states = (
        root / name for name in ("README.md", "docs/configuration.md", "docs/how-it-works.md")
    )
    return {
        root / "config/repos.schema.json": schema(),
        readme: _with_block(readme, "tracks", overview()),
        configuration: _with_block(configuration, "configuration", reference()),
        states: _with_block(states, "states", diagrams() + "\n" + stage_table(Labels())),
    }


def replaced(text: str, name: str, content: str) -> str:
    """`text` with `content` between `<!-- name:begin -->` and `<!-- name:end -->`; unchanged without them."""
    block = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    return block.sub(lambda found: f"{found[1]}{content}{found[2]}", text)


def _with_block(file: Path, name: str, content: str) -> str:
    return replaced(file.read_text(encoding="utf-8"), name, content)


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    pending: list[tuple[str, type[BaseModel]]] = [("", Settings)]
    while pending:
        name, model = pending.pop(0)
        yield name, model
        for key, info in model.model_fields.items():
            if below := section(info.annotation):
                pending.append((f"{name}.{key}{below[1]}".removeprefix("."), below[0]))


def _rows(name: str, model: type[BaseModel]) -> Iterator[str]:
    for key, info in model.model_fields.items():
        meaning = " ".join((info.description or "").split()).replace("|", "\\|")
        yield f"| `{key}` | {_default(name, key, info)} | {meaning}{_choices(info)} |\n"


def _default(name: str, key: str, info: FieldInfo) -> str:
    """The default as YAML; of a key with a section of its own, a link to that, by GitHub's anchor of its heading."""
    if isinstance(info.json_schema_extra, dict):
        return f"`{info.json_schema_extra['default']}`"
    value = info.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        anchor = re.sub(r"[^\w-]", "", name + key).lower()
        return f"[below](#{anchor})"
    return "required" if value is PydanticUndefined else f"`{_flow(value)}`"


def _choices(info: FieldInfo) -> str:
    words = _words(info.annotation)
    return f" One of {', '.join(f'`{word}`' for word in words)}." if len(words) > 1 else ""


def _words(annotation: Any) -> tuple[str, ...]:
    """The choices of a `Literal`; a mapping's keys are no choices of its value."""
    found = TypeAdapter(annotation).json_schema()
    options = [found, *found.get("anyOf", [])]
    return next((tuple(option["enum"]) for option in options if "enum" in option), ())


_SWITCHES = frozenset({"on", "off", "yes", "no", "true", "false"})
"""Words that readers of YAML 1.1, as most editors are, take for true or false where they are not quoted."""


def _flow(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(_flow(item) for item in value) + "]"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            plain = re.fullmatch(r"[\w./~](?:[\w ./~-]|:(?=\S))*", str(value))
            return str(value) if plain and str(value) not in _SWITCHES else json.dumps(str(value))
