"""Whether two versions of a file of code are the same to the machine: layout, comments, documentation (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.functions import is_documentation
from worker_agent.tdd.syntax.node_types import COMMENTS
from worker_agent.tdd.syntax.source import Language, Source, parse

_PLAIN = re.compile(r"[\s\w.,;?()'\"`*/#-]*")
"""Characters of prose. What else a comment holds may be meant for a tool: `# type: ignore`, `//go:build`, `@jest`."""

_FOR_TOOLS = re.compile(
    r"\b(noqa|nosec|pragma|istanbul|c8|v8|eslint|jshint|global|globals|exported|prettier|fmt|yapf|isort|mypy|pylint"
    r"|pyright|nolint|skipcq|codespell)\b",
    re.IGNORECASE,
)

_RUN = ">>>"
"""What of documentation is run as a test begins so."""


def is_same_code(path: str, before: bytes, after: bytes) -> bool:
    """Whether nothing but layout, comments for people and documentation differs; never of what cannot be parsed."""
    if before == after:
        return True
    old, new = parse(path, before), parse(path, after)
    return old is not None and new is not None and list(_form(old)) == list(_form(new))


def _form(source: Source) -> Iterator[str]:
    """The tree as words: where a node begins and ends, and the text of its leaves."""
    documented = source.language is Language.PYTHON and b"__doc__" not in source.content
    pending: list[Node | None] = [source.root]
    while pending:
        node = pending.pop()
        if node is None:
            yield ")"
            continue
        text = source.text(node) if node.child_count == 0 or node.type in COMMENTS else ""
        if node.type in COMMENTS:
            if _PLAIN.fullmatch(text) is None or _FOR_TOOLS.search(text) is not None:
                yield text
            continue
        if documented and is_documentation(source, node) and _RUN not in source.text(node):
            continue
        if node.child_count == 0:
            yield text
            continue
        yield f"({node.type}"
        pending.append(None)
        pending.extend(reversed(node.children))
