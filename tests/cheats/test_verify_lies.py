"""The findings of `verify` on commits and pull requests with false claims: exit code 1, and each false claim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from verify_scene import BASE, CODE, TEST, examined

PASSING = {"tests/test_new.py": "from greet import greet\n\n\ndef test_new():\n    assert greet('Ada')\n"}
BROKEN = {"greet.py": "def greet(name):\n    return f'Hello, {name}!' if name == 'a' else f'Hello, {name}'\n"}
WEAKER = {"tests/test_old.py": "def test_old():\n    pass\n"}
FORCED = {
    "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n"
    "    made = yield\n    made.get_result().outcome = 'passed'\n"
}
HOLLOW = {"tests/test_new.py": "def test_new():\n    import hello\n\n\n", "hello.py": ""}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({**PASSING, **CODE}, {"red": "passes without an implementation"}),
        ({**TEST}, {"green": "test_new"}),
        ({**TEST, **BROKEN, **WEAKER}, {"regression": "test_old: it notices less than before"}),
        ({**TEST, **FORCED}, {"red": "Control tests"}),
        ({**CODE}, {"red": "No new test ran"}),
        (HOLLOW, {"weak": "test_new: nothing in the change can be damaged"}),
    ],
    ids=["passes on the base", "not green", "old test weakened", "runner forced", "no test", "proves nothing"],
)
async def test_a_lie_is_found_and_named(
    tmp_path: Path, change: Mapping[str, str], what: Mapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = await examined(tmp_path, BASE, change, capsys=capsys)
    assert code == 1
    for name, word in what.items():
        assert any(word in sentence for sentence in found[name]), found


async def test_what_worked_and_does_not_any_more_is_a_regression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"greet.py": "def greet(name):\n    return f'Hello, {name}' if name == 'Ada' else ''\n"}
    code, found = await examined(tmp_path, BASE, {**TEST, **broken}, capsys=capsys)
    assert code == 1
    assert any("tests/test_old.py::test_old" in sentence for sentence in found["regression"])
