"""RSpec and minitest on a small project with the real Ruby: an honest cycle, what is missing, and cheats."""

from __future__ import annotations

from pathlib import Path

import pytest
import ruby_corpus as corpus
from ruby_corpus import CODE, FILES, NAMED, NEW, OLD, PASSED, WORKS
from toolchain import Checkout, needed

from worker_agent.tdd.runners.minitest_runner import MinitestRunner
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.rspec_runner import RspecRunner
from worker_agent.tdd.runners.runner import Runner, Selection
from worker_agent.tdd.runners.test_run import FailureKind

RUNNERS: dict[str, tuple[Runner, str]] = {
    "rspec": (RspecRunner(), "rspec"),
    "minitest": (MinitestRunner(), "rake test"),
}
KINDS = {"first": FailureKind.FIRST_PARTY_IMPORT, "third": FailureKind.THIRD_PARTY_IMPORT, "syntax": FailureKind.SYNTAX}


@pytest.fixture(params=list(RUNNERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path, name: str) -> Checkout:
    runner, command = RUNNERS[name]
    needed("ruby", command.split()[0])
    made = Checkout(tmp_path, runner, command)
    made.write(FILES[name])
    return made


async def test_an_honest_cycle(project: Checkout, name: str) -> None:
    base = await project.run()
    assert (base.finished, base.code, set(base.passed)) == (True, 0, PASSED[name]), base.output_tail

    red = await project.run({NEW[name]: corpus.takes_one(name)})
    assert red.broken_files[NEW[name]].kind is FailureKind.FIRST_PARTY_IMPORT, red.broken_files[NEW[name]].message
    assert "lib/discount" in red.broken_files[NEW[name]].first_line
    assert red.finished, red.output_tail

    green = await project.run({CODE: WORKS})
    assert (green.finished, set(green.passed)) == (True, PASSED[name] | {NAMED[name]}), green.output_tail

    damaged = await project.run({CODE: WORKS.replace("- 1", "- 2")})
    result = damaged.results[NAMED[name]]
    assert damaged.finished
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True), result.message


@pytest.mark.parametrize("case", corpus.INSIDE)
async def test_what_fails_inside_a_test_is_no_assertion(project: Checkout, name: str, case: str) -> None:
    body, asserted = corpus.INSIDE[case]
    run = await project.run({NEW[name]: corpus.new_file(name, body)})
    result = run.results[NAMED[name]]
    assert (run.finished, result.kind, result.asserted) == (True, FailureKind.ASSERTION_OR_EXCEPTION, asserted), (
        result.message
    )
    assert run.passed == PASSED[name]


@pytest.mark.parametrize("case", corpus.LOADING)
async def test_why_a_file_could_not_be_loaded(project: Checkout, name: str, case: str) -> None:
    head, kind = corpus.LOADING[case]
    run = await project.run({NEW[name]: corpus.takes_one(name, head)}, Selection(frozenset({NEW[name]})))
    assert run.finished, run.output_tail
    assert run.broken_files[NEW[name]].kind is KINDS[kind], run.broken_files[NEW[name]].message


async def test_blanks_in_the_path_of_the_work_directory(tmp_path: Path, name: str) -> None:
    runner, command = RUNNERS[name]
    needed("ruby", command.split()[0])
    place = tmp_path / "of two words"
    place.mkdir()
    made = Checkout(place, runner, command)
    run = await made.run(FILES[name])
    assert (run.finished, set(run.passed)) == (True, PASSED[name]), run.output_tail


async def test_a_block_of_minitest_keeps_its_name_when_another_comes_before_it(tmp_path: Path) -> None:
    needed("ruby", "rake")
    made = Checkout(tmp_path, *RUNNERS["minitest"])
    head = "require 'minitest/autorun'\n\nmodule Shop; end\nclass Shop::Cart; end\n\ndescribe Shop::Cart do\n"
    old = "  it('adds') { _(1 + 1).must_equal 2 }\nend\n"
    plain = "\nclass YearTest < Minitest::Test\n  def test_2024_is_old\n    assert_equal 2, 2\n  end\nend\n"
    kept = {"test/cart_test.rb::Shop::Cart::test_adds", "test/cart_test.rb::YearTest::test_2024_is_old"}
    base = await made.run({**FILES["minitest"], "test/cart_test.rb": head + old + plain})
    assert kept <= base.passed, base.output_tail

    run = await made.run({"test/cart_test.rb": f"{head}  it('is new') {{ _(1).must_equal 2 }}\n{old}{plain}"})
    assert kept <= run.passed
    assert run.failed == {"test/cart_test.rb::Shop::Cart::test_is new"}


async def test_all_selected_files_are_lost_with_one(project: Checkout, name: str) -> None:
    lost = {NEW[name], OLD[name]}
    run = await project.run({NEW[name]: corpus.takes_one(name)}, Selection(frozenset(lost)))
    assert (run.finished, set(run.broken_files)) == (True, lost)


async def test_only_the_selected_files_run(project: Checkout, name: str) -> None:
    project.write({NEW[name]: corpus.takes_one(name), CODE: WORKS})
    run = await project.run(selection=Selection(frozenset({NEW[name]})))
    assert (run.finished, set(run.passed)) == (True, {NAMED[name]}), run.output_tail


async def test_control_tests_are_reported_as_they_must_be(project: Checkout, name: str) -> None:
    run = await project.controlled(OLD[name])
    assert (run.controlled, run.code, set(run.passed)) == (True, 0, PASSED[name]), run.output_tail


async def test_patched_assertions_are_noticed(project: Checkout, name: str) -> None:
    text = FILES[name][OLD[name]].replace("require_relative '../lib/money'\n", "require_relative '../lib/money'\n@@")
    project.write({OLD[name]: text.replace("@@", corpus.PATCHED[name])})
    assert (await project.controlled(OLD[name])).controlled is False


@pytest.mark.parametrize("way", corpus.LEAVES)
async def test_a_test_that_ends_the_process_proves_nothing(project: Checkout, name: str, way: str) -> None:
    run = await project.run({NEW[name]: corpus.new_file(name, corpus.LEAVES[way])})
    assert not run.finished or NAMED[name] in run.failed
    assert NAMED[name] not in run.passed


async def test_a_report_that_a_test_writes_itself_is_not_believed(project: Checkout, name: str) -> None:
    body = (
        "path = ENV['ENGINE_TEST_REPORT'] || ARGV[ARGV.index('--out') + 1]; "
        'File.write(path, \'{"cases": [], "ended": true, "examples": [], "summary": {}}\'); raise \'no\''
    )
    run = await project.run({NEW[name]: corpus.new_file(name, body)})
    assert not run.finished or NAMED[name] in run.failed


def test_the_runner_is_detected(name: str) -> None:
    files = {path: text.encode() for path, text in FILES[name].items()}
    assert choose(None, None, files, files.get).runner.name == name
