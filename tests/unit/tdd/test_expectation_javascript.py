"""Damaged expectations of JavaScript and TypeScript tests, one row for each form."""

from __future__ import annotations

import re

import pytest

from worker_agent.tdd.damage.expectations import ExpectationEdit, damaged_expectations
from worker_agent.tdd.syntax.source import parse

PATH = "a.test.ts"


def damaged(body: str, lead: str = "") -> dict[str, str]:
    """Return the damaged body of each kind, with made-up words and numbers as W and N."""
    content = f"{lead}it('a', async (t) => {{ {body} }});\n".encode()
    found = {}
    for damage in damaged_expectations({PATH: content}, {PATH: ["a"]}):
        text = damage.files[PATH].decode()
        assert parse(PATH, damage.files[PATH]) is not None
        assert text.count("\n") == content.count(b"\n")
        inner = text if lead else text.removeprefix("it('a', async (t) => { ").removesuffix(" });\n")
        found[str(damage.kind)] = re.sub(r"q[0-9a-f]{7}", "W", re.sub(r"\b\d{4,}", "N", inner))
    return found


NEGATED = [
    ("expect(f()).toBe(x)", "expect(f()).not.toBe(x)"),
    ("expect(f()).not.toBe(x)", "expect(f()).toBe(x)"),
    ("await expect(f()).resolves.toBe(x)", "await expect(f()).resolves.not.toBe(x)"),
    ("await expect(f()).rejects.not.toThrow()", "await expect(f()).rejects.toThrow()"),
    ("return expect(f()).resolves.toBe(x)", "return expect(f()).resolves.not.toBe(x)"),
    ("expect(x).to.be.true;", "expect(x).not.to.be.true;"),
    ("expect(x).to.not.be.true;", "expect(x).to.be.true;"),
    ("expect(x).to.be.an('object').that.has.property('a')", "expect(x).not.to.be.an('object').that.has.property('a')"),
    ("expect(f).toMatchSnapshot()", "expect(f).not.toMatchSnapshot()"),
    ("expect.soft(x).toBe(y)", "expect.soft(x).not.toBe(y)"),
    ("x.should.equal(y)", "x.should.not.equal(y)"),
    ("assert.equal(x, y)", "assert.notEqual(x, y)"),
    ("assert.notDeepStrictEqual(x, y)", "assert.deepStrictEqual(x, y)"),
    ("assert(x > 1, 'm')", "assert(!(x > 1), 'm')"),
    ("t.assert.ok(x)", "t.assert.ok(!(x))"),
    ("t.false(x)", "t.false(!(x))"),
    ("t.is(x, y)", "{ let W = 1; try { t.is(x, y) } catch { W = 0 } if (W) throw new Error('W') }"),
    ("await assert.rejects(f)", "await assert.doesNotReject(f)"),
    ("for (const x of [1, 2]) { expect(x).toBe(y) }", "for (const x of [1, 2]) { expect(x).not.toBe(y) }"),
    ("[1, 2].forEach((x) => { expect(x).toBe(y) })", "[1, 2].forEach((x) => { expect(x).not.toBe(y) })"),
    ("await t.test('s', () => { assert.ok(x) })", "await t.test('s', () => { assert.ok(!(x)) })"),
    (
        "if (a) { expect(x).toBe(y); return; } expect(z).toBe(y);",
        "if (a) { expect(x).not.toBe(y); return; } expect(z).not.toBe(y);",
    ),
]


@pytest.mark.parametrize(("body", "negated"), NEGATED)
def test_checks_are_turned_into_their_opposite(body: str, negated: str) -> None:
    assert damaged(body)["negate_first"] == negated


