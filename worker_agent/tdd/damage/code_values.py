"""Replacement values for returns and assignments: the sort of a value by its text or type, and others of that sort."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import NODE_TYPES, NOTHING, TRUE_FALSE, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source

_NODES = {
    **dict.fromkeys(TRUE_FALSE, "bool"),
    **dict.fromkeys(NOTHING, "none"),
    **dict.fromkeys(("comparison_operator", "not_operator"), "bool"),
    **dict.fromkeys(("list", "list_comprehension", "array", "array_creation_expression", "string_array"), "list"),
    **dict.fromkeys(("dictionary", "dictionary_comprehension", "object", "hash"), "dict"),
    **dict.fromkeys(("set", "set_comprehension"), "set"),
    "tuple": "tuple",
    "concatenated_string": "str",
}
_COMPARING = words("== != === !== < <= > >= instanceof in")

_TYPES = (
    ("bool", re.compile(r"bool(ean)?|Boolean|x is .*", re.DOTALL)),
    ("int", re.compile(r"u?int(8|16|32|64)?|byte|rune|[iu](8|16|32|64|128|size)|long|short|Integer|Long|number")),
    ("float", re.compile(r"float(32|64)?|f32|f64|double|Double|decimal")),
    ("str", re.compile(r"str|string|String|&('static )?str|\?string")),
    ("bytes", re.compile(r"bytes")),
    ("list", re.compile(r"(list|List|Sequence|Iterable|Collection|array|Array|Vec)\b.*|.*\[\]", re.DOTALL)),
    ("dict", re.compile(r"(dict|Dict|Mapping|MutableMapping|Map|Record)\b.*", re.DOTALL)),
    ("set", re.compile(r"(set|Set|frozenset)\b.*", re.DOTALL)),
    ("tuple", re.compile(r"(tuple|Tuple)\b.*", re.DOTALL)),
    ("none", re.compile(r"None|void|undefined|null|\(\)|Void")),
)
_ZERO = {
    Language.PYTHON: {
        "bool": "False", "int": "0", "float": "0.0", "str": "''", "bytes": "b''",
        "list": "[]", "dict": "{}", "set": "set()", "tuple": "()",
    },
    Language.JAVASCRIPT: {"bool": "false", "int": "0", "float": "0", "str": "''", "list": "[]", "dict": "{}"},
    Language.PHP: {"bool": "false", "int": "0", "float": "0.0", "str": "''", "list": "[]"},
    Language.RUBY: {"bool": "false", "int": "0", "float": "0.0", "str": "''", "list": "[]", "dict": "{}"},
    Language.JAVA: {"bool": "false", "int": "0", "float": "0", "str": '""'},
    Language.CSHARP: {"bool": "false", "int": "0", "float": "0", "str": '""'},
}  # fmt: skip
_OTHER = {
    Language.PYTHON: {
        "bool": "True", "int": "41", "float": "41.5", "str": "'damaged'", "bytes": "b'damaged'",
        "list": "['damaged']", "dict": "{'damaged': 41}", "set": "{'damaged'}", "tuple": "('damaged', 'damaged')",
    },
    Language.JAVASCRIPT: {
        "bool": "true", "int": "41", "float": "41.5", "str": "'damaged'", "list": "['damaged']",
        "dict": "{ damaged: 41 }",
    },
    Language.PHP: {"bool": "true", "int": "41", "float": "41.5", "str": "'damaged'", "list": "['damaged']"},
    Language.RUBY: {
        "bool": "true", "int": "41", "float": "41.5", "str": "'damaged'", "list": "['damaged']",
        "dict": "{ damaged: 41 }",
    },
    Language.GO: {"bool": "true", "int": "41", "float": "41.5", "str": '"damaged"'},
    Language.RUST: {"bool": "true", "int": "41", "float": "41.5", "str": '"damaged"'},
    Language.JAVA: {"bool": "true", "int": "41", "float": "41", "str": '"damaged"'},
    Language.CSHARP: {"bool": "true", "int": "41", "float": "41", "str": '"damaged"'},
}  # fmt: skip
_NONE = {Language.PYTHON: "None", Language.PHP: "null", Language.RUBY: "nil", Language.JAVASCRIPT: "undefined"}
_JAVA_EMPTY = {
    "Optional": "java.util.Optional.empty()",
    "List": "java.util.List.of()",
    "Collection": "java.util.List.of()",
    "Set": "java.util.Set.of()",
    "Map": "java.util.Map.of()",
    "Stream": "java.util.stream.Stream.empty()",
}


def sort_of(source: Source, node: Node) -> str:
    """Return the visible sort of a value: bool, int, float, str, list, dict, set, tuple, none, or an empty text."""
    kinds = NODE_TYPES[source.language]
    if node.type in ("parenthesized_expression", "expression_list") and node.named_child_count == 1:
        return sort_of(source, node.named_children[0])
    if node.type in kinds.integers:
        return "float" if re.search(r"[.eE]", source.text(node)) and node.type == "number" else "int"
    if node.type in kinds.floats:
        return "float"
    if node.type in kinds.strings:
        return "str" if not source.text(node).lower().startswith(("b'", 'b"', "rb", "br", "b#")) else "bytes"
    if node.type == "expression_list" and source.language is Language.PYTHON:
        return "tuple"
    if node.type in ("binary_expression", "binary"):
        operator = node.child_by_field_name("operator")
        return "bool" if operator is not None and operator.type in _COMPARING else ""
    if node.type in ("unary_expression", "unary", "unary_op_expression", "prefix_unary_expression"):
        return "bool" if node.children and node.children[0].type in ("!", "not") else ""
    return _NODES.get(node.type, "")


_LIFETIME = re.compile(r"&\s*'(?!static\b)\w+\s+")


def sort_of_type(text: str) -> str:
    """Return the sort of a declared type; empty for an unknown one, or one that may be absent."""
    plain = text.removeprefix(":").removeprefix("->").strip().strip("\"'")
    return next((sort for sort, pattern in _TYPES if pattern.fullmatch(plain)), "")


def declared_type(source: Source, function: Node) -> str:
    """Return the declared return type of a function, or an empty text."""
    if function.type == "accessor_declaration":
        above = function.parent.parent if function.parent is not None else None
        is_read = source.text(function).lstrip().startswith("get")
        declared = above.child_by_field_name("type") if above is not None and is_read else None
        return source.text(declared) if declared is not None else ""
    for name in ("return_type", "result", "returns", "type"):
        found = function.child_by_field_name(name)
        if found is not None:
            plain = source.text(found).removeprefix(":").removeprefix("->").strip()
            return _LIFETIME.sub("&", plain) if source.language is Language.RUST else plain
    return ""


def zero(language: Language, sort: str, declared: str = "") -> str | None:
    """Return the zero value: empty or zero of the sort; None if none is known to fit."""
    value = _ZERO.get(Language.JAVASCRIPT if language in SCRIPTS else language, {}).get(sort)
    match language:
        case Language.GO:
            return f"*new({declared})" if declared else None
        case Language.RUST:
            return _rust_zero(declared)
        case Language.JAVA:
            return value if value and declared[:1].islower() | (sort == "str") else _java_zero(declared)
        case Language.CSHARP:
            return value or ("default!" if declared else None)
        case Language.TYPESCRIPT | Language.TSX:
            return f"{value} as any" if sort in ("list", "dict") else value or "undefined as any"
        case Language.PHP if declared and not value:
            return "null" if declared.startswith("?") or "null" in declared or declared == "mixed" else None
        case _:
            return value or _NONE.get(language, "undefined")


def other(language: Language, sort: str, declared: str = "") -> str | None:
    """Return another value of a sort, which code hardly returns by itself."""
    found = _OTHER.get(Language.JAVASCRIPT if language in SCRIPTS else language, {}).get(sort)
    if found and language in (Language.TYPESCRIPT, Language.TSX) and sort in ("list", "dict"):
        return f"{found} as any"
    if found and language is Language.RUST and declared == "String":
        return f"String::from({found})"
    if found and language is Language.JAVA and declared in ("byte", "short", "Long", "Double"):
        return f"({declared.lower()}) {found}"
    return found


def _rust_zero(declared: str) -> str | None:
    if re.match(r"(&|impl\b|dyn\b|!|\*)", declared):
        return '""' if re.fullmatch(r"&('static )?str", declared) else None
    if re.match(r"((\w+::)*Result)\b", declared):
        return "Ok(Default::default())"
    return "Default::default()" if declared else None


def _java_zero(declared: str) -> str | None:
    if not declared:
        return None
    if declared in ("char", "int", "long", "short", "byte", "float", "double"):
        return "0"
    return _JAVA_EMPTY.get(re.sub(r"<.*", "", declared, flags=re.DOTALL), "null")
