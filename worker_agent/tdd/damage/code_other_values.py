"""A file whose changed functions return other values of the same type; any test that checks the value notices that."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_edits import TYPED, FunctionScope, with_edits
from worker_agent.tdd.damage.code_returns import returned
from worker_agent.tdd.damage.code_values import declared_type, other, sort_of_type
from worker_agent.tdd.syntax.source import SCRIPTS, Language, parse

FAR = 4173
"""The number added to a number: beyond any sensible tolerance."""

_PYTHON = (
    "(lambda v: 'damaged' if v is None or type(v) is str else not v if type(v) is bool"
    f" else v + {FAR} if type(v) in (int, float) else b'damaged' if type(v) is bytes"
    " else type(v)(['damaged']) if type(v) in (list, tuple, set, frozenset)"
    " else {'damaged': 41} if type(v) is dict else v)("
)
_SCRIPT = (
    "((v) => v == null || typeof v === 'string' ? 'damaged' : typeof v === 'boolean' ? !v"
    f" : typeof v === 'number' ? v + {FAR} : Array.isArray(v) ? ['damaged']"
    " : v.constructor === Object ? { damaged: 41 } : v)("
)
_RUBY = (
    "(->(v) { case v; when String, nil then 'damaged'; when true, false then !v;"
    f" when Integer, Float then v + {FAR}; when Array then ['damaged']; when Hash then {{ damaged: 41 }};"
    " else v; end }).call("
)
_PHP = (
    "(function ($v) { return $v === null || is_string($v) ? 'damaged' : (is_bool($v) ? !$v"
    f" : (is_int($v) || is_float($v) ? $v + {FAR} : (is_array($v) ? ['damaged'] : $v))); }})("
)
_AT_RUN_TIME = {
    Language.PYTHON: _PYTHON,
    Language.JAVASCRIPT: _SCRIPT,
    **dict.fromkeys((Language.TYPESCRIPT, Language.TSX), _SCRIPT.replace("((v)", "((v: any): any", 1)),
    Language.RUBY: _RUBY,
    Language.PHP: _PHP,
}
"""Expressions that turn a value into another one of its type, for languages with types at run time only."""

_THROW = '(() => { throw new Error("damaged"); })()'
_RAISING = {
    " else v)(": " else (_ for _ in ()).throw(RuntimeError('damaged')))(",
    " : v)(": f" : {_THROW})(",
    " else v; end": ' else raise "damaged"; end',
    ": $v)));": ': (throw new \\RuntimeException("damaged")))));',
    f"$v + {FAR}": f"-$v - {FAR}",
    f" v + {FAR}": f" -v - {FAR}",
}
"""Replacements that make values of unknown type raise, and reverse the order of numbers."""

_OF_TYPE = {"bool": "!({})", "int": "({}) + 41", "float": "({}) + 41.5"}
_TURNED = {"bool": "!({})", "int": "-({}) - 41", "float": "-({}) - 41.5"}


def otherwise(change: FileChange, *, unknown_raises: bool = False) -> bytes | None:
    """Return the file with another value of the same type in each `return` of its changed functions; None if none has.

    Values of unknown types stay as they are; with `unknown_raises` they raise, and numbers are in the other order as
    well. Line numbers stay the same.
    """
    edits = set(_edits(change, unknown_raises=unknown_raises))
    content = with_edits(change.head, edits)
    return content if edits and parse(change.path, content) is not None else None


def _edits(change: FileChange, *, unknown_raises: bool) -> Iterator[tuple[int, int, str]]:
    for place in change.scopes:
        for value, owner in returned(place):
            by = _other(place, value, unknown_raises=unknown_raises) if owner.id == place.node.id else None
            if by is not None:
                yield value.start_byte, value.end_byte, by


def _other(place: FunctionScope, value: Node, *, unknown_raises: bool) -> str | None:
    text, language = place.text(value), place.language
    if language in _AT_RUN_TIME:
        bare = f"({text})" if value.type == "expression_list" or language in SCRIPTS else text
        turned = _AT_RUN_TIME[language]
        for usual, raising in _RAISING.items() if unknown_raises else ():
            turned = turned.replace(usual, raising)
        return f"{turned}{bare})"
    if language not in TYPED or (value.type == "expression_list" and value.named_child_count != 1):
        return None
    declared = declared_type(place.source, place.node)
    sort = sort_of_type(declared)
    if sort in _OF_TYPE:
        return (_TURNED if unknown_raises else _OF_TYPE)[sort].format(text)
    by = other(language, sort, declared) if sort == "str" else None
    return f"func() string {{ _ = {text}; return {by} }}()" if by and language is Language.GO else by