LITERAL = [
    ("expect(f()).toBe(3)", "expect(f()).toBe(N)"),
    ("expect(f()).toBe('a')", "expect(f()).toBe('aW')"),
    ("expect(f()).toBe(`a${b}`)", "expect(f()).toBe(`a${b}W`)"),
    ("expect(f()).toEqual({ a: [1, 'b'] })", "expect(f()).toEqual({ a: [N, 'b'] })"),
    ("expect(f()).toEqual([])", 'expect(f()).toEqual(["W"])'),
    ("expect(f()).toEqual({})", "expect(f()).toEqual({ W: 1 })"),
    ("expect(f()).toBe(null)", "expect(f()).toBe(false)"),
    ("expect(f()).toBe(want)", 'expect(f()).toBe(["W", want])'),
    ("expect(f()).toHaveBeenCalledWith(a, 1)", "expect(f()).toHaveBeenCalledWith(a, N)"),
    ("expect(f()).toMatch(/a/)", "expect(f()).toMatch(/(?!)/)"),
    ("expect(f()).to.equal(true)", "expect(f()).to.equal(false)"),
    ("assert.equal(f(), 3)", "assert.equal(f(), N)"),
    ("t.is(f(), -3n)", "t.is(f(), -Nn)"),
]


@pytest.mark.parametrize(("body", "literal"), LITERAL)
def test_expected_values_are_changed(body: str, literal: str) -> None:
    assert damaged(body)["literal"] == literal


@pytest.mark.parametrize(
    "body",
    [
        "expect(f()).not.toBe(3)",
        "expect(f()).toBeGreaterThan(3)",
        "expect(x).to.be.oneOf([1, 2])",
        "assert.notEqual(f(), 3)",
        "expect(x).toEqual({ ...y, a: z })",
    ],
)
def test_values_that_may_not_matter_are_left_alone(body: str) -> None:
    found = damaged(body)
    assert "literal" not in found or "W" in found["literal"]
    assert "N" not in found.get("literal", "")


EXCEPTION = [
    ("expect(() => f()).toThrow(TypeError)", "expect(() => f()).toThrow(/(?!)/)"),
    ("expect(() => f()).toThrow()", "expect(() => f()).toThrow(/(?!)/)"),
    ("await expect(f()).rejects.toThrow('a')", "await expect(f()).rejects.toThrow(/(?!)/)"),
    ("expect(f).to.throw(TypeError, 'a')", "expect(f).to.throw(/(?!)/)"),
    ("assert.throws(() => f())", "assert.throws(() => f(), /(?!)/)"),
    ("await assert.rejects(f, { code: 1 })", "await assert.rejects(f, /(?!)/)"),
]


@pytest.mark.parametrize(("body", "exception"), EXCEPTION)
def test_exceptions_must_match_what_nothing_does(body: str, exception: str) -> None:
    assert damaged(body)["exception"] == exception


@pytest.mark.parametrize(
    "body",
    [
        "f()",
        "expect(f()).resolves.toBe(3)",
        "assert.rejects(f)",
        "expect.assertions(2)",
        "expectTypeOf(x).toEqualTypeOf<string>()",
        "f().catch((e) => { expect(e).toBe(1) })",
        "/x/.test('a')",
    ],
)
def test_what_is_no_check_that_fails_is_not_touched(body: str) -> None:
    assert damaged(body) == {}


def test_helpers_of_the_file_are_followed() -> None:
    found = damaged("check(f())", "function check(x) { expect(x).toBe(y) }\n")
    assert "function check(x) { expect(x).not.toBe(y) }" in found["negate_first"]


def test_short_functions_and_templates_of_titles() -> None:
    content = b"describe('d', () => { it.each([1])('a %s', (x) => expect(x).toBe(1)); });\n"
    (first, literal) = damaged_expectations({PATH: content}, {PATH: ["d > a %s"]})
    assert (first.kind, literal.kind) == (ExpectationEdit.NEGATE_FIRST, ExpectationEdit.LITERAL)
    assert b"expect(x).not.toBe(1)" in first.files[PATH]


def test_the_body_of_a_try_that_must_throw() -> None:
    found = damaged("try { f(); throw new Error('no'); } catch (e) { expect(e).toBe(x) }")
    assert found["negate_first"].endswith("catch (e) { expect(e).not.toBe(x) }")
