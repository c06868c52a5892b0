"""A plan as a YAML document that a person edits, and the strict way back (pure)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from planner_agent import plan
from planner_agent.plan import NoPlan, Plan

SUFFIX = ".yml"

_GUIDE = """\
# The plan as YAML. Change what should be different, save, and leave the editor; it is checked then.
# Specifications become issues. `depends_on` names other steps (by id) or specifications (by key).
# `kind` is feature, refactoring, documentation, removal, dependency or configuration.
# A file without a plan changes nothing.
"""

LONG = 80
"""Characters above which a line of text is folded."""

_FAULT = "# ! "
"""Begins a line that says what was wrong with the last version."""


def write(planned: Plan) -> str:
    """The document of a plan."""
    data = planned.model_dump(mode="json")
    return _GUIDE + yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def refused(document: str, faults: Sequence[str]) -> str:
    """The same document with what is wrong with it on top, in place of what was said before."""
    rest = [line for line in document.splitlines(keepends=True) if not line.startswith(_FAULT)]
    return "".join([f"{_FAULT}{fault}\n" for fault in faults] + rest)


def read(document: str) -> Plan | None:
    """The plan that a document spells, None when nothing but comments is left; raises `NoPlan` with every fault."""
    if len(document) > plan.ANSWER_LIMIT:
        raise NoPlan([f"it has {len(document):,} characters, {plan.ANSWER_LIMIT:,} are allowed"])
    try:
        data = yaml.load(document, Loader=_Loader)  # a safe loader, stricter than yaml's own
    except yaml.YAMLError as error:
        raise NoPlan([f"it is not YAML: {' '.join(str(error).split())}"]) from None
    except (RecursionError, ValueError) as error:
        raise NoPlan([f"it cannot be read: {error}"]) from None
    return None if data is None else plan.read(_json(data))


def _json(data: object) -> str:
    try:
        return json.dumps(data, default=str)  # a date that nobody has quoted is the text that was typed
    except RecursionError:
        raise NoPlan(["it is nested too deeply"]) from None
    except TypeError as error:
        raise NoPlan([f"a key is no text: {error}"]) from None


class _Loader(yaml.SafeLoader):
    """Refuses what people do not mean: a key that stands twice, and aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias cannot be used here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key has to be a word", key.start_mark)
            if key.value in seen:
                problem = f"the key '{key.value}' stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """Lists are indented below their key, and longer texts stand as blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else ">" if len(text) > LONG else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
