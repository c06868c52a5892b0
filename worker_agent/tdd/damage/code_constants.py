"""Damage to constants: another number, another text, the other truth value, a collection without an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import Edit, EditScope, became, named, parent_of, shown
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.node_types import RETURNS, TRUE_FALSE, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, line_of

_FLIPPED = {"true": "false", "false": "true", "True": "False", "False": "True", "TRUE": "FALSE", "FALSE": "TRUE"}
_COLLECTIONS = words(
    "list dictionary set tuple array object literal_value array_expression array_initializer"
    " array_creation_expression hash string_array symbol_array initializer_expression"
)
_INTERPOLATED = frozenset({"interpolation", "template_substitution", "variable_name", "interpolation_start"})
_NAMING_CALLS = re.compile(
    r"(\w+\.)*(cast|TypeVar|NewType|ParamSpec|ForwardRef|namedtuple|NamedTuple|getLogger|require|import_module"
    r"|require_relative|import|include_str|Symbol)$"
)
_REGEX_CALLS = re.compile(
    r"(re|regex|regexp|Regex|Pattern|RegExp|preg_\w+|_re)\b|(.*\.)?(MustCompile|preg_\w+|RegExp)$"
)
_QUOTED = re.compile(r"([a-zA-Z@$]*(?:\"\"\"|'''|#*\"|'|\"|`))(.*?)(\"\"\"|'''|\"#*|'|\"|`)", re.DOTALL)
_IMPOSSIBLE = "(?!)"
_IMPOSSIBLE_LINEAR = "[^\\s\\S]"
"""A pattern that matches nothing in the engines of Go and Rust, which have no look-ahead."""
_NO_VALUES = words(
    "interpolation field_expression import_spec directive export_statement import_statement literal_type"
)
_OPERATIONS = frozenset({"binary_expression", "binary", "binary_operator", "comparison_operator"})
_BOUNDS = frozenset({"slice", "slice_expression", "range", "range_expression"})


def constant_edits(place: EditScope) -> Iterator[Edit]:
    """Yield the constants of a place, each damaged."""
    for node in place.nodes:
        if not _is_exempt(place, node):
            yield from _constants(place, node)


def other_text(place: EditScope, node: Node) -> str | None:
    """Return the literal of a string with another text; None if it cannot be changed."""
    whole = place.text(node)
    if any(each.type in _INTERPOLATED for each in node.named_children):
        if "\n" in whole and place.language in (Language.RUBY, Language.PHP):
            return None
        return '"damaged"' if place.language is not Language.PYTHON else "'damaged'"
    quoted = _QUOTED.fullmatch(whole)
    if quoted is None:
        return None
    (start, end), text = quoted.span(2), quoted.group(2)
    if _REGEX_CALLS.match(_call_of(place, node)):
        return f"{whole[:start]}{_matchless_pattern(place, text)}{whole[end:]}"
    if re.search(r"[%{}$\\\n]", text):
        new = f"~{text}~" if not text.startswith(("\n", "\\")) else f"{text}~"
    elif len(text) == 1:
        new = "!" if text == "~" else "~"
    else:
        new = "harmed" if text == "damaged" else "damaged"
    return f"{whole[:start]}{new}{whole[end:]}"


def other_number(text: str) -> str | None:
    """Return the literal of a number plus one; None for an unknown form."""
    decimal = re.fullmatch(r"(\d[\d_]*?)(n|[uUlL]+|_?[iu](?:8|16|32|64|128|size))?", text)
    if decimal and not re.match(r"0\d", text):
        return f"{int(decimal.group(1).replace('_', '')) + 1}{decimal.group(2) or ''}"
    floating = re.fullmatch(r"(\d+)(\.\d+.*|\.)", text)
    if floating and "e" not in text.lower():
        return f"{int(floating.group(1)) + 1}{floating.group(2)}"
    hexadecimal = re.fullmatch(r"0[xX]([0-9a-fA-F_]+)", text)
    return f"0x{int(hexadecimal.group(1).replace('_', ''), 16) ^ 1:X}" if hexadecimal else None


def _constants(place: EditScope, node: Node) -> Iterator[Edit]:
    kinds = place.kinds
    text = place.text(node)
    if node.type in kinds.integers or node.type in kinds.floats:
        by = other_number(text)
        if by is not None:
            yield _in_context(place, node, by)
    elif node.type in TRUE_FALSE and text in _FLIPPED:
        yield _in_context(place, node, _FLIPPED[text])
    elif node.type in kinds.strings:
        by = other_text(place, node)
        if by is not None and by != text:
            yield place.replace(_kind(node), node, by)
    elif node.type == "regex" and place.language in (*SCRIPTS, Language.RUBY):
        yield from _regex_literal(place, node)
    elif node.type == "jsx_text" and text.strip():
        yield place.replace(DamageKind.CONST, node, text.replace(text.strip(), "damaged"))
    elif node.type in _COLLECTIONS:
        yield from _entries(place, node)


def _in_context(place: EditScope, node: Node, by: str) -> Edit:
    """Return the edit of a number or a truth value, described with the expression around it."""
    around = node.parent
    old = place.text(around) if around is not None else ""
    if around is None or len(old) > 30 or around.type in _COLLECTIONS or around.start_byte == node.start_byte:
        old, new = place.text(node), by
    else:
        new = place.text_with(around, (node.start_byte, node.end_byte), by)
    return Edit(_kind(node), node.start_byte, node.end_byte, by, became(old, new), line_of(node))


def _kind(node: Node) -> DamageKind:
    above = parent_of(node)
    outer = node.parent if above in ("expression_list", "argument_list") else None
    if above in RETURNS or (outer is not None and parent_of(outer) in RETURNS):
        return DamageKind.LIKE
    if above in _OPERATIONS and node.type not in ("string", "string_literal", *TRUE_FALSE):
        return DamageKind.BOUND
    return DamageKind.BOUND if above in _BOUNDS else DamageKind.CONST


def _is_exempt(place: EditScope, node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    if node.type == "concatenated_string" or above.type in place.kinds.strings | _NO_VALUES or _is_tag(node):
        return True
    if above.type == "token_tree":
        before = node.prev_sibling
        return before is not None and place.text(before) == "."
    if above.type == "call_expression" and node.type == "template_string":
        return True
    if node.type in place.kinds.strings and _NAMING_CALLS.match(_call_of(place, node)):
        return True
    return _is_all(place, node)


def _is_tag(node: Node) -> bool:
    """Return whether a string is the tag of a field in Go."""
    above = node.parent
    tag = above.child_by_field_name("tag") if above is not None else None
    return tag is not None and tag.id == node.id


def _is_all(place: EditScope, node: Node) -> bool:
    """Return whether a node is in the list of exported names: `__all__`, `module.exports`, `export { }`."""
    above = node.parent
    for _ in range(4):
        if above is None:
            return False
        left = above.child_by_field_name("left") if "assignment" in above.type else None
        if left is not None:
            return re.fullmatch(r"__all__|__slots__|module\.exports|exports", place.text(left)) is not None
        if above.type == "export_statement" and node.type == "object":
            return True
        above = above.parent
    return False


def _call_of(place: EditScope, node: Node) -> str:
    """Return the name, with its owner, of the call that a node is an argument of; empty if it is none."""
    above = node.parent
    if above is not None and above.type == "concatenated_string":
        above = above.parent
    if above is not None and above.type == "argument":
        above = above.parent
    call = above.parent if above is not None and above.type in ("argument_list", "arguments") else None
    if call is None:
        return ""
    named_by = ("function", "name", "method", "constructor", "macro", "type")
    found = next((each for name in named_by if (each := call.child_by_field_name(name))), None)
    if found is None:
        return ""
    owner = call.child_by_field_name("object") or call.child_by_field_name("receiver")
    return f"{place.text(owner)}.{place.text(found)}" if owner is not None else place.text(found)


def _matchless_pattern(place: EditScope, pattern: str) -> str:
    """Return the pattern, changed so that it still compiles and matches nothing."""
    if place.language in (Language.GO, Language.RUST):
        return f"{pattern}{_IMPOSSIBLE_LINEAR}"
    if place.language is Language.PHP and pattern.startswith(("/", "#", "~", "@")):
        return f"{pattern[0]}{_IMPOSSIBLE}{pattern[1:]}"
    flags = re.match(r"\(\?[a-zA-Z]+\)", pattern)
    at = flags.end() if flags else 0
    rest = pattern[at:] if "#" in pattern else f"(?:{pattern[at:]})"
    return f"{pattern[:at]}{_IMPOSSIBLE}{rest}"


def _regex_literal(place: EditScope, node: Node) -> Iterator[Edit]:
    pattern = place.text(node)
    if pattern.startswith("/"):
        told = f"`{shown(pattern)}` became a pattern that matches nothing"
        yield place.replace(DamageKind.CONST, node, f"/{_IMPOSSIBLE}{pattern[1:]}", told)


def _entries(place: EditScope, node: Node) -> Iterator[Edit]:
    """Yield a collection without the entries that the change touched, or without its last one."""
    entries = [each for each in named(node) if each.type not in ("method_definition", "ERROR", "visibility_modifier")]
    if not entries or (node.type == "tuple" and len(entries) < 3) or not _may_shrink(place, node, entries):
        return
    touched = [each for each in entries if line_of(each) in place.lines]
    new = touched if len(touched) < len(entries) else [entries[0], entries[-1]]
    kind = DamageKind.LIKE if _kind(node) is DamageKind.LIKE else DamageKind.CONST
    for entry in {each.id: each for each in new[-3:]}.values():
        told = f"the entry `{shown(place.text(entry), 50)}` was left out"
        yield Edit(kind, *_with_comma(entry), "", told, line_of(entry))


def _may_shrink(place: EditScope, node: Node, entries: list[Node]) -> bool:
    if any(each.type in ("pair", "keyed_element") for each in entries) and len(entries) == 1:
        return place.language is not Language.GO
    above = parent_of(node)
    if above in ("array_pattern", "object_pattern", "for_in_clause") or (node.type == "set" and len(entries) == 1):
        return False
    return place.language not in (Language.GO, Language.RUST) or len(entries) > 1


def _with_comma(entry: Node) -> tuple[int, int]:
    """Return the bytes of an entry with the comma after it, or before it for the last one."""
    after = entry.next_sibling
    if after is not None and after.type == ",":
        return entry.start_byte, after.end_byte
    before = entry.prev_sibling
    if before is not None and before.type == ",":
        return before.start_byte, entry.end_byte
    return entry.start_byte, entry.end_byte
