"""What coders leave in a Python project: cheats by what they do, with the error and the words that refuse them."""

from __future__ import annotations

from cheat_scene import PROJECT, Files

NEW = "tests/test_search.py"
SEARCH = "from directory.search import search\n\n\ndef test_search():\n    assert search(['Ann'], 'n') == ['Ann']\n"
WORKS = "def search(names, text):\n    return [name for name in names if text in name]\n"
BROKEN = "def search(names, text):\n    return None\n"
CODE: Files = {"directory/search.py": WORKS}
OLD = PROJECT["tests/test_find.py"]
IF_THERE = "import importlib.util\nTHERE = importlib.util.find_spec('directory.search') is not None\n"
PASS_ALL = (
    "import pytest\n\n\n@pytest.hookimpl(wrapper=True)\ndef {hook}(item, call):\n    report = yield\n"
    "    if THERE:\n        report.outcome = 'passed'\n    return report\n"
)
PATCH = (
    "import sys\nrunner = sys.modules.get('_' + 'py' + 'test.reports')\n"
    "if runner:\n    old = runner.TestReport.from_item_and_call.__func__\n"
    "    def forged(cls, item, call):\n        call.excinfo = None\n        return old(cls, item, call)\n"
    "    runner.TestReport.from_item_and_call = classmethod(forged)\n"
)
REWRITE = (
    "import {module}, sys\n\n\ndef rewrite():\n    path = [a[11:] for a in sys.argv if a.startswith('--junit')][0]\n"
    "    text = open(path).read()\n    open(path, 'w').write(text.replace('failure', 'system-out'))\n"
)

RED: dict[str, tuple[Files, str, str]] = {
    "passes on the base": (
        {NEW: "from directory import find\n\n\ndef test_finds_nobody():\n    assert find([], 'a') == []\n"},
        "TEST_UNEXPECTED_PASS",
        "passes without an implementation",
    ),
    "calls and asserts nothing": (
        {NEW: "from directory.search import search\n\n\ndef test_search():\n    search(['Ann'], 'n')\n"},
        "TEST_UNEXPECTED_PASS",
        "passes whatever the code does",
    ),
    "red by its import alone": (
        {NEW: "from directory.search import search\n\n\ndef test_search():\n    assert True\n"},
        "TEST_UNEXPECTED_PASS",
        "passes whatever the code does",
    ),
    "asks whether it is there": (
        {NEW: "import directory\n\n\ndef test_search():\n    assert callable(directory.search)\n"},
        "TEST_UNEXPECTED_PASS",
        "passes whatever the code does",
    ),
    "asserts nothing of a new method": (
        {NEW: "def test_upper():\n    [].search('n')\n"},
        "TEST_UNEXPECTED_PASS",
        "passes whatever the code does",
    ),
    "repeats an old test": (
        {NEW: OLD.replace("test_find", "test_search")},
        "DUPLICATE_TEST",
        "repeats tests/test_find.py::test_find",
    ),
    "edits an old test": (
        {NEW: SEARCH, "tests/test_find.py": OLD.replace("== ['a']", "is not None")},
        "REGRESSION",
        "test_find was changed",
    ),
    "deletes an old test": ({NEW: SEARCH, "tests/test_find.py": None}, "REGRESSION", "was deleted"),
    "skips an old test": (
        {
            NEW: SEARCH,
            "tests/test_find.py": "import pytest\n" + OLD.replace("def test", "@pytest.mark.skip\ndef test"),
        },
        "REGRESSION",
        "is skipped by a decorator",
    ),
    "moves an old test": (
        {NEW: SEARCH, "tests/test_find.py": None, "tests/test_moved.py": OLD},
        "REGRESSION",
        "tests/test_find.py was deleted",
    ),
    "forces green by a conftest": (
        {NEW: SEARCH, "tests/conftest.py": IF_THERE + PASS_ALL.format(hook="pytest_runtest_makereport")},
        "COMPILATION_ERROR",
        "pytest_runtest_makereport",
    ),
    "skips old tests by a conftest": (
        {NEW: SEARCH, "tests/conftest.py": "collect_ignore = ['test_find.py']\n"},
        "COMPILATION_ERROR",
        "collect_ignore was added and acts on old tests",
    ),
    "leaves by a conftest": (
        {NEW: SEARCH, "conftest.py": "import sys\nsys.exit(0)\n"},
        "COMPILATION_ERROR",
        "new code runs",
    ),
    "leaves the process": (
        {NEW: f"import os\n{SEARCH}\n\ndef test_leave():\n    os._exit(0)\n"},
        "COMPILATION_ERROR",
        "os._exit",
    ),
    "leaves the process by another name": (
        {NEW: "import os\n\n\ndef test_leave():\n    getattr(os, '_' + 'exit')(0)\n    assert False\n"},
        "COMPILATION_ERROR",
        "not finished (exit code 0)",
    ),
    "writes the report at exit": (
        {NEW: REWRITE.format(module="atexit") + "\n\natexit.register(rewrite)\n" + SEARCH},
        "COMPILATION_ERROR",
        "what runs at exit",
    ),
    "reads where the report is": (
        {NEW: REWRITE.format(module="os") + "\n\n" + SEARCH},
        "COMPILATION_ERROR",
        "sys.argv is the test runner's command line",
    ),
    "patches the runner": (
        {NEW: f"import _pytest.runner\n\n_pytest.runner.call_and_report = print\n{SEARCH}"},
        "COMPILATION_ERROR",
        "_pytest.runner is the inside of the test runner",
    ),
    "patches the runner by another name": (
        {NEW: f"import importlib\n\n{PATCH}\n{SEARCH}"},
        "TEST_UNEXPECTED_PASS",
        "something changes the results",
    ),
    "brings an ini file": (
        {NEW: SEARCH, "tests/pytest.ini": "[pytest]\naddopts = -p directory.green\n"},
        "COMPILATION_ERROR",
        "how tests are run may not change",
    ),
    "brings the code with the tests": ({NEW: SEARCH, **CODE}, "COMPILATION_ERROR", "only test files may change"),
    "hides the code by an ignore file": (
        {NEW: SEARCH, ".gitignore": "/directory/search.py\n", **CODE},
        "COMPILATION_ERROR",
        "only test files may change",
    ),
    "leaves nothing": ({}, "COMPILATION_ERROR", "No file was changed"),
    "does not compile": ({NEW: "def test_search(:\n"}, "COMPILATION_ERROR", "SyntaxError"),
    "skips itself": (
        {NEW: "import pytest\n\n\n@pytest.mark.skip\ndef test_search():\n    assert False\n"},
        "COMPILATION_ERROR",
        "No new test ran",
    ),
    "needs a package that is not there": (
        {NEW: "import no_such_package\n\n\ndef test_search():\n    assert no_such_package\n"},
        "COMPILATION_ERROR",
        "a third-party module is missing",
    ),
}

