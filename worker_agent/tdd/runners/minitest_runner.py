"""minitest: run by `rake test`, `ruby -Itest`, `rails test`, through a reporter that Ruby loads first."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from worker_agent.tdd.runners import json_report
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.ruby_runner import RubyRunner, minitest_control, without_addresses
from worker_agent.tdd.runners.runner import Invocation, Read
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

_REPORTER = """\
require 'json'
module EngineReport
  PATH = ENV.fetch('ENGINE_TEST_REPORT')
  PLACE = /\\Atest_\\d{4}_/
  class Reporter
    def initialize
      @cases, @blocks = [], {}
    end
    def start; end
    def prerecord(klass, _name) = @blocks[klass.to_s] = !defined?(::Minitest::Spec).nil? && klass < ::Minitest::Spec
    def passed? = true
    def record(result)
      failure = result.failure
      error = failure.respond_to?(:error) ? failure.error : failure
      file = result.respond_to?(:source_location) ? result.source_location.first.to_s : ''
      named = result.respond_to?(:klass) ? result.klass : result.class.name
      @cases << {
        file: file, scope: named.to_s.split('::'),
        name: @blocks[named.to_s] ? result.name.sub(PLACE, 'test_') : result.name,
        outcome: result.skipped? ? 'skipped' : result.error? ? 'error' : result.passed? ? 'passed' : 'failed',
        error: error ? error.class.name.to_s : '', message: error ? error.message.to_s.scrub : '',
        text: error ? ([error.message.to_s.scrub] + (error.backtrace || []).first(50)).join("\\n") : ''
      }
    end
    def report
      File.write(PATH, JSON.generate({ cases: @cases, ended: true })) unless @cases.empty?
    end
  end
  def self.join(watch)
    return unless ::Minitest.respond_to?(:extensions) && ::Minitest.extensions
    watch.disable
    ::Minitest.define_singleton_method(:plugin_engine_report_init) { |_options| reporter << Reporter.new }
    ::Minitest.extensions << 'engine_report'
  end
end
TracePoint.new(:end) { |point| EngineReport.join(point) if point.self.is_a?(Module) && point.self.name == 'Minitest' }
          .tap(&:enable)
"""
_REPORTER_NAME = "minitest_reporter.rb"


class MinitestRunner(RubyRunner):
    """The runner of a command of rake, rails or ruby that runs tests; minitest itself tells failures from errors.

    An id is like `test/sum_test.rb::SumTest::test_adds`: the reporter leaves out the number that a block gets by its
    place, as a new one before it would change its name.
    """

    name = "minitest"
    action = "run minitest"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a Rakefile that mentions tests, with test files next to it."""
        tests = any(path.startswith("test/") and _is_named(path) for path in paths)
        rake = tests and b"Test" in (read("Rakefile") or b"")
        bundled = "bundle exec " if "Gemfile.lock" in paths else ""
        return f"{bundled}rake test" if rake else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the program in `rake test`, `rails test` or `ruby -Itest`, also behind `bundle exec`."""
        for at, word in enumerate(argv[:5]):
            program, rest = PurePosixPath(word).name, argv[at + 1 :]
            if program in {"rake", "rails"} and rest[:1] in (("test",), ["test"]):
                return at
            if program == "rake" and not rest:
                return at
            if program == "ruby" and any("test" in argument for argument in rest):
                return at
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*_test.rb`, `test_*.rb`, or below `test`."""
        return _is_named(path) or "test" in PurePosixPath(path).parts[:-1]

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command as it is, or with the selected files; the reporter comes by the environment."""
        argv, at = self.split(test_command)
        json_report.write_reporter(call, _REPORTER_NAME, _REPORTER)
        if call.selection is None:
            return argv
        files = sorted(path for path in call.selection.files if path.endswith(".rb"))
        if PurePosixPath(argv[at]).name == "rails":
            return (*argv[: at + 2], *files)
        required = "; ".join(f"require File.expand_path({_quote(path)})" for path in files)
        return (*argv[:at], "ruby", "-Itest", "-Ilib", "-e", f"$0 = {_quote(_started(argv[at:]))}; {required}")

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return variables by which Ruby loads the reporter first, with one order of tests."""
        loading = _load_first(call.report.parent / _REPORTER_NAME)
        return {"ENGINE_TEST_REPORT": str(call.report), **loading, "TESTOPTS": "--seed=1", "SEED": "1"}

    def parse(self, data: bytes, project: Project) -> Report:
        return json_report.read_engine(data, project, "::")

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return all files if one of them could not be loaded."""
        begun = re.search(r"^.*(?:\w+Error\)|syntax error).*$", output_tail, re.MULTILINE)
        if reported or code == 0 or begun is None:
            return None
        text = without_addresses(output_tail[begun.start() :])
        error = Case("", "", "", CaseOutcome.ERROR, text[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:])
        return self.lose_files(call, error, _is_named)

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with control methods among those of one of its classes."""
        return minitest_control(path, content, names) if _is_named(path) else None


def _started(argv: Sequence[str]) -> str:
    """Return the name under which the whole suite is run, which usage texts contain: rake's loader, or a file."""
    files = (word for word in argv[1:] if word.endswith(".rb")) if PurePosixPath(argv[0]).name == "ruby" else ()
    return next(iter(files), "rake_test_loader.rb")


def _load_first(file: Path) -> Mapping[str, str]:
    """Return the variables by which Ruby loads a file before any other.

    RUBYOPT is split at blanks, and nothing quotes them there: a path that has some comes by the load path. All others
    do without, because tests may give a child of theirs another RUBYLIB.
    """
    if str(file).split() == [str(file)]:
        return {"RUBYOPT": f"-r{file}"}
    run = file.parent
    return {"RUBYLIB": str(run.parent), "RUBYOPT": f"-r{run.name}/{file.name}"}


def _is_named(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith("_test.rb") or (bool(re.fullmatch(r"test_.*\.rb", name)) and name != "test_helper.rb")


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
