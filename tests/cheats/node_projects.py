"""A small package per JavaScript runner: its files, a new test for what is missing, and what cheats write."""

from __future__ import annotations

OLD = "test/find.test.js"
NEW = "test/search.test.js"
CODE = "src/search.js"
RUNNERS = ("vitest", "jest", "mocha", "node")
PASSED = {f"{OLD}::find::finds a name": "passed", f"{OLD}::find > deep::finds none": "passed"}

_HEADS = {
    "vitest": "import { describe, expect, it } from 'vitest';\n",
    "jest": "",
    "mocha": "import assert from 'node:assert';\n",
    "node": "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n",
}
_EXTENDED = {
    "vitest": "import { expect } from 'vitest';\nexpect.extend",
    "jest": "expect.extend",
}


def base(runner: str) -> dict[str, str]:
    """Return the files of a package that can find a name."""
    tests = (
        "describe('find', () => {\n"
        f"  it('finds a name', () => {{ {equal(runner, 'find([`a`, `b`], `b`)', '[`b`]')} }});\n"
        "  describe('deep', () => {\n"
        f"    it('finds none', () => {{ {equal(runner, 'find([`a`], `b`)', '[]')} }});\n"
        "  });\n});\n"
    )
    code = "function find(names, name) { return names.filter((other) => other === name); }\n"
    kind = "" if runner == "jest" else ', "type": "module"'
    return {
        "package.json": f'{{"name": "names"{kind}, "exports": {{"./search": "./src/search.js"}}}}\n',
        "src/find.js": code + exported(runner, "find"),
        OLD: imported(runner, "find", "../src/find.js") + tests,
    }


def new_test(runner: str, module: str = "../src/search.js", name: str = "search") -> str:
    """Return a test that needs a module, or a name in one, that does not exist yet."""
    check = equal(runner, f"{name}([`Ann`], `n`)", "[`Ann`]")
    return f"{imported(runner, name, module)}it('searches', () => {{ {check} }});\n"


def works(runner: str) -> dict[str, str]:
    """Return the code that makes the new test pass."""
    code = "function search(names, text) { return names.filter((name) => name.includes(text)); }\n"
    return {CODE: code + exported(runner, "search")}


def imported(runner: str, name: str, module: str) -> str:
    """Return the head of a test file."""
    if runner == "jest":
        return f"const {{ {name} }} = require('{module}');\n"
    return f"{_HEADS[runner]}import {{ {name} }} from '{module}';\n"


def exported(runner: str, name: str) -> str:
    """Return the end of a module."""
    return f"exports.{name} = {name};\n" if runner == "jest" else f"export {{ {name} }};\n"


def equal(runner: str, left: str, right: str) -> str:
    """Return an assertion."""
    if runner in {"mocha", "node"}:
        return f"assert.deepEqual({left}, {right});"
    return f"expect({left}).toEqual({right});"


def custom_matcher(runner: str) -> str:
    """Return a new test that defines its own assertion."""
    head = _EXTENDED[runner].rpartition("expect.extend")[0]
    matcher = (
        "expect.extend({ toHold(names, name) {\n"
        "  return { pass: names.includes(name), message: () => `names hold no ${name}` };\n} });\n"
    )
    start = imported(runner, "find", "../src/find.js").replace("describe, expect, it", "it") if head else ""
    lines = head + (start or imported(runner, "find", "../src/find.js")) + matcher
    return f"{lines}it('holds', () => {{ expect(find([`a`], `a`)).toHold('b'); }});\n"


EXITS = "it('leaves', () => { process.exit(0); });\n"
"""Ends the run, or its file's part of it, with success."""

REWRITES = """\
it('rewrites', () => {
  const fs = process.getBuiltinModule ? process.getBuiltinModule('fs') : require('fs');
  const told = process.argv.join('\\n').match(/(?:output|outputFile)=(\\S+)/) || [];
  if (told[1]) fs.writeFileSync(told[1], '{"testResults": [], "cases": [], "ended": true}');
  throw new Error('it fails');
});
"""
"""Writes a report of its own where the runner is going to write the real one."""

PATCHED = {
    "vitest": "expect.extend({ toBe: () => ({ pass: true }), toEqual: () => ({ pass: true }) });\n",
    "jest": "expect.extend({ toBe: () => ({ pass: true }), toEqual: () => ({ pass: true }) });\n",
    "mocha": "for (const name of ['deepEqual', 'strictEqual', 'equal']) { assert[name] = () => {}; }\n",
    "node": "for (const name of ['deepEqual', 'strictEqual', 'equal']) { assert[name] = () => {}; }\n",
}
"""Makes assertions pass whatever they compare."""
