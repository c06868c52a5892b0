"""Tests that are methods of classes: JUnit, TestNG, PHPUnit, xunit, NUnit and MSTest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Language, Source, walk
from worker_agent.tdd.syntax.units_found import Case, FoundTest, child, field_text, first_text, statements

_CLASSES = frozenset({"class_declaration", "record_declaration"})
_MARKS = frozenset({"annotation", "marker_annotation", "attribute"})
_TEST = re.compile(
    r"(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Fact|Theory|TestCase|TestCaseSource|"
    r"TestMethod|DataTestMethod|SkippableFact|SkippableTheory|InlineAutoData|AutoData)(?:Attribute)?$"
)
_CASES = re.compile(
    r"(?:CsvSource|ValueSource|EnumSource|InlineData|TestCase|DataRow|TestWith|CsvFileSource|InlineAutoData|Values)"
    r"(?:Attribute)?$"
)
_SKIPS = re.compile(
    r"(?:Disabled\w*|Ignore|IgnoreAttribute|Explicit|EnabledOn\w*|EnabledIf\w*|RequiresPhp\w*|Requires\w*)$"
)
_MEANINGLESS = re.compile(rf"{_SKIPS.pattern}|(?:Test|Fact|Theory|DisplayName|TestDox)$")
"""Marks that say nothing of what a test does."""

_SETUP = re.compile(
    r"(?:Before|After|BeforeEach|AfterEach|BeforeAll|AfterAll|BeforeClass|AfterClass|BeforeMethod|SetUp|TearDown|"
    r"OneTimeSetUp|OneTimeTearDown|TestInitialize|TestCleanup|Rule|ClassRule)$"
)
_SKIPS_FIRST = re.compile(
    r"(?:\$this->|self::|static::)?markTest(?:Skipped|Incomplete)\(|(?:\w+\.)?(?:assumeTrue\(false|Ignore\(|Inconclusive\()"
    r"|Skip\.If\(true|return\s*;"
)
_SETUP_NAMES = frozenset(
    ["setUp", "tearDown", "setUpBeforeClass", "tearDownAfterClass", "InitializeAsync", "DisposeAsync", "Dispose"]
)
_ROWS = "element_value_array_initializer"
_DOC_TEST = re.compile(r"@test\b")
_DOC_PROVIDER = re.compile(r"@dataProvider\s+(\w+)")


@dataclass(frozen=True, slots=True)
class _Scope:
    names: tuple[str, ...] = ()
    owner: tuple[Node, ...] = ()
    around: tuple[Node, ...] = ()
    skipped: str = ""


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, in the order of the file."""
    yield from _in_block(source, source.root, _Scope())


def _in_block(source: Source, block: Node, scope: _Scope) -> Iterator[FoundTest]:
    for node in statements(block):
        if node.type in _CLASSES:
            yield from _class(source, node, scope)
        elif node.type in {"namespace_declaration", "namespace_definition", "declaration_list"}:
            yield from _in_block(source, child(node, "body") or node, scope)


def _class(source: Source, node: Node, scope: _Scope) -> Iterator[FoundTest]:
    body = child(node, "body")
    if body is None:
        return
    setup = [found for found in statements(body) if _acts_on_tests(source, found)]
    kinds = ("superclass", "base_clause", "base_list")
    bases = [found for kind in kinds for found in node.named_children if found.type == kind]
    inner = _Scope(
        (*scope.names, field_text(source, node, "name")),
        (*scope.owner, node),
        (*scope.around, *bases, *setup),
        _skip(source, marks(node)) or scope.skipped,
    )
    for found in statements(body):
        if found.type == "method_declaration":
            yield from _method(source, found, inner)
    yield from _in_block(source, body, inner)


def marks(node: Node) -> list[Node]:
    """Return the annotations and attributes of a class or method."""
    found = []
    for part in node.named_children:
        if part.type in {"modifiers", "attribute_list"}:
            found += [each for each in walk(part) if each.type in _MARKS]
    return found


