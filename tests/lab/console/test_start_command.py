"""`workflow-engine start` in a whole GitHub: from nothing to an issue in work, and again, and where it stops."""

from __future__ import annotations

import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, HANGS_SECONDS, OWNER, REPOSITORY, REVIEWER, WRITES
from judge import Judge
from newcomer_scene import READY, Newcomer, newcomer_at

from config.loading import load
from console.start.questions import Nobody
from shared.workflow import Stage
from shared.workflow.labels import Labels

TESTING = Labels().of(Stage.TESTING)
ORDER = "Greet kim kindly, by the name"
HURRIED = "from console.app import app; from fakes.clock import HurriedClock; app(obj=HurriedClock())"
"""The command with a clock on which its waits are short."""

MOST_ANSWERS = 5


@dataclass
class Typed:
    """A person who gives these answers in order, each listed with a part of its question."""

    answers: list[tuple[str, str]]
    asked: list[str] = field(default_factory=list)

    def ask(self, question: str, *, secret: bool = False) -> str:
        self.asked.append(question)
        assert self.answers, f"not expected: {question}"
        part, answer = self.answers.pop(0)
        assert part in question
        return answer


@pytest.fixture
async def newcomer(tmp_path: Path, judge: Judge) -> AsyncIterator[Newcomer]:
    async with newcomer_at(tmp_path, judge) as newcomer:
        yield newcomer


async def test_from_nothing_to_a_pull_request(newcomer: Newcomer) -> None:
    """To its end, which is half a minute later, it is told in `tests/ui`."""
    words = ("--yes", "--issue", ORDER, "--test-command", "sh check.sh")
    argv, env = newcomer.command("-c", HURRIED, words=words, GITHUB_TOKEN=newcomer.token)
    told, complained = newcomer.home.parent / "out", newcomer.home.parent / "err"
    with told.open("wb") as out, complained.open("wb") as err:
        async with await anyio.open_process(argv, cwd=newcomer.home, env=env, stdout=out, stderr=err) as child:
            with anyio.fail_after(HANGS_SECONDS):
                while [one.labels for one in newcomer.issues()] != [(TESTING,)]:
                    assert child.returncode is None, complained.read_text()
                    await anyio.sleep(0.05)
                child.send_signal(signal.SIGINT)
                assert await child.wait() == 130
    (issue,) = newcomer.issues()
    assert (issue.title, issue.author, len(newcomer.lab.at(REPOSITORY).pulls.records)) == (ORDER, ENGINE, 1)
    assert issue.body == f"## Acceptance criteria\n\n- [ ] {ORDER}\n"
    assert (newcomer.home / ".workflow-engine").stat().st_mode & 0o777 == 0o700
    said = told.read_text()
    for sentence in ("1/8  This machine", "8/8  First issue", f"Wrote {newcomer.config}", "carries status:ready now"):
        assert sentence in said
    assert re.search(r"^  0:\d\d  Writing the code \(attempt 1 of 3\)\.$", complained.read_text(), re.MULTILINE)
    assert env["GITHUB_TOKEN"] not in said + complained.read_text()


