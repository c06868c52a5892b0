"""TypeScript by ts-jest on a small package: an honest cycle, what the compiler says is missing, and type errors."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from node_tools import offer, tools
from toolchain import Checkout, needed, outcomes

from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind

OLD, NEW, CODE = "test/find.test.ts", "test/search.test.ts", "src/search.ts"
BASE = {
    "package.json": '{"name": "names"}\n',
    "jest.config.js": "module.exports = { preset: 'ts-jest', testEnvironment: 'node' };\n",
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "commonjs", "types": []}}\n',
    "globals.d.ts": "declare const it: (name: string, test: () => void) => void;\ndeclare const expect: any;\n",
    "src/find.ts": "export function find(names: string[], name: string): string[] {\n"
    "  return names.filter((other) => other === name);\n}\n",
    OLD: "/// <reference path='../globals.d.ts' />\nimport { find } from '../src/find';\n\n"
    "it('finds', () => { expect(find(['a', 'b'], 'b')).toEqual(['b']); });\n",
}
PASSED = {f"{OLD}::finds": "passed"}
SEARCH = (
    "export function search(names: string[], text: string): string[] {\n"
    "  return names.filter((name) => name.includes(text));\n}\n"
)


def new_test(module: str = "../src/search", call: str = "search(['Ann'], 'n')") -> str:
    """Return a test of a function that does not exist yet."""
    head = f"/// <reference path='../globals.d.ts' />\nimport {{ search }} from '{module}';\n\n"
    return f"{head}it('searches', () => {{ expect({call}).toEqual(['Ann']); }});\n"


@pytest.fixture
def package(tmp_path: Path) -> Checkout:
    needed("node")
    modules = tools()
    offer(modules, tmp_path)
    made = Checkout(tmp_path, JestRunner(), shlex.quote(str(modules / ".bin" / "jest")))
    made.write(BASE)
    return made


async def test_an_honest_cycle(package: Checkout) -> None:
    base = await package.run()
    assert (base.finished, outcomes(base)) == (True, PASSED), base.output_tail

    red = await package.run({NEW: new_test()})
    assert red.finished, red.output_tail
    assert red.passed == set(PASSED)
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT, red.broken_files[NEW].message
    assert "../src/search" in red.broken_files[NEW].message

    green = await package.run({CODE: SEARCH})
    assert green.finished, green.output_tail
    assert green.passed == {*PASSED, f"{NEW}::searches"}

    damaged = await package.run({CODE: SEARCH.replace("name.includes(text)", "!text")})
    result = damaged.results[f"{NEW}::searches"]
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True), result.message


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        (new_test("../src/find"), FailureKind.FIRST_PARTY_IMPORT),
        (new_test("left-of-pad"), FailureKind.THIRD_PARTY_IMPORT),
        (new_test("../src/find", "find(3)").replace("{ search }", "{ find }"), FailureKind.COLLECTION),
        ("it('x', () => {\n", FailureKind.SYNTAX),
    ],
    ids=["no such export", "no such package", "a type error", "a syntax error"],
)
async def test_what_the_compiler_refuses_is_told_by_its_reason(package: Checkout, test: str, kind: FailureKind) -> None:
    run = await package.run({NEW: test}, Selection(frozenset({NEW})))
    assert run.broken_files[NEW].kind is kind, run.broken_files[NEW].message


async def test_control_tests_are_reported_as_they_must_be(package: Checkout) -> None:
    run = await package.controlled(OLD)
    assert (run.controlled, outcomes(run)) == (True, PASSED), run.output_tail
