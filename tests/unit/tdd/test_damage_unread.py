"""New values that nobody reads, failures that are only raised again, and kinds of input that nobody tried."""

from __future__ import annotations

import pytest

from shared.specification import Criterion
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_unread import unread
from worker_agent.tdd.damage.untried_kinds import of_bytes, untried
from worker_agent.tdd.proof.behaviour_probes import revalued

CACHE = """class Cache:
    def __init__(self, clock):
        self.clock = clock
        self.entries = {}

    def get(self, key):
        expires, value = self.entries[key]
        return value
"""
LIMITER = """export class Limiter {
  constructor(limit, window) {
    this.limit = limit;
    this.window = window;
  }
  allow(n) {
    return n <= this.limit;
  }
}
"""
BUCKET = """package shop

type Bucket struct {
	taken int
	since int64
}

func (b *Bucket) Take(now int64) bool {
	b.since = now
	b.taken++
	return b.taken < 3
}
"""
RUBY = "class Limit\n  def initialize(window)\n    @window = window\n  end\nend\n"
SAVE = "def save(path, text):\n    try:\n        path.write_text(text)\n    except OSError:\n        raise\n"


@pytest.mark.parametrize(
    ("path", "code", "told"),
    [
        ("a.py", CACHE, ("a.py::Cache: it keeps `clock`", "a.py::Cache.get: it works out `expires`")),
        ("a.js", LIMITER, ("a.js::Limiter: it keeps `window`",)),
        ("a.go", BUCKET, ("a.go::Bucket: it keeps `since`",)),
        ("a.rb", RUBY, ("a.rb::Limit: it keeps `window`",)),
        ("a.py", SAVE, ("a.py::save: it catches failures only to raise them again",)),
        (
            "a.js",
            "function f(g) {\n  try {\n    return g();\n  } catch (e) {\n    throw e;\n  }\n}\n",
            ("a.js::f: it catches",),
        ),
        ("a.php", "<?php\nfunction f($a) {\n    $b = $a + 1;\n    return $a;\n}\n", ("a.php::f: it works out `b`",)),
    ],
)
def test_what_nothing_reads_is_told(path: str, code: str, told: tuple[str, ...]) -> None:
    found = unread({}, {path: code.encode()}, ())
    assert len(found) == len(told)
    assert all(sentence.startswith(words) for sentence, words in zip(found, told, strict=True))


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", CACHE.replace("return value", "return value if expires > self.clock() else None")),
        ("a.py", CACHE.replace("class Cache:", "class Cache(Base):").replace("expires", "_")),
        ("a.py", CACHE.replace("class Cache:", "@entity\nclass Cache:").replace("expires", "_")),
        ("a.py", CACHE + "\n    def all(self):\n        return vars(self)\n"),
        ("a.py", SAVE.replace("        raise\n", "        path.unlink()\n        raise\n")),
        ("a.py", SAVE.replace("    except", "    except KeyError:\n        return None\n    except")),
        ("a.py", "def f(a):\n    global b\n    b = a\n"),
        ("a.py", "def f(a):\n    b = a\n\n    def g():\n        return b\n\n    return g\n"),
        (
            "a.js",
            LIMITER + "export const seconds = ({ window }) => window;\n".replace("({ window })", "(l) => l.window"),
        ),
        ("a.go", BUCKET.replace("since", "Since")),
        ("a.rb", RUBY.replace("class Limit\n", "class Limit\n  attr_reader :window\n")),
        ("a.rb", "def f(a)\n  b = a + 1\nend\n"),
        ("a.py", "def f():\n    return 1\n"),
    ],
)
def test_nothing_is_told_of_what_is_read_or_may_be(path: str, code: str) -> None:
    assert unread({}, {path: code.encode()}, ()) == ()


def test_what_a_test_reads_or_the_base_had_is_left_alone() -> None:
    assert unread({}, {"a.rb": RUBY.encode()}, [b"expect(limit.window).to eq 3"]) == ()
    assert unread({"a.js": b"a.window = 3\n"}, {"a.js": LIMITER.encode()}, ()) == ()
    assert unread({"a.py": SAVE.encode()}, {"a.py": SAVE.replace("text", "words").encode()}, ()) == ()


ORDER = "Repeated items are dropped, and the order in which they came first is kept."


