"""PHPUnit, RSpec, minitest, unittest, bats and dotnet: how they are called, and what their reports and outputs mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners.bats_runner import BatsRunner
from worker_agent.tdd.runners.dotnet_runner import DotnetRunner
from worker_agent.tdd.runners.minitest_runner import MinitestRunner
from worker_agent.tdd.runners.mocha_runner import MochaRunner
from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.rspec_runner import RspecRunner
from worker_agent.tdd.runners.runner import Invocation, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind
from worker_agent.tdd.runners.unittest_runner import UnittestRunner

PATHS = frozenset(
    {"tests/SumTest.php", "tests/MoreTest.php", "spec/sum_spec.rb", "lib/acme/sum.rb", "Tests/SumTests.cs"}
)


def _call(place: Path, *files: str, tests: tuple[str, ...] = ()) -> Invocation:
    selection = Selection(frozenset(files), frozenset(tests)) if files else None
    return Invocation(place / "report", Project(Path("/w"), PATHS), selection)


@pytest.mark.parametrize(
    ("runner", "command"),
    [
        (PhpunitRunner(), "composer test"),
        (RspecRunner(), "rake spec"),
        (MinitestRunner(), "ruby run.rb"),
        (UnittestRunner(), "python -m pytest"),
        (BatsRunner(), "make bats"),
        (DotnetRunner(), "dotnet build"),
    ],
)
def test_a_command_of_somebody_else_is_refused(runner: Runner, command: str, tmp_path: Path) -> None:
    assert not runner.runs(command.split())
    with pytest.raises(Misconfigured, match="does not"):
        runner.command(command, _call(tmp_path))


@pytest.mark.parametrize(
    ("files", "tests", "pattern"),
    [
        (("tests/SumTest.php",), (), r"/(?:^|\\)(?:SumTest)::/s"),
        (("tests/SumTest.php", "tests/MoreTest.php"), (), r"/(?:^|\\)(?:MoreTest|SumTest)::/s"),
        (
            ("tests/SumTest.php",),
            ('tests/SumTest.php::SumTest::testRows with data set "one"', "tests/SumTest.php::SumTest::testAdds"),
            r"/(?:^|\\)(?:SumTest)::(?:testAdds|testRows)(?: with data set .*)?$/s",
        ),
    ],
)
def test_phpunit_filters_by_class_and_test(
    files: tuple[str, ...], tests: tuple[str, ...], pattern: str, tmp_path: Path
) -> None:
    argv = PhpunitRunner().command("php -d x=1 vendor/bin/phpunit --testdox", _call(tmp_path, *files, tests=tests))
    assert argv[:4] == ("php", "-d", "x=1", "vendor/bin/phpunit")
    assert argv[argv.index("--filter") + 1] == pattern
    own = PhpunitRunner().command("phpunit --filter x", _call(tmp_path, *files))
    assert own.count("--filter") == 1


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("/srv/run-1", {"RUBYOPT": "-r/srv/run-1/minitest_reporter.rb"}),
        ("/srv/my work/run-1", {"RUBYLIB": "/srv/my work", "RUBYOPT": "-rrun-1/minitest_reporter.rb"}),
    ],
)
def test_how_ruby_finds_the_reporter(place: str, told: dict[str, str]) -> None:
    variables = MinitestRunner().environment(_call(Path(place)))
    assert {name: value for name, value in variables.items() if name.startswith("RUBY")} == told


def test_the_others_run_the_selected_files(tmp_path: Path) -> None:
    rspec = RspecRunner().command("bundle exec rspec spec -fd", _call(tmp_path, "spec/sum_spec.rb"))
    assert (rspec[:4], rspec[-1]) == (("bundle", "exec", "rspec", "-fd"), "spec/sum_spec.rb")
    ruby = MinitestRunner().command("bundle exec rake test", _call(tmp_path, "test/sum_test.rb"))
    required = "$0 = 'rake_test_loader.rb'; require File.expand_path('test/sum_test.rb')"
    assert ruby == ("bundle", "exec", "ruby", "-Itest", "-Ilib", "-e", required)
    alone = MinitestRunner().command("ruby -w -Itest test/all.rb", _call(tmp_path, "test/sum_test.rb"))
    assert alone[-1].startswith("$0 = 'test/all.rb'; require ")
    rails = MinitestRunner().command("bin/rails test", _call(tmp_path, "test/sum_test.rb"))
    assert rails == ("bin/rails", "test", "test/sum_test.rb")
    bats = BatsRunner().command("bats test --recursive", _call(tmp_path, "test/a.bats"))
    assert bats[-4:] == ("bats", "test/a.bats", "--formatter", "junit")
    dotnet = DotnetRunner().command("dotnet test Acme.sln -- x", _call(tmp_path, "Tests/SumTests.cs"))
    assert dotnet[-4:] == ("--filter", "FullyQualifiedName~SumTests", "--", "x")


def test_the_report_is_ours_although_the_command_asks_for_another(tmp_path: Path) -> None:
    call = _call(tmp_path)
    bats = BatsRunner().command("bats --tap test", call)
    assert bats[-5:] == ("bats", "--tap", "test", "--formatter", "junit")
    phpunit = PhpunitRunner().command("vendor/bin/phpunit --log-junit build/junit.xml tests", call)
    reports = [phpunit[at + 1] for at, word in enumerate(phpunit) if word == "--log-junit"]
    assert reports == ["build/junit.xml", str(call.report)]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("-I spec -fd spec", ("-I", "spec", "-fd")),
        ("--require ./spec/spec_helper.rb ./spec", ("--require", "./spec/spec_helper.rb")),
        ("--pattern spec/**/*_spec.rb --exclude-pattern=spec/slow_spec.rb", ("--pattern", "spec/**/*_spec.rb")),
        ("-w spec/other_spec.rb:7", ("-w",)),
    ],
)
def test_the_options_of_rspec_keep_their_values(options: str, kept: tuple[str, ...], tmp_path: Path) -> None:
    argv = RspecRunner().command(f"bundle exec rspec {options}", _call(tmp_path, "spec/sum_spec.rb"))
    assert argv[3 : argv.index("json") - 1] == kept


LOST: dict[str, tuple[Runner, int, str, str, FailureKind | None]] = {
    "phpunit, an own class": (
        PhpunitRunner(),
        255,
        'PHP Fatal error:  Uncaught Error: Class "App\\Base" not found in /w/tests/SumTest.php:2\nStack trace:\n#0',
        "tests/SumTest.php",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "phpunit 10, an own class": (
        PhpunitRunner(),
        2,
        'PHPUnit 10.5\n\nAn error occurred inside PHPUnit.\n\nMessage:  Class "App\\Base" not found\n',
        "tests/SumTest.php",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "phpunit, syntax": (
        PhpunitRunner(),
        255,
        "PHP Fatal error:  Uncaught ParseError: Unclosed '(' in /w/tests/SumTest.php:2",
        "tests/SumTest.php",
        FailureKind.SYNTAX,
    ),
    "phpunit, a test that leaves": (PhpunitRunner(), 0, "PHPUnit 9.6.7\n\n", "tests/SumTest.php", None),
    "mocha, an own module": (
        MochaRunner(),
        1,
        "\n Exception during run: Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/w/src/a.js' imported ",
        "test/a.test.js",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "mocha, a path that the package does not have": (
        MochaRunner(),
        1,
        "\n Exception during run: Error [ERR_PACKAGE_PATH_NOT_EXPORTED]: Package subpath './a' is not defined by "
        '"exports" in /w/package.json imported from /w/test/a.test.js\n',
        "test/a.test.js",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "mocha, killed": (MochaRunner(), 137, "Error: x\n", "test/a.test.js", None),
    "minitest, an own file": (
        MinitestRunner(),
        1,
        "/w/test/a_test.rb:2:in `require_relative': cannot load such file -- /w/lib/a (LoadError)\n",
        "test/a_test.rb",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "minitest, a gem": (
        MinitestRunner(),
        1,
        "<internal:kernel>:in `require': cannot load such file -- sinatra (LoadError)\n",
        "test/a_test.rb",
        FailureKind.THIRD_PARTY_IMPORT,
    ),
    "minitest, an own part of a gem's name": (
        MinitestRunner(),
        1,
        "<internal:kernel>:in `require': cannot load such file -- acme/tax (LoadError)\n",
        "test/a_test.rb",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "dotnet, a name": (
        DotnetRunner(),
        1,
        "/w/Tests/SumTests.cs(7,13): error CS0103: The name 'Sum' does not exist in the current context [/w/T.csproj]",
        "Tests/SumTests.cs",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    "dotnet, syntax": (
        DotnetRunner(),
        1,
        "/w/Tests/SumTests.cs(7,13): error CS1002: ; expected [/w/T.csproj]",
        "Tests/SumTests.cs",
        FailureKind.SYNTAX,
    ),
}


@pytest.mark.parametrize("which", LOST)
def test_files_that_were_lost_are_told_by_the_output(which: str, tmp_path: Path) -> None:
    runner, code, output, file, kind = LOST[which]
    call = _call(tmp_path, file)
    report = runner.unreported((), code, output, call)
    if kind is None:
        assert report is None
        return
    assert report is not None
    (case,) = report.cases
    _told(runner, case, file, call.project, kind)
    assert runner.unreported([Case("a", "", "a", CaseOutcome.PASSED)], code, output, call) is None


def _told(runner: Runner, case: Case, file: str, project: Project, kind: FailureKind) -> None:
    assert runner.identify(case) == (file, file)
    assert runner.classify(case, project) is kind
    assert not runner.asserted(case)


def test_a_suite_of_mocha_without_a_file_is_an_empty_one(tmp_path: Path) -> None:
    runner, output = MochaRunner(), 'Error: No test files found: "test"'
    report = runner.unreported((), 1, output, _call(tmp_path))
    assert report is not None
    assert (report.cases, runner.complete(1, (), output)) == ((), True)


def _rspec(*examples: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"examples": examples, "summary": {}, **more}).encode()


EXAMPLE = {"full_description": "Sum adds", "status": "passed", "file_path": "./spec/sum_spec.rb"}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not JSON"),
        (b"{}", "not RSpec's"),
        (_rspec({**EXAMPLE, "status": ""}), "ended before its last example"),
        (_rspec(EXAMPLE), ""),
    ],
)
def test_a_report_of_rspec_that_is_not_whole_is_refused(data: bytes, problem: str) -> None:
    report = RspecRunner().read(data, Project(Path("/w"), PATHS))
    assert problem in report.problem
    assert bool(report.problem) is bool(problem)


def test_a_shared_example_is_one_of_the_file_that_was_run() -> None:
    example = {**EXAMPLE, "file_path": "./spec/support/shared.rb", "id": "./spec/sum_spec.rb[1:2:1]"}
    project = Project(Path("/w"), PATHS)
    (case,) = RspecRunner().read(_rspec(example), project).cases
    assert RspecRunner().identify(case) == ("spec/sum_spec.rb::Sum adds", "spec/sum_spec.rb")


def test_rspec_tells_which_file_it_could_not_load() -> None:
    message = (
        "\nAn error occurred while loading ./spec/sum_spec.rb.\nFailure/Error: require_relative '../lib/x'\n\n"
        "LoadError:\n  cannot load such file -- /w/lib/x\n# ./spec/sum_spec.rb:1:in `<top (required)>'\n"
    )
    project = Project(Path("/w"), PATHS)
    runner = RspecRunner()
    data = _rspec(messages=[message], summary={"errors_outside_of_examples_count": 1})
    (case,) = runner.read(data, project).cases
    assert runner.identify(case) == ("spec/sum_spec.rb", "spec/sum_spec.rb")
    assert runner.explain(case).startswith("LoadError: cannot load such file -- /w/lib/x\n")
    assert runner.classify(case, project) is FailureKind.FIRST_PARTY_IMPORT
    assert runner.complete(1, [case], "")


TRX = b"""<?xml version="1.0" encoding="utf-8"?>
<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testId="1" testName="Acme.SumTests.Adds" outcome="Passed" />
    <UnitTestResult testId="2" testName="Acme.SumTests.Rows(a: 1, b: 2)" outcome="Failed">
      <Output>
        <ErrorInfo><Message>Assert.Equal() Failure</Message><StackTrace>at SumTests</StackTrace></ErrorInfo>
      </Output>
    </UnitTestResult>
    <UnitTestResult testId="3" testName="Acme.SumTests.Later" outcome="NotExecuted" />
  </Results>
  <TestDefinitions>
    <UnitTest name="Adds" id="1"><TestMethod className="Acme.SumTests" name="Adds" /></UnitTest>
    <UnitTest name="Rows" id="2"><TestMethod className="Acme.SumTests, Tests" name="Rows" /></UnitTest>
    <UnitTest name="Later" id="3"><TestMethod className="Acme.SumTests" name="Later" /></UnitTest>
  </TestDefinitions>