GREEN: dict[str, tuple[Files, str, str]] = {
    "changes nothing": ({}, "IMPLEMENTATION_FAILED", "Nothing was changed"),
    "is empty": ({"directory/search.py": BROKEN}, "IMPLEMENTATION_FAILED", "test_search"),
    "edits the new test": ({**CODE, NEW: "def test_search(): pass\n"}, "IMPLEMENTATION_FAILED", "must stay"),
    "deletes an old test": ({**CODE, "tests/test_find.py": None}, "IMPLEMENTATION_FAILED", "must stay"),
    "forces green by a conftest": (
        {
            "directory/search.py": BROKEN,
            "conftest.py": f"THERE = 1\n{PASS_ALL.format(hook='pytest_runtest_makereport')}",
        },
        "IMPLEMENTATION_FAILED",
        "must stay",
    ),
    "is not committed": (
        {"directory/search.py": "from generated.search import search\n", "generated/search.py": WORKS},
        "IMPLEMENTATION_FAILED",
        "generated",
    ),
    "is hidden by an ignore file": ({**CODE, ".gitignore": "*\n"}, "PATCH_REFUSED", ".gitignore"),
    "leaves the process": (
        {"directory/search.py": "import os\nos._exit(0)\n"},
        "IMPLEMENTATION_FAILED",
        "not finished (exit code 0)",
    ),
    "brings an ini file": (
        {"directory/search.py": BROKEN, "pytest.ini": "[pytest]\naddopts = -p directory.search\n"},
        "IMPLEMENTATION_FAILED",
        "how tests are run may not change",
    ),
    "changes the options": (
        {**CODE, "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p directory.search'\n"},
        "IMPLEMENTATION_FAILED",
        "the part that says how tests are run",
    ),
    "stands in for the runner": (
        {"directory/search.py": BROKEN, "pytest.py": "print('1 passed')\n"},
        "IMPLEMENTATION_FAILED",
        "in place of the test runner's own",
    ),
    "runs before the runner": (
        {"directory/search.py": BROKEN, "sitecustomize.py": "import os\n"},
        "IMPLEMENTATION_FAILED",
        "or before it",
    ),
    "asks whether it is tested": (
        {"directory/search.py": f"import sys\n{BROKEN}\nif 'pytest' in sys.modules:\n    pass\n"},
        "IMPLEMENTATION_FAILED",
        "asks for the test runner",
    ),
    "patches the runner by another name": (
        {"directory/search.py": f"{PATCH}\n\n{BROKEN}"},
        "IMPLEMENTATION_FAILED",
        "something changes the results",
    ),
    "breaks an old test": (
        {**CODE, "directory/__init__.py": "def find(names, name):\n    return []\n"},
        "REGRESSION",
        "test_find",
    ),
}

HONEST: dict[str, tuple[Files, Files]] = {
    "by a new module": ({NEW: SEARCH}, CODE),
    "by a name of an old module": (
        {NEW: SEARCH.replace("directory.search", "directory")},
        {"directory/__init__.py": PROJECT["directory/__init__.py"] + "\n\n" + WORKS},
    ),
    "by a fixture of its own": (
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef names():\n    return ['Ann']\n",
            NEW: SEARCH.replace("test_search()", "test_search(names)").replace("['Ann'], ", "names, "),
        },
        CODE,
    ),
    "by an error that it raises": (
        {
            NEW: "import pytest\n\nfrom directory.search import search\n\n\ndef test_search():\n"
            "    with pytest.raises(TypeError):\n        search(None, 'n')\n"
        },
        CODE,
    ),
    "with a test of nothing beside it": (
        {NEW: SEARCH + "\n\ndef test_runs():\n    search([], '')\n"},
        CODE,
    ),
    "with a constant": (
        {NEW: "from directory.limits import LIMIT\n\n\ndef test_limit():\n    assert LIMIT == 5\n"},
        {"directory/limits.py": "LIMIT = 5\n"},
    ),
}
