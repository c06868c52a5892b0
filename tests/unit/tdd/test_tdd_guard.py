"""What gets at the test runner is told from ordinary tests and code."""

from __future__ import annotations

import pytest

from worker_agent.tdd.judging.guard import tampering

TEST, CODE = "tests/test_a.py", "app/a.py"
JAVASCRIPT_TEST, JAVASCRIPT_CODE = "test/a.test.js", "src/a.js"


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("pytest.ini", "[pytest]\n", "how tests are run"),
        ("sub/vitest.config.ts", "", "how tests are run"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-x'\n", "the part that says how"),
        ("setup.cfg", "[tool:pytest]\naddopts = -x\n", "the part that says how"),
        ("tox.ini", "not an ini file", "the part that says how"),
        ("package.json", '{"scripts": {"test": "true"}}', "the part that says how"),
        ("package.json", '{"jest": {"setupFiles": ["./x.js"]}}', "the part that says how"),
        ("pytest.py", "", "in place of"),
        ("src/_pytest/runner.py", "", "in place of"),
        ("app/late.pth", "import app", "in place of"),
        ("conftest.py", "def pytest_runtest_call(item): pass\n", "pytest_runtest_call"),
        ("conftest.py", "import pytest\n\n@pytest.fixture(autouse=True)\ndef a(): pass\n", "autouse"),
        (TEST, "import _pytest.reports\n", "inside of the test runner"),
        (TEST, "from atexit import register\n", "runs at exit"),
        (TEST, "from os import _exit\n", "ends the run"),
        (TEST, "import pytest\n\ndef test_a():\n    pytest.exit('')\n", "pytest.exit"),
        (TEST, "pytest_plugins = ['app.green']\n", "pytest_plugins"),
        (TEST, "def test_a(pytestconfig):\n    pytestconfig.option.xmlpath\n", "xmlpath"),
        (CODE, "import os\nTESTED = 'PYTEST_CURRENT_TEST' in os.environ\n", "report or state"),
        (CODE, "import pytest\n", "imports the test runner"),
        (JAVASCRIPT_TEST, "process.on('exit', () => {});\n", "process.on("),
        (JAVASCRIPT_CODE, "if (import.meta.vitest) {}\n", "import.meta.vitest"),
    ],
)
def test_it_is_refused_when_it_is_new_and_allowed_when_a_person_listed_it(path: str, content: str, words: str) -> None:
    found = tampering({}, {path: content.encode()}, ())
    assert found
    assert all(sentence.startswith(f"{path}") for sentence in found)
    assert words in " ".join(found)
    assert tampering({}, {path: content.encode()}, (path,)) == ()


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'a'\ndependencies = ['b']\n"),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest", "build": "x"}}'),
        (TEST, "import atexit\n", "import atexit\n\ndef test_b():\n    assert True\n"),
        (TEST, "", "import sys\n\ndef test_b(monkeypatch):\n    monkeypatch.setattr(sys, 'argv', ['a'])\n"),
        (TEST, "", "import os\n\ndef test_b():\n    assert os.getpid()\n"),
        ("tests/conftest.py", "", "import pytest\n\n@pytest.fixture\ndef names(): return ['a']\n"),
        (CODE, "", "import sys\n\nif 'json' in sys.modules:\n    print(sys.argv)\n"),
        (JAVASCRIPT_CODE, "", "process.exit(1);\n"),
    ],
)
def test_ordinary_changes_and_what_was_there_before_are_left_alone(path: str, before: str, after: str) -> None:
    assert tampering({path: before.encode()}, {path: after.encode()}, ()) == ()


def test_a_configuration_file_that_is_planned_may_change_but_not_what_it_says_of_tests() -> None:
    after = {"vite.config.js": b"export default {};\n", "pyproject.toml": b"[tool.pytest]\nx = 1\n"}
    assert [sentence.partition(":")[0] for sentence in tampering({}, after, (), after)] == ["pyproject.toml"]
