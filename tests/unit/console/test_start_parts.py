"""The parts of `workflow-engine start` that need no GitHub: the file, suggestions, candidates, keys and layout."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.repository import RepositorySettings
from console.start import coder
from console.start.coder import chosen
from console.start.draft import Choices, Draft
from console.start.first_issue import OFFERED, looked_up, standing
from console.start.project import set_up
from console.start.questions import TRIES, Nobody, NotReady, ask
from console.start.signing_in import how_to
from runtime.exit_codes import NOT_ALLOWED, code_of
from runtime.output import laid_out
from shared.errors import Misconfigured
from shared.models import Account, Issue

AT = datetime(2026, 11, 1, tzinfo=UTC)


class Typed:
    """A person with these answers."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def ask(self, question: str, *, secret: bool = False) -> str:
        self.asked.append(question)
        return self.answers.pop(0)


def home(directory: Path, **variables: str) -> dict[str, str]:
    return {"HOME": str(directory), "PATH": str(directory / "bin"), **variables}


def draft(directory: Path, **more: Any) -> Draft:
    return Draft.of(Choices("ada/thing", **more), None, home(directory))


def test_the_file_says_only_what_differs_and_means_what_was_chosen(tmp_path: Path) -> None:
    one = draft(tmp_path, llm_backend="codex", test_command="pytest -q # all", token_file=tmp_path / "a b")
    text = one.file().content()
    said = [line for line in text.splitlines() if not line.startswith("#")]
    assert said[:4] == [
        "repositories:",
        "  - name: ada/thing",
        "    llm_backend: codex",
        '    test_command: "pytest -q # all"',
    ]
    settings = one.settings(home(tmp_path))
    assert (settings.repositories[0].llm_backend, settings.github.token_file) == ("codex", tmp_path / "a b")
    assert settings.lock.key_files == (tmp_path / ".config/workflow-engine/lock.key",)
    assert settings.budgets.issue < 25
    with_comments = one.file(comments=True).content()
    assert "    # Command that runs the tests; null means detected" in with_comments
    assert [line for line in with_comments.splitlines() if not line.strip().startswith("#")] == said


@pytest.mark.parametrize("command", ["true", "null", "1", "yes: no", "a\tb", "é -q", "'", "- x", "tests & co"])
def test_whatever_is_typed_is_kept_as_text(tmp_path: Path, command: str) -> None:
    settings = draft(tmp_path, test_command=command).settings(home(tmp_path))
    assert settings.repositories[0].test_command == command


def test_a_file_of_another_editor_keeps_every_byte_beside_the_new_entry(tmp_path: Path) -> None:
    place = tmp_path / ".config" / "workflow-engine" / "repos.yml"
    place.parent.mkdir(parents=True)
    before = b"\xef\xbb\xbfrepositories:\r\n  - name: ada/other\r\n    merge: auto # \xc3\xa4\r\n"
    place.write_bytes(before)
    one = draft(tmp_path)
    one.file().rewrite()
    after = place.read_bytes()
    assert after == before.replace(b"  - name: ada/other", b"  - name: ada/thing\r\n  - name: ada/other")
    assert one.settings(home(tmp_path)).repositories[0].name == "ada/thing"


def test_a_list_of_another_form_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / ".config" / "workflow-engine" / "repos.yml"
    place.parent.mkdir(parents=True)
    place.write_text("repositories: [{name: ada/other}]\n")
    with pytest.raises(Misconfigured, match=r"Add to the list:\n  - name: ada/thing"):
        draft(tmp_path).file()


@pytest.mark.parametrize(
    ("files", "manifest", "command"),
    [
        ({"uv.lock", "pyproject.toml"}, "", "uv sync"),
        (
            {"requirements.txt", "requirements-dev.txt"},
            "",
            "pip install pytest -r requirements-dev.txt -r requirements.txt",
        ),
        ({"pyproject.toml"}, "[project]\n", "pip install pytest -e ."),
        (
            {"pyproject.toml"},
            "[project.optional-dependencies]\ndev = []\ntest = []\n[tool]\n",
            "pip install pytest -e .[test]",
        ),
        ({"pyproject.toml"}, "[tool.x]\ntest = 1\n", "pip install pytest -e ."),
        ({"package-lock.json", "package.json"}, "", "npm ci"),
        ({"package.json"}, "", "npm install"),
        ({"go.mod"}, "", "go mod download"),
        ({"README.md"}, "", None),
    ],
)
def test_the_set_up_that_files_suggest(files: set[str], manifest: str, command: str | None) -> None:
    assert set_up(files, manifest, lambda program: f"/usr/bin/{program}") == command


def test_a_program_that_is_not_here_is_not_suggested() -> None:
    assert set_up({"uv.lock", "pyproject.toml"}, "", lambda program: None) == "pip install pytest -e ."
    assert set_up({"package-lock.json", "package.json"}, "", lambda program: None) is None


def issue(number: int, *labels: str, **more: Any) -> Issue:
    return Issue(number, f"Title {number}", "", frozenset(labels), Account(1, "ada"), AT, AT, **more)