async def test_everything_is_asked_at_most_once_and_repeating_it_repairs(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Typed(
        [
            ("Paste the token", newcomer.token),
            ("reviewer", ""),
            ("Command that runs the tests", "sh check.sh"),
            ("What is wanted", ""),
        ]
    )
    assert await newcomer.start(person, newcomer.options(test_command="sh no-such-file.sh")) == 0
    assert (person.answers, len(person.asked) < MOST_ANSWERS) == ([], True)  # the fifth is a backend's key
    assert (newcomer.issues(), newcomer.lab.at(REPOSITORY).labels.find(READY) is not None) == ([], True)
    settings = load(None, repository=REPOSITORY, environment=newcomer.environment, directory=newcomer.home)
    token = newcomer.home / ".config" / "workflow-engine" / "github.token"
    assert (settings.github.token_file, token.stat().st_mode & 0o777) == (token, 0o600)
    assert (settings.repositories[0].test_command, settings.budgets.issue) == ("sh check.sh", 10)
    assert "poll_interval" not in newcomer.config.read_text(), "only what differs from the defaults"
    assert newcomer.token not in capsys.readouterr().out

    key, before = newcomer.home / ".config" / "workflow-engine" / "lock.key", newcomer.files()
    key.unlink()
    again, asked = Typed([]), len(list(newcomer.lab.exchanges))
    assert await newcomer.start(again, replace(newcomer.options(), prepare_only=True)) == 0
    assert again.asked == []
    assert f"{newcomer.config} has {REPOSITORY} already" in capsys.readouterr().out
    assert {name for name, content in newcomer.files().items() if before.get(name) != content} == {str(key)}
    written = [one for one in list(newcomer.lab.exchanges)[asked:] if one.method != "GET" and one.status < 300]
    asks = ".git/", "/graphql"  # of the latter, what the doctor sends is refused in an answer of 200
    assert [one.path for one in written if not any(part in one.path for part in asks)] == []


async def test_an_open_issue_is_offered_and_taken_by_its_number(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = newcomer.lab
    lab.issue(REPOSITORY, "A story", "", author=OWNER, labels=("story",))
    lab.issue(REPOSITORY, "Blocked", "", author=OWNER, labels=("blocked",))
    lab.issue(REPOSITORY, "Rewrite everything", "", author=OWNER)
    good = lab.issue(REPOSITORY, "Greet kim [kindly]", "- [ ] It greets.", author=OWNER, labels=("good first issue",))
    person = Typed([("reviewer", lab.token(REVIEWER, WRITES)), ("A number of these", f"#{good.number}")])
    assert await newcomer.start(person, newcomer.options(), GITHUB_TOKEN=newcomer.token) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines() if line.startswith("  #")] == ["#4", "#3"]
    assert f"#{good.number}     Greet kim [kindly] (good first issue)" in said
    assert {one.number: one.labels for one in newcomer.issues()} == {
        1: ("story",),
        2: ("blocked",),
        3: (),
        4: ("good first issue", "status:ready"),
    }
    settings = load(None, repository=REPOSITORY, environment=newcomer.environment, directory=newcomer.home)
    assert settings.github.reviewer_token_file is not None
    assert settings.github.token_file is None, "what stands in the environment is not copied"


async def test_a_token_that_lacks_permissions_is_told_by_name_and_nothing_is_written(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    newcomer.permissions = {**WRITES, "issues": "read", "pull_requests": "read"}
    assert await newcomer.start(Nobody(agreed=True), newcomer.options(), GITHUB_TOKEN=newcomer.token) == 4
    said = capsys.readouterr()
    assert "lacks issues: write, pull_requests: write" in said.err
    assert not newcomer.config.exists()
    assert newcomer.lab.at(REPOSITORY).labels.find(READY) is None


async def test_nobody_can_be_asked(newcomer: Newcomer, capsys: pytest.CaptureFixture[str]) -> None:
    assert await newcomer.start(Nobody(agreed=True), newcomer.options()) == 4
    said = capsys.readouterr()
    assert said.err == "Without a token nothing can be done: set GITHUB_TOKEN, and start again.\n"
    assert "read and write: Contents, Issues, Pull requests; read: Commit statuses, Actions" in said.out
    assert await newcomer.start(Nobody(agreed=False), newcomer.options(), GITHUB_TOKEN=newcomer.token) == 2
    assert "give --yes" in capsys.readouterr().err
    assert not newcomer.config.exists()


async def test_an_issue_that_is_not_there_is_told_before_anything_is_set_up(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    options = replace(newcomer.options(), issue="#99")
    assert await newcomer.start(Nobody(agreed=True), options, GITHUB_TOKEN=newcomer.token) == 4
    said = capsys.readouterr()
    assert f"GitHub does not show {REPOSITORY}#99 to this token: check the number" in said.err
    assert "3/8" not in said.out
    assert not newcomer.config.exists()


async def test_a_token_that_is_refused_says_where_it_came_from(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await newcomer.start(Nobody(agreed=True), newcomer.options(), GITHUB_TOKEN="ghp_nobody") == 4
    said = capsys.readouterr().err
    assert "Bad credentials. It came from the environment variable GITHUB_TOKEN. Make another one at" in said
    assert "ghp_nobody" not in said


async def test_a_github_that_does_not_answer_is_told_as_by_other_commands(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    options = newcomer.options(api_url="http://127.0.0.1:9")
    assert await newcomer.start(Nobody(agreed=True), options, GITHUB_TOKEN=newcomer.token) == 1
    assert "Try again" in capsys.readouterr().err
    assert not newcomer.config.exists()


async def test_as_a_script_it_asks_nothing_and_tests_that_do_not_run_stop_it(newcomer: Newcomer) -> None:
    done = await newcomer.process("--yes", "--test-command", "sh missing.sh", GITHUB_TOKEN=newcomer.token)
    assert done.code == 2, done.stderr.decode()
    assert "test run: The tests of the base" in done.text
    assert "Without tests nothing can be implemented." in done.stderr.decode()
    assert not newcomer.config.exists()
    assert newcomer.issues() == []


async def test_a_second_repository_is_added_and_the_rest_of_the_file_stays(
    newcomer: Newcomer, capsys: pytest.CaptureFixture[str]
) -> None:
    newcomer.config.parent.mkdir(parents=True)
    other = f"# mine\nrepositories:\n  - name: ada/other  # the old one\ngithub: {{api_url: '{newcomer.lab.url}'}}\n"
    more = f"sandbox: none\nllm: {{scenario: '{newcomer.home / 'scenario.yml'}'}}\n"
    newcomer.config.write_text(other + more)
    options = replace(newcomer.options(), prepare_only=True)
    assert await newcomer.start(Nobody(agreed=True), options, GITHUB_TOKEN=newcomer.token) == 0
    added = f"  - name: {REPOSITORY}\n    llm_backend: scripted\n    test_command: sh check.sh\n"
    assert newcomer.config.read_text() == (other + more).replace(
        "repositories:\n", f"repositories:\n{added}    test_report: report.xml\n"
    )
    assert "Nothing was begun." in capsys.readouterr().out
