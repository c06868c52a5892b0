"""JavaScript's real runners on a small package: an honest cycle, what is missing, what is selected, and cheats."""

from __future__ import annotations

import shlex
from pathlib import Path

import node_projects as corpus
import pytest
from node_projects import CODE, NEW, OLD, PASSED, RUNNERS
from node_tools import offer, tools
from toolchain import Checkout, needed, outcomes

from worker_agent.tdd.runners.javascript import JavaScriptRunner
from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.mocha_runner import MochaRunner
from worker_agent.tdd.runners.node_runner import NodeRunner
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind, TestRun
from worker_agent.tdd.runners.vitest_runner import VitestRunner

_RUNNERS: dict[str, JavaScriptRunner] = {
    "vitest": VitestRunner(),
    "jest": JestRunner(),
    "mocha": MochaRunner(),
    "node": NodeRunner(),
}


@pytest.fixture(params=RUNNERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def package(tmp_path: Path, name: str) -> Checkout:
    needed("node")
    command = "node --test"
    if name != "node":
        modules = tools()
        offer(modules, tmp_path)
        command = f"{shlex.quote(str(modules / '.bin' / name))}{' run' if name == 'vitest' else ''}"
    made = Checkout(tmp_path, _RUNNERS[name], command)
    made.write(corpus.base(name))
    return made


async def test_an_honest_cycle(package: Checkout, name: str) -> None:
    base = await package.run()
    assert (base.finished, base.code, outcomes(base)) == (True, 0, PASSED), base.output_tail

    red = await package.run({NEW: corpus.new_test(name)})
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT, red.broken_files[NEW].message
    assert "search.js" in red.broken_files[NEW].first_line
    assert red.finished, red.output_tail
    if name != "mocha":  # a file that cannot be loaded ends its whole run
        assert red.passed == set(PASSED)

    green = await package.run(corpus.works(name))
    assert green.finished
    assert green.passed == {*PASSED, f"{NEW}::searches"}

    damaged = await package.run({CODE: corpus.works(name)[CODE].replace("name.includes(text)", "false")})
    result = damaged.results[f"{NEW}::searches"]
    assert damaged.finished
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True), result.message


async def test_a_name_that_a_module_does_not_have_is_missing(package: Checkout, name: str) -> None:
    run = await package.run({NEW: corpus.new_test(name, module="../src/find.js")}, Selection(frozenset({NEW})))
    assert run.finished, run.output_tail
    failed = run.broken(NEW) or run.results[f"{NEW}::searches"]
    expected = FailureKind.FIRST_PARTY_IMPORT if NEW in run.broken_files else FailureKind.ASSERTION_OR_EXCEPTION
    assert failed.kind is expected, failed.message
    assert not failed.asserted


async def test_the_package_may_import_itself(package: Checkout, name: str) -> None:
    run = await package.run({NEW: corpus.new_test(name, module="names/search")})
    assert run.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT, run.broken_files[NEW].message


async def test_a_package_of_somebody_else_is_no_name_of_ours(package: Checkout, name: str) -> None:
    run = await package.run({NEW: corpus.new_test(name, module="left-of-pad")})
    assert run.broken_files[NEW].kind is FailureKind.THIRD_PARTY_IMPORT, run.broken_files[NEW].message


async def test_only_the_selected_files_run(package: Checkout, name: str) -> None:
    package.write({NEW: corpus.new_test(name), **corpus.works(name), "test/deep/other.test.js": corpus.EXITS})
    run = await package.run(selection=Selection(frozenset({NEW})))
    assert run.finished, run.output_tail
    assert outcomes(run) == {f"{NEW}::searches": "passed"}


async def test_control_tests_are_reported_as_they_must_be(package: Checkout, name: str) -> None:
    run = await package.controlled(OLD)
    assert (run.controlled, run.code, outcomes(run)) == (True, 0, PASSED), run.output_tail


async def test_patched_assertions_are_noticed(package: Checkout, name: str) -> None:
    text = corpus.base(name)[OLD].replace("describe(", f"{corpus.PATCHED[name]}describe(", 1)
    package.write({OLD: text})
    run = await package.controlled(OLD)
    assert run.controlled is False


async def test_a_test_that_ends_the_process_proves_nothing(package: Checkout, name: str) -> None:
    run = await package.run({NEW: _headed(name, corpus.EXITS)})
    assert f"{NEW}::leaves" not in run.passed
    assert not run.finished or f"{NEW}::leaves" in run.failed


async def test_a_report_that_a_test_writes_itself_is_not_believed(package: Checkout, name: str) -> None:
    run = await package.run({NEW: _headed(name, corpus.REWRITES)})
    assert not run.finished or f"{NEW}::rewrites" in run.failed
    assert f"{NEW}::rewrites" not in run.passed


async def test_tests_see_no_arguments(package: Checkout, name: str) -> None:
    """Test files of a program with a command line read its arguments; few of them run in the runner's own process."""
    check = corpus.equal(name, "process.argv.slice(2)", "[]")
    text = _headed(name, f"it('has no arguments', () => {{ {check} }});\n")
    run = await package.run({NEW: text}, Selection(frozenset({NEW})))
    assert outcomes(run) == {f"{NEW}::has no arguments": "passed"}, run.output_tail


@pytest.mark.parametrize("name", ["vitest", "jest"])
async def test_an_assertion_of_ones_own_counts_as_one(package: Checkout, name: str) -> None:
    run = await package.run({NEW: corpus.custom_matcher(name)})
    result = run.results[f"{NEW}::holds"]
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True), result.message


async def test_a_file_with_a_syntax_error_is_told(package: Checkout, name: str) -> None:
    run = await package.run({NEW: "it('x', () => {\n"}, Selection(frozenset({NEW})))
    assert run.broken_files[NEW].kind is FailureKind.SYNTAX, run.broken_files[NEW].message


async def test_a_selection_that_matches_nothing_reports_nothing(package: Checkout) -> None:
    run: TestRun = await package.run(selection=Selection(frozenset({"test/nowhere.test.js"})))
    assert run.passed == frozenset()


def test_the_test_script_of_a_package_says_how_it_is_tested(name: str) -> None:
    script = {"vitest": "vitest run --coverage", "jest": "jest", "mocha": "mocha", "node": "node --test"}[name]
    package = f'{{"scripts": {{"test": "npm run lint && {script}", "lint": "eslint ."}}}}'.encode()
    choice = choose("npm test", None, ["package.json"], {"package.json": package}.get)
    assert choice.runner is not None
    assert choice.runner.name.startswith(name)
    assert choice.test_command == (script if name == "node" else f"npx --no {script}")


def _headed(name: str, test: str) -> str:
    return corpus.imported(name, "find", "../src/find.js") + test