@pytest.mark.parametrize(
    ("criterion", "plain", "tried", "told"),
    [
        ("It turns texts around, also outside ASCII.", 'f("abc") == "cba"', 'f("äb") == "bä"', "outside ASCII"),
        ("Accents are dropped.", 'f("abc")', 'f("\\u00e9")', "outside ASCII"),
        ("Negative numbers are put in brackets.", "f(3) == '3'", "f(-3) == '(3)'", "negative numbers"),
        ("An empty list has the mean 0.", "f([1]) == 1", "f([]) == 0", "empty input"),
        ("Line breaks become spaces.", "f('a b')", "f('a\\nb')", "line breaks"),
        (
            "There is one hyphen for each run of other signs.",
            "f('Green Hill') == 'green-hill'",
            "f('a, b') == 'a-b'",
            "runs of signs",
        ),
        ("Several spaces become one.", "f('a b', 'c') == 1", "f('a  b') == 1", "runs of signs"),
        ("Leading and trailing spaces are dropped.", "f('a b', 'c')", "f(' a') == 'a'", "spaces around"),
        ("Lists of any depth become one.", "f([1, [2]]) == [1, 2]", "f([1, [2, [3]]]) == [1, 2, 3]", "any depth"),
        ("Names are found in any case.", "f(['Ann', 'Bob'], 'nn')", "f(['Ann'], 'a')", "letters in any case"),
        ("Ranges are joined, wherever they stand.", "f([(1, 3), (2, 5)])", "f([(2, 5), (1, 3)])", "in any order"),
        ("The smallest is found in any order.", "f([1, 2]) == 1", "f([2, 1]) == 1", "in any order"),
        ("It is the first index of the price.", "f([1, 3, 5], 3) == 1", "f([1, 3, 3], 3) == 1", "first or last"),
        (
            "Words of the same frequency come by alphabet.",
            "f(['a', 'b', 'c'])",
            "f(['c', 'a', 'b', 'b'])",
            "equally often",
        ),
        (ORDER, "f(['a', 'b', 'a']) == ['a', 'b']", "f([3, 1, 3]) == [3, 1]", "an order that is kept"),
    ],
)
def test_a_kind_of_input_that_no_test_has_is_told(criterion: str, plain: str, tried: str, told: str) -> None:
    asked = [Criterion("AC2", criterion)]
    (found,) = untried(asked, {"test_a.py": f"def test_a():\n    assert {plain}\n".encode()})
    assert found.startswith("AC2: it speaks of ")
    assert told in found
    assert untried(asked, {"test_a.py": f"def test_a():\n    assert {tried}\n".encode()}) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The list is not empty.",
        "A non-empty text is kept.",
        "Orders are kept for a year.",
        "Duplicates are refused.",
        "It runs of itself in any case, later.",
    ],
)
def test_criteria_that_ask_for_no_such_input_are_left_alone(text: str) -> None:
    assert untried([Criterion("AC1", text)], {"test_a.py": b"def test_a():\n    assert f([1, 2]) == 3\n"}) == ()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.go", "package a\n\nfunc Turned(text string) string {\n\tsigns := []byte(text)\n\treturn g(signs)\n}\n"),
        ("a.rs", "pub fn turned(text: &str) -> String {\n    g(text.bytes().rev())\n}\n"),
        ("a.php", "<?php\nfunction turned($text) { return strrev($text); }\n"),
    ],
)
def test_bytes_where_characters_are_asked_for_are_told(path: str, code: str) -> None:
    asked, plain = [Criterion("AC1", "The characters are in the reverse order.")], b'want("abc", "cba")'
    (told,) = of_bytes(asked, {"a_test": plain}, {}, {path: code.encode()})
    assert told.startswith("AC1: it speaks of characters, the code goes by bytes")
    assert of_bytes(asked, {"a_test": "want('äb', 'bä')".encode()}, {}, {path: code.encode()}) == ()
    assert of_bytes(asked, {"a_test": plain}, {path: code.encode()}, {path: code.encode()}) == ()
    assert of_bytes([Criterion("AC1", "The text is turned.")], {"a_test": plain}, {}, {path: code.encode()}) == ()
    assert of_bytes(asked, {"a_test": plain}, {}, {"a.py": code.encode(), "a.go": b"write(path, []byte(text))"}) == ()


def test_nothing_is_told_without_tests_or_of_a_goal_that_stands_for_criteria() -> None:
    assert untried([Criterion("AC1", ORDER)], {}) == ()
    assert untried([Criterion("AC1", ORDER, implied=True)], {"test_a.py": b"assert f([1, 2]) == [1, 2]\n"}) == ()


@pytest.mark.parametrize(
    ("path", "base", "head", "names"),
    [
        ("a.py", "ROUNDS = 100\nSIZE = 3\n", "ROUNDS = 1\nSIZE = 3\n", ("ROUNDS",)),
        ("a.py", "ROUNDS: int = 100\n", "ROUNDS: int = 1\n", ("ROUNDS",)),
        ("a.js", "export const rounds = 100;\n", "export const rounds = 1;\n", ("rounds",)),
        ("a.py", "__version__ = '1.0'\n", "__version__ = '1.1'\n", ()),
        ("a.py", "import a\n", "import b\n", ()),
        ("a.py", "A = 1\n", "A = 1\nB = 2\n", ()),
    ],
)
def test_names_that_have_another_value(path: str, base: str, head: str, names: tuple[str, ...]) -> None:
    (change,) = changes({path: base.encode()}, {path: head.encode()})
    assert revalued(change) == names
