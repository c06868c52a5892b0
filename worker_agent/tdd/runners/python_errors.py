"""What the errors of Python tests mean, read from the one line that names them (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

from worker_agent.tdd.runners.report import Kind

_NO_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
_NO_NAME = re.compile(r"ImportError: cannot import name '\w+' from '([\w.]+)'")
_NO_ATTRIBUTE = re.compile(r"AttributeError: module '([\w.]+)' has no attribute '\w+'")
_NO_MEMBER = re.compile(r"AttributeError: (?:type object '(\w+)'|'(\w+)' object) has no attribute")
_BUILT_IN = frozenset(
    {
        *("str", "int", "float", "bool", "bytes", "list", "dict", "set", "frozenset", "tuple"),
        *("NoneType", "function", "type", "object"),
    }
)
_SYNTAX = re.compile(r"(?:SyntaxError|IndentationError|TabError): ")
_ASSERTED = re.compile(
    r"(?:[\w.]*\.)?\w*(?:AssertionError|Failed|AssertionFailure|Mismatch)\b|assert\b|Regex pattern did not match"
)


def missing_import(error: str, first_party: Collection[str]) -> Kind | None:
    """A module, or a name in one, that could not be imported."""
    missing = _NO_MODULE.match(error) or _NO_NAME.match(error)
    if missing is None:
        return None
    return Kind.FIRST_PARTY_IMPORT if _belongs(missing[1], first_party) else Kind.THIRD_PARTY_IMPORT


def while_collecting(error: str, first_party: Collection[str]) -> Kind:
    """What a file could not be loaded for, other than by an import that is missing."""
    if _SYNTAX.match(error):
        return Kind.SYNTAX
    attribute = _NO_ATTRIBUTE.match(error)
    if attribute:
        return Kind.FIRST_PARTY_IMPORT if _belongs(attribute[1], first_party) else Kind.COLLECTION
    member = _NO_MEMBER.match(error)
    own = member is not None and not _BUILT_IN.intersection(filter(None, member.groups()))
    return Kind.FIRST_PARTY_IMPORT if own else Kind.COLLECTION


def asserted(error: str) -> bool:
    """An AssertionError of whatever kind, or `pytest.fail` and what is built on it."""
    return bool(_ASSERTED.match(error))


def _belongs(module: str, first_party: Collection[str]) -> bool:
    return module.partition(".")[0] in first_party
