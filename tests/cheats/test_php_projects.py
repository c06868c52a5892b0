"""PHPUnit on a small project with the real PHP: an honest cycle, what is missing, and cheats."""

from __future__ import annotations

from pathlib import Path

import php_corpus as corpus
import pytest
from php_corpus import BASE, CODE, NAMED, NEW, OLD, PASSED, TAKES_ONE, WORKS
from toolchain import Checkout, needed

from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind

KINDS = {
    "first": FailureKind.FIRST_PARTY_IMPORT,
    "third": FailureKind.THIRD_PARTY_IMPORT,
    "syntax": FailureKind.SYNTAX,
    "other": FailureKind.ASSERTION_OR_EXCEPTION,
}


@pytest.fixture
def project(tmp_path: Path) -> Checkout:
    needed("php", "phpunit")
    made = Checkout(tmp_path, PhpunitRunner(), "phpunit")
    made.write(BASE)
    return made


async def test_an_honest_cycle(project: Checkout) -> None:
    base = await project.run()
    assert (base.finished, base.code, set(base.passed)) == (True, 0, PASSED), base.output_tail

    red = await project.run({NEW: corpus.new_file(TAKES_ONE)})
    result = red.results[NAMED]
    assert (red.finished, result.kind, result.asserted) == (True, FailureKind.FIRST_PARTY_IMPORT, False)
    assert result.first_line == 'Error: Class "App\\Discount" not found'
    assert red.passed == PASSED

    green = await project.run({CODE: WORKS})
    assert (green.finished, set(green.passed)) == (True, PASSED | {NAMED})

    damaged = await project.run({CODE: WORKS.replace("- 1", "- 2")})
    result = damaged.results[NAMED]
    assert (damaged.finished, result.kind, result.asserted) == (True, FailureKind.ASSERTION_OR_EXCEPTION, True)
    assert result.first_line == "Failed asserting that 1 is identical to 2."


@pytest.mark.parametrize("case", corpus.INSIDE)
async def test_why_a_test_failed(project: Checkout, case: str) -> None:
    body, kind = corpus.INSIDE[case]
    run = await project.run({NEW: corpus.new_file(body)})
    result = run.results[NAMED]
    assert (run.finished, result.kind, result.asserted) == (True, KINDS[kind], False), result.message


@pytest.mark.parametrize("case", corpus.LOST)
async def test_a_file_that_cannot_be_loaded_loses_the_whole_run(project: Checkout, case: str) -> None:
    text, kind = corpus.LOST[case]
    run = await project.run({NEW: text})
    assert (run.finished, run.code, set(run.broken_files)) == (True, 255, {NEW, OLD}), run.output_tail
    assert run.broken_files[NEW].kind is KINDS[kind], run.broken_files[NEW].message


async def test_a_provider_that_fails_is_that_of_its_test(project: Checkout) -> None:
    provider = (
        "    public static function rows(): array { return [[new \\App\\Purse()]]; }\n    /** @dataProvider rows */\n"
    )
    run = await project.run({NEW: corpus.new_file("$this->assertTrue(true);", more=provider)})
    assert run.finished
    assert run.results[NAMED].kind is FailureKind.FIRST_PARTY_IMPORT, run.results[NAMED].message


async def test_a_test_without_an_assertion_proves_nothing(project: Checkout) -> None:
    run = await project.run({NEW: corpus.new_file("")})
    assert (run.finished, set(run.passed), run.failed) == (True, PASSED, frozenset())


async def test_only_the_selected_tests_run(project: Checkout) -> None:
    project.write({NEW: corpus.new_file(TAKES_ONE), CODE: WORKS})
    run = await project.run(selection=Selection(frozenset({NEW})))
    assert (run.finished, set(run.passed)) == (True, {NAMED})
    one = await project.run(selection=Selection(frozenset({OLD, NEW}), frozenset({f"{OLD}::MoneyTest::testAdds"})))
    assert (one.finished, set(one.passed)) == (True, {f"{OLD}::MoneyTest::testAdds"})


async def test_control_tests_are_reported_as_they_must_be(project: Checkout) -> None:
    run = await project.controlled(OLD)
    assert (run.controlled, run.code, set(run.passed)) == (True, 0, PASSED), run.output_tail


async def test_patched_assertions_are_noticed(project: Checkout) -> None:
    text = BASE[OLD].replace("use PHPUnit\\Framework\\TestCase;\n", "require_once __DIR__ . '/TestCase.php';\n")
    project.write({"tests/TestCase.php": corpus.PATCHED, OLD: text})
    assert (await project.controlled(OLD)).controlled is False


async def test_a_test_that_ends_the_process_proves_nothing(project: Checkout) -> None:
    run = await project.run({NEW: corpus.new_file("exit(0);")})
    assert (run.finished, run.code, run.passed) == (False, 0, frozenset())


async def test_a_report_that_a_test_writes_itself_is_not_believed(project: Checkout) -> None:
    run = await project.run({NEW: corpus.new_file(corpus.REWRITES)})
    assert not run.finished
    assert NAMED not in run.passed


async def test_a_report_of_the_command_itself_does_not_replace_ours(tmp_path: Path) -> None:
    needed("php", "phpunit")
    made = Checkout(tmp_path, PhpunitRunner(), "phpunit --log-junit own.xml --order-by=random")
    made.write(BASE)
    run = await made.run()
    assert (run.finished, run.code, set(run.passed)) == (True, 0, PASSED), run.output_tail


def test_the_runner_is_detected() -> None:
    files = {path: text.encode() for path, text in BASE.items()}
    assert (choose(None, None, files, files.get).runner.name, choose(None, None, files, files.get).test_command) == (
        "phpunit",
        "phpunit",
    )