</TestRun>"""


def test_trx_is_read() -> None:
    runner = DotnetRunner()
    report = runner.read(TRX, Project(Path("/w"), PATHS))
    file = "Tests/SumTests.cs"
    assert [(runner.identify(case), case.outcome) for case in report.cases] == [
        ((f"{file}::SumTests::Adds", file), CaseOutcome.PASSED),
        ((f"{file}::SumTests::Rows(a: 1, b: 2)", file), CaseOutcome.FAILED),
        ((f"{file}::SumTests::Later", file), CaseOutcome.SKIPPED),
    ]
    assert runner.asserted(report.cases[1])
    assert "declares a document type" in runner.read(b"<!DOCTYPE x><x/>", Project(Path("/w"))).problem


@pytest.mark.parametrize(
    ("runner", "yes", "no"),
    [
        (PhpunitRunner(), ["tests/SumTest.php", "src/SumTest.php", "tests/bootstrap.php"], ["src/Sum.php", "x.xml"]),
        (RspecRunner(), ["spec/sum_spec.rb", "spec/support/a.rb", ".rspec"], ["lib/sum.rb"]),
        (MinitestRunner(), ["test/sum_test.rb", "test/test_helper.rb"], ["lib/sum.rb"]),
        (UnittestRunner(), ["tests/test_a.py", "a/tests.py"], ["a/b.py"]),
        (MochaRunner(), ["test/sum.js", "src/sum.spec.ts", "test/__snapshots__/a.snap"], ["src/sum.js", "README.md"]),
        (BatsRunner(), ["test/a.bats"], ["test.sh"]),
        (DotnetRunner(), ["Acme.Tests/Sum.cs", "test/SumTests.cs"], ["Acme/Sum.cs", "Acme.Tests/a.json"]),
    ],
)
def test_which_files_are_tests(runner: Runner, yes: list[str], no: list[str]) -> None:
    assert [path for path in yes if not runner.is_test_file(path)] == []
    assert [path for path in no if runner.is_test_file(path)] == []
