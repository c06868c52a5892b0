"""Documentation that is printed from the model: the committed text is up to date, and says what the model says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from config.__main__ import main
from config.documentation import generated, reference, replaced, schema
from config.loading import read
from config.repository import RepositorySettings
from config.rules import unsupported
from config.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "config/repos.yml.example"


@pytest.mark.parametrize(
    "name", ["config/repos.schema.json", "README.md", "docs/configuration.md", "docs/how-it-works.md"]
)
def test_committed_files_are_up_to_date(name: str) -> None:
    expected = generated(ROOT)[ROOT / name]
    assert (ROOT / name).read_text(encoding="utf-8") == expected, "run: python -m config"


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("README.md", "tracks"),
        ("docs/how-it-works.md", "states"),
        ("docs/configuration.md", "configuration"),
    ],
)
def test_each_document_has_its_block(name: str, block: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(rf"<!-- {block}:begin -->\n(.*?)<!-- {block}:end -->", text, re.DOTALL)
    assert len(found) == 1
    assert len(found[0].splitlines()) > 10


def test_the_command_writes_what_differs_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/configuration.md", "docs/how-it-works.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for block in ("tracks", "states", "configuration"):
            text = replaced(text, block, "out of date\n")
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(tmp_path) == 0
    names = ["config/repos.schema.json", "README.md", "docs/configuration.md", "docs/how-it-works.md"]
    assert capsys.readouterr().out.splitlines() == [f"wrote {name}" for name in names]
    assert all((tmp_path / name).read_bytes() == (ROOT / name).read_bytes() for name in names)
    assert main(tmp_path) == 0
    assert capsys.readouterr().out == ""


def test_a_block_is_replaced_and_the_rest_is_kept() -> None:
    text = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"
    new = "a\n<!-- x:begin -->\n\\1 new\n<!-- x:end -->\nb\n"
    assert replaced(text, "x", "\\1 new\n") == new
    assert replaced(new, "x", "\\1 new\n") == new
    assert replaced(text, "y", "new\n") == text


def test_every_key_is_in_the_reference_with_a_meaning() -> None:
    keys = {*RepositorySettings.model_fields, *Settings.model_fields} - {"repositories"}
    rows = dict(re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", reference(), re.MULTILINE))
    assert keys <= set(rows)
    assert all(meaning.endswith(".") and len(meaning) > 10 for meaning in rows.values())


@pytest.mark.parametrize(
    "row",
    [
        "| `name` | required | The repository as `owner/repo`. |",
        "| `poll_interval` | `30` | Seconds between two looks at the repository; more where GitHub's limit of a minute "
        "does not suffice. |",
        "| `state_dir` | `~/.workflow-engine` | ",
        "| `work_dir` | `~/.workflow-engine/workspaces` | ",
        "| `ci` | [below](#repositoriesci) | ",
        "| `max_retries` | `3` | ",
        "| `merge` | `never` | Merge of an approved pull request: by people, by the engine after `/merge`, or "
        "by the engine. One of `never`, `approve`, `auto`. |",
    ],
)
def test_rows_show_key_default_and_meaning(row: str) -> None:
    assert f"\n{row}" in reference()


def test_defaults_are_shown_as_yaml() -> None:
    engine_and_repository = reference().partition("### `github`")[0]
    found = re.findall(r"^\| `(\w+)` \| `(.+?)` \| ", engine_and_repository, re.MULTILINE)
    below = set(re.findall(r"^\| `(\w+)` \| \[below\]", engine_and_repository, re.MULTILINE))
    assert {key for key, _ in found} == {*RepositorySettings.model_fields, *Settings.model_fields} - below - {
        "name",
        "repositories",
    }
    assert {"ci", "github", "lock"} <= below
    for key, shown in found:
        model: Any = RepositorySettings if key in RepositorySettings.model_fields else Settings
        info = model.model_fields[key]
        if not isinstance(info.json_schema_extra, dict):
            value = info.get_default(call_default_factory=True)
            plain = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
            assert yaml.safe_load(shown) == (list(plain) if isinstance(plain, tuple) else plain), key


def test_the_example_is_valid_and_shows_the_defaults() -> None:
    environment = {"HOME": "/home/ada"}
    found = read(EXAMPLE, environment=environment)
    bare = json.dumps({"repositories": [{"name": "owner/repo"}], "state_dir": "~/.workflow-engine"})
    assert found == Settings.model_validate_json(bare, context={"home": "/home/ada"})
    assert unsupported(found) == ()


def test_the_file_that_the_document_begins_with_is_accepted_at_a_start(tmp_path: Path) -> None:
    document = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    file = tmp_path / "repos.yml"
    file.write_text(document.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    assert unsupported(read(file, environment={"HOME": "/home/ada"})) == ()


def test_the_example_shows_every_key() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    shown = set(re.findall(r"^[\s#-]*(\w+):", text, re.MULTILINE))
    rows = re.findall(r"^\| `(\w+)` \|", reference(), re.MULTILINE)
    of_an_app_or_role = {"id", "private_key_file", "backend", "model", "budget", "timeout_minutes"}
    of_a_price = {"input", "output", "cached", "written", "written_hour", "above", "times", "search"}
    assert set(rows) - of_an_app_or_role - of_a_price <= shown


def test_the_examples_that_are_commented_out_are_valid_too(tmp_path: Path) -> None:
    keys = "base_branch|test_command|setup_command|quality_commands|prices|roles"
    text = re.sub(rf"^(\s*)# (?=(?:{keys}|  \S+: \{{))", r"\1", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    file = tmp_path / "repos.yml"
    file.write_text(text, encoding="utf-8")
    found = read(file, environment={"HOME": "/home/ada"})
    assert found.repositories[0].setup_command == "uv sync"
    assert found.repositories[0].quality_commands == ("ruff check .", "mypy .")
    assert found.roles["code-reviewer"].backend == "codex"
    assert found.prices["my-model"].output == 10


def test_the_schema_accepts_the_example_and_refuses_what_the_model_refuses() -> None:
    validator = jsonschema_rs.validator_for(json.loads(schema()))
    example = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    assert validator.is_valid(example)
    refused: tuple[dict[str, Any], ...] = (
        {"repositories": []},
        {"repositories": [{"name": "a/b", "pol_interval": 5}]},
        {"repositories": [{"name": "a/b", "poll_interval": 0}]},
        {"repositories": [{"name": "a/b", "merge": "sometimes"}]},
        {"repositories": [{"name": "a/b"}], "roles": {"cook": {}}},
        {},
    )
    for wrong in refused:
        assert not validator.is_valid(wrong), wrong
