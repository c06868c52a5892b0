"""Pending tests of jest, vitest and Playwright: which ones are found, and what goes when one is activated."""

from __future__ import annotations

import pytest

from shared.pending.source import activated, find, scan
from worker_agent.tdd.runners.test_run import Case, CaseOutcome
from worker_agent.tdd.runners.vitest_runner import VitestRunner

PATH = "src/sum.test.ts"


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("it.skip('spec: adds', () => {});\n", "spec: adds", "it('spec: adds', () => {});\n"),
        ('test . fixme( "adds", async () => {})\n', "adds", 'test ( "adds", async () => {})\n'),
        ("test.todo(`adds`, () => {})", "adds", "test(`adds`, () => {})"),
        ("// spec: later\nit.skip('adds', () => {})", "adds", "// spec: later\nit('adds', () => {})"),
        ("it.skip('adds', () => {}) // spec: later\r\n", "adds", "it('adds', () => {}) // spec: later\r\n"),
        (
            "import { describe, it } from 'vitest'\ndescribe('sum', () => {\n  describe.skip('of \\'many\\'', () => {\n"
            "    const re = /[)'}]/g;\n    it('is', () => { `${'}'} ${ {a: 1}.a }` })\n"
            "    it.skip('spec: größer', () => {})\n  })\n})\n",
            "sum > of 'many'::spec: größer",
            "import { describe, it } from 'vitest'\ndescribe('sum', () => {\n  describe.skip('of \\'many\\'', () => {\n"
            "    const re = /[)'}]/g;\n    it('is', () => { `${'}'} ${ {a: 1}.a }` })\n"
            "    it('spec: größer', () => {})\n  })\n})\n",
        ),
        (
            "describe('a', () => { it('x', () => { 1 / 2 }) })\ndescribe('b', () => {\n\ttest.fixme('y', f)\n})",
            "b::y",
            "describe('a', () => { it('x', () => { 1 / 2 }) })\ndescribe('b', () => {\n\ttest('y', f)\n})",
        ),
    ],
)
def test_what_makes_it_wait_goes_and_nothing_else(before: str, name: str, after: str) -> None:
    marked = find(PATH, before.encode(), f"{PATH}::{name}")
    assert marked is not None, [one.test for one in scan(PATH, before.encode())]
    assert activated(before.encode(), marked) == after.encode()
    assert not marked.bare


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a();\n  it.todo('adds');\nb();\n", "a();\nb();\n"),
        ("a();\r\nit.todo('adds',)\r\nb();\r\n", "a();\r\nb();\r\n"),
        ("a(); it.todo('adds'); b();", "a();  b();"),
        ("test.todo(\n  'adds'\n);", ""),
    ],
)
def test_a_placeholder_goes_as_a_whole(before: str, after: str) -> None:
    (marked,) = scan(PATH, before.encode())
    assert (marked.test, marked.bare) == (f"{PATH}::adds", True)
    assert activated(before.encode(), marked).decode() == after


@pytest.mark.parametrize(
    "source",
    [
        "it.skip('slow', () => {})",
        "// it.todo('adds')",
        "/* it.todo('adds') */",
        "const s = \"it.todo('adds')\"",
        "const s = `it.todo('adds') ${ it } it.todo('adds')`",
        "page.it.todo('adds')",
        "visit.todo('adds')",
        "it.todo(title)",
        "it.todo('a' + b)",
        "it.todo(`a ${b}`)",
        "it.skip('spec: a\\n', () => {})",
        "describe(name, () => { it.todo('adds') })",
        "describe.each([1, 2])('of %s', () => { it.todo('adds') })",
        "describe.each`a\n${1}`('of $a', () => { it.todo('adds') })",
        "test.fixme()",
        "test.fixme(slow, 'why')",
        "it.todo('same')\nit.todo('same')",
        "it.todo('unfinished",
        "",
    ],
)
def test_what_is_no_code_or_cannot_be_named_is_not_found(source: str) -> None:
    assert scan(PATH, source.encode()) == ()


def test_ids_are_those_of_reports() -> None:
    (marked,) = scan(PATH, b"describe('sum', () => { describe('of two', () => { it.fixme; test.fixme('adds', f) }) })")
    case = Case("adds", "sum > of two", PATH, CaseOutcome.SKIPPED)
    assert VitestRunner().identify(case) == (marked.test, PATH)


@pytest.mark.parametrize("source", ["`${" * 3000 + "spec:", "'" * 999 + "todo", "it.todo(" * 999, "/" * 99 + " fixme"])
def test_any_content_is_stood(source: str) -> None:
    assert scan(PATH, source.encode()) == ()
    assert scan(PATH, source.encode() + b"\xff") == ()


def test_a_comment_speaks_for_the_next_line_only() -> None:
    source = "// spec: later\n\nit.skip('adds', () => {})\n"
    assert scan(PATH, source.encode()) == ()
