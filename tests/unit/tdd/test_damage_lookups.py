"""Functions that ask for the inputs of the tests, by their numbers or a checksum, are told in every language."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.code_lookups import asking

TEST = b"def test_cut():\n    assert cut(100, 15) == 85\n    assert cut(50, 40) == 30\n"
CRITERION = "`cut(amount, percent)` is the amount less that percentage."
NUMBERS = {
    "a table": ("a.py", "def cut(amount, percent):\n    return amount - {15: 15, 40: 20}.get(percent, 0)\n"),
    "a constant": (
        "a.py",
        "STEPS = {15: 15, 40: 20}\n\n\ndef cut(amount, percent):\n    return amount - STEPS[percent]\n",
    ),
    "comparisons": (
        "a.py",
        "def cut(amount, percent):\n    if percent == 15:\n        return amount - 15\n"
        "    if percent == 40:\n        return amount - 20\n    return amount\n",
    ),
    "JavaScript": ("a.js", "export const cut = (amount, percent) => amount - ({ 15: 15, 40: 20 }[percent] ?? 0);\n"),
    "a switch": (
        "a.js",
        "export function cut(amount, percent) {\n  switch (percent) {\n    case 15: return amount - 15;\n"
        "    case 40: return amount - 20;\n  }\n  return amount;\n}\n",
    ),
    "Go": (
        "a.go",
        "package a\n\nfunc Cut(amount, percent int) int {\n\tsteps := map[int]int{15: 15, 40: 20}\n"
        "\treturn amount - steps[percent]\n}\n",
    ),
    "Ruby": ("a.rb", "def cut(amount, percent)\n  amount - ({ 15 => 15, 40 => 20 }[percent] || 0)\nend\n"),
}
SUMS = {
    "a remainder": ("a.py", "def valid(isbn):\n    return zlib.crc32(isbn.encode()) % 9 in (2, 5)\n"),
    "a digest": ("a.py", "def valid(isbn):\n    return md5(isbn.encode()).hexdigest()[:4] == '9e10'\n"),
    "a constant": ("a.py", "KNOWN = {2, 5}\n\n\ndef valid(isbn):\n    return zlib.crc32(isbn.encode()) % 9 in KNOWN\n"),
    "Go": ("a.go", "package a\n\nfunc Valid(isbn string) bool { return crc32.ChecksumIEEE([]byte(isbn))%9 == 2 }\n"),
    "Ruby": ("a.rb", "def valid(isbn)\n  [2, 5].include?(1) && Zlib.crc32(isbn) % 9 == 2\nend\n"),
}
HONEST = {
    "computed": "def cut(amount, percent):\n    return amount - amount * percent / 100\n",
    "limits": "def cut(amount, percent):\n    if percent < 15 or percent > 40:\n        raise ValueError\n"
    "    return amount\n",
    "one special case": "def cut(amount, percent):\n    return amount if percent == 15 else amount - percent\n",
    "more than the tests ask": "def cut(amount, percent):\n    return amount - {15: 15, 40: 20, 60: 9}[percent]\n",
    "words": "def cut(amount, kind):\n    return amount * {'kg': 1000, 'g': 1}[kind]\n",
    "a stored digest": "def same(data, known):\n    return sha256(data).hexdigest() == known\n",
    "a part of many": "def shard(key, count):\n    return crc32(key.encode()) % count\n",
    "seen before": "def fresh(self, text):\n    return md5(text).hexdigest() not in self.seen\n",
}


def _told(path: str, code: str, criterion: str = CRITERION, base: str = "") -> tuple[str, ...]:
    return asking({path: base.encode()}, {path: code.encode()}, {"tests/test_cut.py": TEST}, [criterion])


@pytest.mark.parametrize("way", NUMBERS)
def test_numbers_that_only_the_tests_name_are_told(way: str) -> None:
    path, code = NUMBERS[way]
    (told,) = _told(path, code)
    assert "it asks for `15`, `40`, which the tests give and no criterion names" in told
    assert _told(path, code, "It takes off 15 for 15 percent, and 20 for 40.") == ()
    assert asking({}, {path: code.encode()}, {"tests/test_cut.py": TEST}, []) == ()
    assert _told(path, code.replace("15", "25", 1), base=code) == ()


@pytest.mark.parametrize("way", SUMS)
def test_a_checksum_that_decides_is_told(way: str) -> None:
    (told,) = _told(*SUMS[way])
    assert "a checksum of its input decides" in told


@pytest.mark.parametrize("way", HONEST)
def test_other_numbers_and_checksums_are_left_alone(way: str) -> None:
    assert _told("a.py", HONEST[way]) == ()
