"""Code of a change that is damaged, and code that never is; the tables of kinds are in `test_damage_languages`."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.code import damages
from worker_agent.tdd.damage.model import Damage, DamageKind


def made(path: str, head: str, base: str | None = "") -> tuple[Damage, ...]:
    return damages({path: base.encode()} if base is not None else {}, {path: head.encode()})


UNTOUCHED = [
    ("a.py", "def f(a):\n    '''Doc 3.'''\n    # note 4\n    pass\n"),
    ("a.py", "@overload\ndef f(a: int) -> int: ...\n"),
    ("a.py", "class A(ABC):\n    @abstractmethod\n    def f(self, a):\n        return g(a)\n"),
    ("a.py", "class A(Protocol):\n    def f(self, a: int) -> int:\n        return 3\n"),
    ("a.py", "if TYPE_CHECKING:\n    X = 3\n"),
    ("a.py", "if typing.TYPE_CHECKING:\n    def f(a): return 3\n"),
    ("a.py", "__all__ = ['a', 'b']\n"),
    ("a.py", "X: Literal['a', 'b']\n"),
    ("a.py", "x: 'Deferred' = cast('Other', y)\n"),
    ("a.py", "import a\nfrom b import c\n"),
    ("a.pyi", "def f(a: int) -> int:\n    return 3\n"),
    ("a.d.ts", "export const X = 3\n"),
    ("a.js", "'use strict'\nimport a from 'b'\n"),
    ("a.ts", "type A = 'a' | 'b'\ninterface B { c: 1 }\n"),
    ("a.ts", "declare function f(a: 1): 2\n"),
    ("a.go", 'package a\nimport "fmt"\ntype T struct { A int `json:"a"` }\ntype U [3]int\n'),
    ("a.rs", "use a::b;\n#[cfg(test)]\nmod tests { #[test] fn t() { assert_eq!(f(), 3); } }\n"),
    ("a.rs", "#[derive(Debug)]\nstruct S { a: [u8; 3] }\n"),
    ("A.java", "import a.B;\n@Size(3)\ninterface A { int f(int a); }\n"),
    ("a.php", "<?php namespace A; use B\\C; declare(strict_types=1);\n"),
]


@pytest.mark.parametrize(("path", "code"), UNTOUCHED)
def test_what_no_test_can_ask_for_is_left_alone(path: str, code: str) -> None:
    assert made(path, code, None) == ()


@pytest.mark.parametrize(
    ("code", "never"),
    [
        ("fn f(a: (u8, u8)) -> u8 { a.0 }", ".1"),
        ("fn f(a: T) { println!(\"{}\", a.0); g(3); }", "a.1"),
        ("fn f(a: Option<u8>) { if let Some(b) = a { g(b); } }", "!("),
    ],
)  # fmt: skip
def test_rust_keeps_what_would_not_compile(code: str, never: str) -> None:
    found = made("a.rs", code, None)
    assert found
    assert not any(never in damage.content.decode().replace("panic!(", "").replace("println!(", "") for damage in found)


def test_parts_of_formatted_strings_stay() -> None:
    text = """f'{a["x"]:>3} is {a + 1}'"""
    found = made("a.py", f"def f(a):\n    return g({text})\n", None)
    assert found
    assert all(text.encode() in damage.content or b"f'" not in damage.content for damage in found)


def test_only_what_changed_is_damaged() -> None:
    base = "X = 3\n\n\ndef old(a):\n    return a + 1\n\n\ndef f(a):\n    return a\n"
    head = base.replace("return a\n", "return a - 2\n")
    found = made("a.py", head, base)
    assert {damage.function for damage in found} == {"f", ""}
    assert all(b"return a + 1" in damage.content and b"X = 3" in damage.content for damage in found)
    assert {
        damage.line for damage in found if damage.kind not in (DamageKind.GONE, DamageKind.NONE, DamageKind.RAISE)
    } == {9}


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("def f(a):\n    return a\n", "def f(a: int) -> int:\n    return a\n"),
        ("def f(a):\n    return a\n", "def f(a):\n    '''New.'''\n    # note\n    return a\n"),
        ("def f(a):\n    return g(a, 1)\n", "def f(a):\n    return g(\n        a, 1\n    )\n"),
    ],
)
def test_comments_types_and_layout_change_nothing(base: str, head: str) -> None:
    assert [damage for damage in made("a.py", head, base) if damage.kind is not DamageKind.HUNK] == []


def test_a_function_that_only_moved_is_unchanged() -> None:
    moved = b"def f(a):\n    return a + 1\n"
    base = {"old.py": moved + b"\n\ndef g(a):\n    return 3\n"}
    head = {"old.py": b"def g(a):\n    return 3\n", "new.py": moved}
    assert [damage for damage in damages(base, head) if damage.kind is not DamageKind.HUNK] == []
    copied = damages(base, {"old.py": base["old.py"], "new.py": moved})
    assert {damage.path for damage in copied} == {"new.py"}


def test_nested_functions_are_their_own() -> None:
    base = "def outer(a):\n    def inner(b):\n        return b\n    return inner\n"
    found = made("a.py", base.replace("return b", "return b + 1"), base)
    assert {damage.function for damage in found if damage.kind is not DamageKind.GONE} == {"outer.inner"}


def test_few_touched_lines_let_the_others_be_damaged() -> None:
    base = "def f(a):\n    b = g(a)\n    if b:\n        h(b)\n    return b\n"
    found = made("a.py", base.replace("h(b)", "h(b, 1)"), base)
    quiet = [damage for damage in found if damage.quiet]
    assert len(quiet) >= 4
    assert {damage.line for damage in quiet if damage.direct} <= {1, 4}
    assert any(not damage.direct for damage in quiet)


def test_messages_for_people_come_last() -> None:
    found = made("a.py", "def f(a):\n    log.info('one two')\n    if a > 2:\n        g(a, 'three')\n    return a * 5\n")
    assert not any("one two" in damage.what for damage in found if damage.direct and damage.kind is DamageKind.CONST)


def test_gone_leaves_module_code_and_old_functions() -> None:
    base = "def old(a):\n    return a\n"
    head = "X = f\n\n\ndef old(a):\n    return a\n\n\ndef f(a):\n    g(a)\n\n\ndef h(a): return a\n"
    gone = next(damage for damage in made("a.py", head, base) if damage.kind is DamageKind.GONE)
    assert not gone.quiet
    assert gone.content.decode() == head.replace("    g(a)", "    raise RuntimeError('damaged')\n    g(a)").replace(
        "def h(a): return", "def h(a): raise RuntimeError('damaged'); return"
    )
    assert gone.what == "all 2 changed functions raised"


def test_damages_are_the_same_every_time() -> None:
    code = "".join(f"def f{number}(a):\n    return a + {number}\n\n\n" for number in range(80))
    first = made("a.py", code)
    assert first == made("a.py", code)
    assert len(first) <= 120
    assert {damage.function for damage in first if damage.quiet} == {f"f{number}" for number in range(80)}


def test_words_for_people_are_one_short_line() -> None:
    code = (
        "def f(a):\n    return [\n"
        + "".join(f"        'some long text number {at}' + a,\n" for at in range(9))
        + "    ]\n"
    )
    for damage in made("a.py", code):
        assert 0 < len(damage.what) <= 80
        assert "\n" not in damage.what


def test_files_with_syntax_errors_have_hunks_only() -> None:
    found = made("a.py", "def f(:\n    return 2\n", "def f(:\n    return 1\n")
    assert [damage.kind for damage in found] == [DamageKind.HUNK]