@pytest.mark.parametrize("option", ["-1", "x", "https://github.com/ada/thing/issues/5", "ada/thing#5"])
def test_what_is_neither_a_number_nor_a_sentence_becomes_no_issue(tmp_path: Path, option: str) -> None:
    with pytest.raises(Misconfigured, match="is neither the number of an issue, as in 42, nor a sentence"):
        looked_up(draft(tmp_path), home(tmp_path), option)


@pytest.mark.parametrize("option", ["", "Greet people kindly", "ユーザーを名前で検索する"])
def test_a_sentence_in_any_script_says_what_is_wanted(tmp_path: Path, option: str) -> None:
    looked_up(draft(tmp_path), home(tmp_path), option)


def test_candidates_are_free_issues_the_inviting_ones_first() -> None:
    items = [
        issue(1),
        issue(2, "Good First Issue"),
        issue(3, "bug"),
        issue(4, "story"),
        issue(5, "blocked"),
        issue(6, assignees=(Account(2, "bob"),)),
        issue(7, is_pull_request=True),
        issue(8, locked=True),
        issue(9, blocked_by=1),
        issue(10, "status:failed"),
        issue(11, "status:ready"),
        *(issue(number, comments=number) for number in range(20, 30)),
    ]
    found = standing(items, RepositorySettings(name="ada/thing"))
    assert [one.number for one in found.ordered] == [11]
    assert [one.number for one in found.offered] == [2, 3, 1, 20, 21]
    assert len(found.offered) == OFFERED


KEYS = [
    ("sk-ant-oat01-x", "claude", "CLAUDE_CODE_OAUTH_TOKEN"),
    ("sk-ant-api03-x", "claude", "ANTHROPIC_API_KEY"),
    ("sk-proj-x", "codex", "OPENAI_API_KEY"),
]


def program(directory: Path, name: str) -> None:
    place = directory / "bin" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("#!/bin/sh\necho 9.9.9\n")
    place.chmod(0o755)


@pytest.mark.parametrize(("key", "backend", "variable"), KEYS)
def test_a_key_says_whose_it_is_and_is_not_kept(
    tmp_path: Path, key: str, backend: str, variable: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path, backend)
    person = Typed("ghp_wrong", key)
    done, environment = chosen(draft(tmp_path), home(tmp_path), person, None)
    assert (done.choices.llm_backend, environment[variable]) == (backend, key)
    assert person.asked[1].startswith("That is no key")
    said = capsys.readouterr().out
    assert (f"export {variable}=..." in said, key in said) == (True, False)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and key in path.read_text()] == []


def test_a_key_that_is_there_is_taken_without_a_question(tmp_path: Path) -> None:
    program(tmp_path, "codex")
    person = Typed()
    done, _ = chosen(draft(tmp_path), home(tmp_path, OPENAI_API_KEY="sk-x"), person, None)
    assert (done.choices.llm_backend, person.asked) == ("codex", [])


def test_a_key_for_another_backend_than_was_asked_for_is_refused(tmp_path: Path) -> None:
    person = Typed(*(["sk-ant-api03-x"] * TRIES))
    with pytest.raises(NotReady, match="That key is for claude, and codex was asked for"):
        chosen(draft(tmp_path), home(tmp_path), person, "codex")


@pytest.mark.parametrize(
    ("backend", "variables"), [(None, "ANTHROPIC_API_KEY or OPENAI_API_KEY"), ("codex", "OPENAI_API_KEY")]
)
@pytest.mark.parametrize("agreed", [True, False])
def test_without_a_key_and_anybody_to_ask_something_is_missing(
    tmp_path: Path, backend: str | None, variables: str, agreed: bool
) -> None:
    with pytest.raises(NotReady) as missing:
        chosen(draft(tmp_path), home(tmp_path), Nobody(agreed=agreed), backend)
    assert str(missing.value) == f"Without a key nothing can be coded: set {variables}, and start again."
    assert code_of(missing.value) == NOT_ALLOWED


def test_an_answer_that_cannot_be_used_is_asked_for_again_but_not_for_ever() -> None:
    person = Typed(*"abc")
    with pytest.raises(Misconfigured, match="no"):
        ask(person, "What?", lambda text: "no")
    assert person.asked == ["What?", "no\nWhat?", "no\nWhat?"]
    with pytest.raises(Misconfigured, match="Nobody can be asked a secret here"):
        Nobody(agreed=False).ask("Token?", secret=True)


def test_lines_end_between_words_and_no_path_is_cut() -> None:
    path = f"/{'x' * 90}"
    shown = laid_out(f"Wrote {path}\n    keys: are indented as they were, and so is what goes on in a second line", 40)
    assert shown.splitlines() == [
        "Wrote",
        f"  {path}",
        "    keys: are indented as they were, and",
        "      so is what goes on in a second",
        "      line",
    ]
    assert all(len(line) <= 80 for line in laid_out(how_to("https://api.github.com", "ada/thing"), 80).splitlines())


def test_who_has_no_key_is_told_how_to_sign_in_without_a_program_on_the_path() -> None:
    """`install-cli` prints the program's path and nothing else, so that this is one command for a shell."""
    told = coder.how_to()
    assert "`codex login`" in told, "positive control"
    assert told.endswith('"$(workflow-engine install-cli codex)" login')