def mark_name(source: Source, mark: Node) -> str:
    """Return the last word of an annotation's name."""
    name = child(mark, "name") or (mark.named_children[0] if mark.named_children else mark)
    return re.split(r"[.\\]", source.text(name))[-1]


def doc_comment(source: Source, node: Node) -> str:
    """Return the comment before a PHP method."""
    previous = node.prev_named_sibling
    return source.text(previous) if previous is not None and previous.type == "comment" else ""


def _acts_on_tests(source: Source, node: Node) -> bool:
    is_named = field_text(source, node, "name") in _SETUP_NAMES or node.type == "constructor_declaration"
    return is_named or any(_SETUP.match(mark_name(source, mark)) for mark in marks(node))


def _skip(source: Source, listed: list[Node]) -> str:
    for mark in listed:
        text = source.text(mark)
        if _SKIPS.match(mark_name(source, mark)) or re.search(r"\b(?:Skip|Ignore|enabled)\s*=\s*(?!null|true)", text):
            return text
    return ""


def _method(source: Source, node: Node, scope: _Scope) -> Iterator[FoundTest]:
    name, body = field_text(source, node, "name"), child(node, "body")
    listed = marks(node)
    is_php = source.language is Language.PHP
    named = is_php and (re.match(r"test", name) is not None or bool(_DOC_TEST.search(doc_comment(source, node))))
    junit3 = source.language is Language.JAVA and name.startswith("test") and "TestCase" in _bases(source, scope)
    if body is None or not (named or junit3 or any(_TEST.match(mark_name(source, mark)) for mark in listed)):
        return
    tables = [mark for mark in listed if _CASES.match(mark_name(source, mark))]
    plain = [mark for mark in listed if _MEANINGLESS.match(mark_name(source, mark))]
    kept = [mark for mark in listed if mark not in tables and mark not in plain]
    cases = [case for mark in tables for case in _cases(source, mark)]
    providers = _providers(source, node, listed, scope)
    cases += [Case("", row) for provider in providers for row in _rows(provider)]
    yield FoundTest(
        "::".join((*scope.names, name)),
        node,
        tuple(found for found in (*kept, child(node, "parameters"), body) if found is not None),
        body,
        scope.around,
        scope.owner,
        tuple(cases),
        skipped=_skip(source, listed) or _skips_first(source, body) or scope.skipped,
    )


def _bases(source: Source, scope: _Scope) -> str:
    return " ".join(source.text(found) for found in scope.around if found.type == "superclass")


def _cases(source: Source, mark: Node) -> Iterator[Case]:
    """Yield the rows of an annotation: each text of a list, or the annotation as a whole."""
    name = mark_name(source, mark)
    rows = [row for found in walk(mark) if found.type == _ROWS for row in statements(found)]
    yield from (Case(name, row) for row in (rows or [mark]))


def _providers(source: Source, node: Node, listed: list[Node], scope: _Scope) -> list[Node]:
    """Return the methods that give a test its rows; other code that they use counts as support."""
    names = set(_DOC_PROVIDER.findall(doc_comment(source, node)))
    for mark in listed:
        if mark_name(source, mark) in {"DataProvider", "MethodSource", "MemberData", "TestCaseSource", "DynamicData"}:
            names |= {source.text(found) for found in walk(mark) if found.type in {"string_content", "string_fragment"}}
    members = [found for owner in scope.owner for found in statements(child(owner, "body"))]
    return [found for found in members if field_text(source, found, "name") in names and names]


def _rows(provider: Node) -> Iterator[Node]:
    """Yield the elements of the array that a provider returns, or each of its `yield`s."""
    lists = ("array_creation_expression", "array_initializer", "collection_expression")
    for found in walk(provider):
        if found.type == "yield_expression":
            yield found
        elif found.type in lists and found.parent is not None and found.parent.type == "return_statement":
            yield from statements(found)
            return


def _skips_first(source: Source, body: Node) -> str:
    text = first_text(source, body)
    return text.splitlines()[0] if _SKIPS_FIRST.match(text) else ""
