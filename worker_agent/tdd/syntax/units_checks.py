"""The parts of a test that are checks: assertions, expectations and reports of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source, outermost
from worker_agent.tdd.syntax.units_found import child

_CALLS = words(
    "call call_expression method_invocation member_call_expression scoped_call_expression function_call_expression"
    " invocation_expression macro_invocation"
)

_PYTHON = re.compile(
    r"(?:.*\.)?_?(?:assert\w*|raises|warns|deprecated_call|fail|check_\w+|expect\w*)$|.*\.(?:exactly|assertRaises)$"
)
_JAVASCRIPT = re.compile(
    r"(?:expect(?:Type|TypeOf)?|assert\w*|should)\b|\w+\.(?:assert\b.*|expect)$"
    r"|t\.(?:is|not|ok|notOk|true|false|truthy|falsy|equals?|same|like|throws\w*|rejects|match\w*|regex|deepEquals?|"
    r"strictEquals?|snapshot|fail|end|notThrows\w*|notSame|notEqual|strictSame|error|pass)$"
)
_GO = re.compile(
    r"\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$|(?:assert|require|is|qt|c)\.\w+$|(?:assert|check)\w*$"
)
_RUST = re.compile(r"(?:\w+::)*(?:debug_)?(?:assert\w*|panic|unreachable|prop_assert\w*)$")
_CLASSES = re.compile(
    r"(?:\$?this->|self::|static::|\w+\.)*(?:assert\w*|fail|expect\w*|verify\w*|should\w*|That|Throws\w*|"
    r"Equal|NotEqual|True|False|Null|NotNull|Same|NotSame|Contains|DoesNotContain|Empty|NotEmpty|Single|IsType|"
    r"InRange|Collection|All|StartsWith|EndsWith|Matches|AreEqual|IsTrue|IsFalse|IsNull|IsNotNull|Pass|Fail)$"
)
_RUBY = re.compile(r"expect|assert\w*|refute\w*|(?:must|wont)_\w+|should\w*|is_expected|flunk$")

_PATTERNS = {
    Language.PYTHON: _PYTHON,
    **dict.fromkeys(SCRIPTS, _JAVASCRIPT),
    Language.GO: _GO,
    Language.RUST: _RUST,
    **dict.fromkeys((Language.JAVA, Language.PHP, Language.CSHARP), _CLASSES),
    Language.RUBY: _RUBY,
}


def checks_in(source: Source, node: Node) -> Iterator[Node]:
    """Yield the outermost checks within a node: `expect(x).not.toBe(1)` is one."""
    return outermost(node, partial(is_check, source))


def is_check(source: Source, node: Node) -> bool:
    """Return whether a node is a check by itself."""
    if node.type == "assert_statement":
        return True
    pattern = _PATTERNS[source.language]
    if source.language in SCRIPTS:
        return node.type in {"call_expression", "member_expression"} and bool(pattern.match(_chain(source, node)))
    return node.type in _CALLS and bool(pattern.match(_callee(source, node)))


def _callee(source: Source, call: Node) -> str:
    """Return the function of a call as it is written, on one line, type arguments left out."""
    for field in ("function", "macro"):
        function = child(call, field)
        if function is not None:
            return re.sub(r"\s+|<[^<>]*>$", "", source.text(function))
    name = child(call, "name") or child(call, "method")
    owner = child(call, "object") or child(call, "scope") or child(call, "receiver")
    joint = {"member_call_expression": "->", "scoped_call_expression": "::"}.get(call.type, ".")
    text = source.text(name) if name is not None else ""
    if owner is None or source.language is Language.RUBY:
        return text
    lead = re.sub(r"\s+", "", source.text(owner))
    return f"{lead}{joint}{text}" if len(owner.children) < 4 else text


def _chain(source: Source, node: Node) -> str:
    """Return the first call or name of a chain of members: `expect` of `expect(x).to.be.true`."""
    names: list[str] = []
    found: Node | None = node
    while found is not None:
        if found.type == "call_expression":
            found = child(found, "function")
        elif found.type == "member_expression":
            names.append(source.text(property_) if (property_ := child(found, "property")) is not None else "")
            found = child(found, "object")
        elif found.type in {"non_null_expression", "parenthesized_expression", "await_expression"}:
            return ".".join(reversed(names))
        else:
            names.append(source.text(found) if found.type in {"identifier", "this"} else "")
            break
    names.reverse()
    return "should" if "should" in names[1:] else ".".join(names)
