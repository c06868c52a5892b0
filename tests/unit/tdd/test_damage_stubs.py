"""Changed functions that do nothing are found; those that may be empty are not."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.code_stubs import stubs

WORK = "\n\ndef other(a):\n    return a + 1\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(a):\n    pass\n"),
        ("a.py", "def f(a):\n    '''Doc.'''\n"),
        ("a.py", "def f(a):\n    ...\n"),
        ("a.py", "def f(a):\n    return\n"),
        ("a.py", "def f(a):\n    return None\n"),
        ("a.py", "def f(a):\n    raise NotImplementedError('later')\n"),
        ("a.py", "def f(a):\n    raise NotImplementedError\n" + WORK),
        ("a.py", "async def f(a): pass\n"),
        ("a.py", "class A:\n    def f(self, a):\n        pass\n"),
        ("a.js", "export function f(a) {}"),
        ("a.js", "export function f(a) { return null }"),
        ("a.js", "export function f(a) { throw new Error('not implemented') }"),
        ("a.ts", "export function f(a: X): void { /* later */ }"),
        ("a.go", "package a\nfunc F(a int) {}\n"),
        ("a.go", 'package a\nfunc F(a int) { panic("not implemented") }\n'),
        ("a.rs", "pub fn f(a: u8) -> u8 { todo!() }"),
        ("a.rs", "pub fn f(a: u8) -> u8 { unimplemented!(\"later\") }"),
        ("a.rs", "pub fn f(a: u8) {}"),
        ("A.java", "class A { Object f(int a) { return null; } }"),
        ("A.java", "class A { int f(int a) { throw new UnsupportedOperationException(); } }"),
        ("a.php", "<?php function f($a) { return null; }"),
        ("a.rb", "def f(a)\nend\n"),
        ("a.rb", "def f(a)\n  nil\nend\n"),
        ("A.cs", "class A { int F(int a) { throw new NotImplementedException(); } }"),
        ("A.cs", "class A { int F(int a) => throw new NotImplementedException(); }"),
    ],
)  # fmt: skip
def test_stubs_are_found(path: str, code: str) -> None:
    found = stubs({}, {path: code.encode()})
    assert [name.rpartition(".")[2].lower().removeprefix("py:").rpartition(":")[2] for name in found] == ["f"]
    assert found[0].startswith(f"{path}:")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(a):\n    return a\n"),
        ("a.rs", "impl A { pub fn f(&self) -> &B { &self.0 } }"),
        ("a.rs", "impl<'a> A<'a> { pub fn f(&self) -> &'a Path { self.path } }"),
        ("a.rs", "impl<'a> A<'a> { pub fn f(&self) -> &'a str { &self.text } }"),
        ("a.py", "def f(a):\n    return 3\n"),
        ("a.py", "def f(a):\n    g(a)\n"),
        ("a.py", "def f(a):\n    raise ValueError(a)\n"),
        ("a.py", "def f(a):\n    def inner(b):\n        return b\n    return inner\n"),
        ("a.py", "@overload\ndef f(a: int) -> int: ...\n"),
        ("a.py", "class A(ABC):\n    @abstractmethod\n    def f(self): ...\n"),
        ("a.py", "class A(Protocol):\n    def f(self): ...\n"),
        ("a.py", "class AbstractA:\n    def f(self):\n        raise NotImplementedError\n"),
        ("a.py", "class A:\n    def f(self):\n        raise NotImplementedError\n\n\nclass B(A):\n    x = 1\n"),
        ("a.py", "class A(Exception):\n    pass\n"),
        ("a.py", "class A:\n    def __init__(self):\n        pass\n"),
        ("a.py", "class A(B):\n    def __init__(self):\n        super().__init__()\n"),
        ("a.py", "class A(B):\n    def visit(self):\n        pass\n" + WORK),
        ("a.py", "class A:\n    def close(self):\n        pass\n" + WORK),
        ("a.py", "X = 3\n"),
        ("a.js", "export const noop = () => {}\nexport function g(a) { return a }"),
        ("a.js", "class A { constructor() {} }"),
        ("a.ts", "abstract class A { abstract f(): void; }"),
        ("a.ts", "interface A { f(): void }"),
        ("a.go", "package a\nfunc (T) isNode() {}\nfunc F(a int) int { return a }\n"),
        ("a.rs", "trait A { fn f(&self) {} }"),
        ("a.rs", "impl A for B { fn f(&self) {} }\nfn g(a: u8) -> u8 { a }"),
        ("A.java", "class A { private A() {} }"),
        ("A.java", "interface A { int f(int a); default void g() {} }"),
        ("A.java", "class A { @Override public void f() {} int g(int a) { return a; } }"),
        ("a.php", "<?php class A { public function __construct(private int $a) {} }"),
        ("a.css", "a { b: c }"),
    ],
)  # fmt: skip
def test_what_may_be_empty_is_no_stub(path: str, code: str) -> None:
    assert stubs({}, {path: code.encode()}) == ()


def test_what_may_be_empty_counts_where_nothing_else_is_done() -> None:
    code = b"class A(B):\n    def visit(self):\n        pass\n"
    assert stubs({}, {"a.py": code}) == ("a.py:A.visit",)


def test_old_functions_do_not_count() -> None:
    stub = b"def f(a):\n    pass\n"
    assert stubs({"a.py": stub}, {"a.py": stub + b"\n\nX = 2\n"}) == ()
    assert stubs({"a.py": b"def f(a):\n    return a\n"}, {"a.py": stub}) == ()
