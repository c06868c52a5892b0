"""Control tests for a file of vitest, jest, mocha or node:test: among its own, with titles of its own words."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from worker_agent.tdd.runners.control import Control, insert_texts

_SUFFIX = re.compile(r"\.[cm]?[jt]sx?$")
_CALLS = re.compile(rb"(?:describe|context|suite|test|it|specify)\b")
_BODIES = {
    "toBe": ("{check}({left}).toBe({right});", "{check}([{left}]).toEqual([{right}]);"),
    "to.equal": ("{check}({left}).to.equal({right});", "{check}([{left}]).to.deep.equal([{right}]);"),
    "assert": ("{check}.strictEqual({left}, {right});", "{check}.deepEqual([{left}], [{right}]);"),
    "throw": ("if ({left} !== {right}) {{ throw new Error('{a} {b}'); }}",),
}


@dataclass(frozen=True, slots=True)
class Style:
    """The sources of the names that one runner's tests use; each template takes `test` and `check`.

    `module` exports `names`, `assertions` is imported as a whole for the checks; both are empty if all names are
    global.
    """

    module: str = ""
    assertions: str = ""
    only_if: str = ""
    """Nothing is imported unless the file contains this text."""
    body: str = "toBe"


def control(path: str, content: bytes, names: Sequence[str], style: Style) -> Control | None:
    """Return the file with two passing and two failing control tests; None if it cannot be parsed."""
    from worker_agent.tdd.syntax.source import parse  # grammars are loaded when a file is parsed

    source = parse(path, content) if _SUFFIX.search(path) else None
    if source is None:
        return None
    statements = [node for node in source.root.named_children if node.type not in {"comment", "hash_bang_line"}]
    starts = [node.start_byte for node in statements]
    blocks = [at for at in starts if _CALLS.match(content, at)]
    words = _Words.of(content, style)
    titles = [name.replace("_", " ") for name in names[:4]]
    laid = [
        (secrets.choice([*blocks, len(content)]), words.test(title, index < 2)) for index, title in enumerate(titles)
    ]
    if words.imports:
        laid.append((starts[0] if starts else len(content), words.imports))
    return Control.of(path, insert_texts(content, laid), titles)


@dataclass(frozen=True, slots=True)
class _Words:
    """The names and bodies with which the tests of a file are written."""

    test_name: str
    check: str
    body: str
    imports: str = ""

    @classmethod
    def of(cls, content: bytes, style: Style) -> _Words:
        text = content.decode("utf-8", "replace")
        if not style.module or style.only_if not in text:
            return cls(_test_name(text), *_globals(text, style))
        module, assertions = style.module, _assertions(text, style)
        test, check = (f"{secrets.choice('abcdefgh')}{secrets.token_hex(3)}" for _ in range(2))
        if _is_common(text):
            lines = (
                [f"const {{ test: {test} }} = require('{module}');", f"const {check} = require('{assertions}');"]
                if assertions
                else [f"const {{ test: {test}, expect: {check} }} = require('{module}');"]
            )
        elif assertions:
            lines = [f"import {{ test as {test} }} from '{module}';", f"import {check} from '{assertions}';"]
        else:
            lines = [f"import {{ expect as {check}, test as {test} }} from '{module}';"]
        return cls(test, check, style.body, "".join(f"{line}\n" for line in lines))

    def test(self, title: str, passes: bool) -> str:
        """Return the text of one test."""
        parts = title.split()
        number = 40 + secrets.randbelow(90)
        left = secrets.choice((f"{number} + 1", f"'{parts[0]}'.length + {number + 1 - len(parts[0])}"))
        right = number + 1 if passes else number + secrets.choice((2, 3, 10))
        body = secrets.choice(_BODIES[self.body])
        filled = body.format(check=self.check, left=left, right=right, a=parts[0], b=parts[-1])
        return f"{self.test_name}('{title}', () => {{\n  {filled}\n}});\n\n"


def _globals(text: str, style: Style) -> tuple[str, str]:
    """Return the name and the style of the checks that a file uses by itself."""
    if style.body != "throw":
        return "expect", style.body
    if re.search(r"\bexpect\b.*\bchai\b|\bchai\b.*\bexpect\b|\bexpect\([^)]*\)\.to\.", text):
        return ("expect", "to.equal") if re.search(r"\bexpect\b *(?:=|,|\})", text) else ("", "throw")
    if re.search(r"(?:import\s+(?:\* as )?assert\b|\bassert\s*=\s*require\()", text):
        return "assert", "assert"
    return "", "throw"


def _test_name(text: str) -> str:
    """Return `it` in the style of behaviour, else `test`; as the file has it."""
    return "test" if re.search(r"^[ \t]*test\(", text, re.MULTILINE) and not re.search(r"\bit\(", text) else "it"


def _assertions(text: str, style: Style) -> str:
    """Return the module of assertions, preferably the one that the file uses."""
    found = re.search(r"['\"]((?:node:)?assert(?:/strict)?)['\"]", text)
    return found[1] if found and style.assertions else style.assertions


def _is_common(text: str) -> bool:
    return "require(" in text and not re.search(r"^\s*(?:import|export)\b", text, re.MULTILINE)
