"""Finding and reading the configuration: every mistake is named with its place, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading_scene import HOME, ROW, complaints, read

from config.loading import load, source
from shared.errors import Misconfigured

MISTAKES = [
    (
        ROW + "    pol_interval: 5",
        "repos.yml:3:5: repositories[0].pol_interval: unknown key; did you mean 'poll_interval'?",
    ),
    (ROW + "    zzz: 5", "repos.yml:3:5: repositories[0].zzz: unknown key"),
    (
        ROW + "max_attempts: 5",
        "repos.yml:3:1: max_attempts: unknown key here; it belongs under an entry of `repositories:`",
    ),
    (
        ROW + "    sandbox: none",
        "repos.yml:3:5: repositories[0].sandbox: unknown key here; it belongs at the top level",
    ),
    (
        ROW + "timeout: 900",
        "repos.yml:3:1: timeout: unknown key here; it belongs under `ci:` in an entry of `repositories:`, "
        "or under `lock:`",
    ),
    (
        ROW + "lock: {max_turns: 1}",
        "repos.yml:3:8: lock.max_turns: unknown key here; it belongs under an entry of "
        "`repositories:`, or under an entry of `roles:`",
    ),
    (
        ROW + "    ci: {intervall: 1}",
        "repos.yml:3:10: repositories[0].ci.intervall: unknown key; did you mean 'interval'?",
    ),
    (ROW + "locks: {}", "repos.yml:3:1: locks: unknown key; did you mean 'lock'?"),
    (ROW + "github: {token: ghp_x}", "repos.yml:3:10: github.token: unknown key; did you mean 'token_env'?"),
    (ROW + "    poll_interval: 0", "repos.yml:3:20: repositories[0].poll_interval: must be greater than 0, not 0"),
    (
        ROW + "    poll_interval: -1.5",
        "repos.yml:3:20: repositories[0].poll_interval: must be greater than 0, not -1.5",
    ),
    (ROW + "    poll_interval: often", "repos.yml:3:20: repositories[0].poll_interval: must be a number, not text"),
    (
        ROW + "    poll_interval: '30'",
        "repos.yml:3:20: repositories[0].poll_interval: must be a number without unit or quotes, not text",
    ),
    (
        ROW + "lock: {timeout: 30m}",
        "repos.yml:3:17: lock.timeout: must be a whole number without unit or quotes, not text",
    ),
    (
        ROW + "lock: {timeout: 999999999999}",
        "repos.yml:3:17: lock.timeout: must be at most 2592000, not 999999999999",
    ),
    (
        ROW + "    approval_timeout_hours: 1e90",
        "repos.yml:3:29: repositories[0].approval_timeout_hours: must be at most 87600, not 1e+90",
    ),
    (
        ROW + "events: {retention_days: 999999999999}",
        "repos.yml:3:26: events.retention_days: must be at most 36500, not 999999999999",
    ),
    (ROW + "repos: [{name: a/c}]", "repos.yml:3:1: repos: unknown key; did you mean 'repositories'?"),
    (ROW + "repository: a/c", "repos.yml:3:1: repository: unknown key; did you mean 'repositories'?"),
    (
        ROW + "    backend: codex",
        "repos.yml:3:5: repositories[0].backend: unknown key; did you mean 'llm_backend'?",
    ),
    (
        "repositories: [a/b]",
        "repos.yml:1:16: repositories[0]: must be a mapping of keys to values, not text; it needs at least 'name:'",
    ),
    (
        ROW + "    reviewers: ['@ada']",
        "repos.yml:3:17: repositories[0].reviewers[0]: is not a login; write it as GitHub shows it, without @, as in "
        "'octocat'",
    ),
    (
        ROW + "notify: {mention: [org/team, '@ada']}",
        "repos.yml:3:30: notify.mention[1]: is not a login; write it as GitHub shows it, without @, as in 'octocat'",
    ),
    (
        ROW + "github: {token_env: ghp_abcdefghijkl}",
        "repos.yml:3:21: github.token_env: is not the name of an environment variable; the secret itself stands in the "
        "variable, never here",
    ),
    (
        ROW + "github: {api_url: https://github.com}",
        "repos.yml:3:19: github.api_url: is GitHub's site, not its API; write https://api.github.com",
    ),
    (
        ROW + "state_dir: $HOME/engine",
        "repos.yml:3:12: state_dir: starts with $, and $CREDENTIALS_DIRECTORY and ~ alone are replaced; write the "
        "whole path",
    ),
    (ROW + "state_dir: ' '", "repos.yml:3:12: state_dir: must not be empty"),
    (
        f"{ROW}    merge: {'x' * 500}",
        f"repos.yml:3:12: repositories[0].merge: is '{'x' * 59}…', not one of never, approve, auto",
    ),
    (
        "repositories:\n\t- name: a/b",
        "repos.yml:2:1: not valid YAML: found character '\\t' that cannot start any token; indent with blanks, not "
        "with tabs",
    ),
    (ROW + "    max_attempts: 2.5", "repos.yml:3:19: repositories[0].max_attempts: must be a whole number, not 2.5"),
    (ROW + "    max_attempts: true", "repos.yml:3:19: repositories[0].max_attempts: must be a whole number, not true"),
    (ROW + "    max_attempts:", "repos.yml:3:18: repositories[0].max_attempts: must be a whole number, not nothing"),
    (ROW + "    delete_branch: yes", "repos.yml:3:20: repositories[0].delete_branch: must be true or false, not text"),
    (ROW + "    reviewers: ada", "repos.yml:3:16: repositories[0].reviewers: must be a list, not text"),
    (ROW + "    reviewers: [ada, 5]", "repos.yml:3:22: repositories[0].reviewers[1]: must be text, not a number"),
    (ROW + "    reviewers: ['']", "repos.yml:3:17: repositories[0].reviewers[0]: must not be empty"),
    (ROW + "    ci: 5", "repos.yml:3:9: repositories[0].ci: must be a mapping of keys to values, not 5"),
    (
        ROW + "    merge: nevr",
        "repos.yml:3:12: repositories[0].merge: is 'nevr', not one of never, approve, auto; did you mean 'never'?",
    ),
    (ROW + "    assign: {login: ada}", "repos.yml:3:13: repositories[0].assign: must be text, not a mapping"),
    (ROW + "    merge: [auto]", "repos.yml:3:12: repositories[0].merge: is a list, not one of never, approve, auto"),
    (ROW + "    merge: true", "repos.yml:3:12: repositories[0].merge: is true, not one of never, approve, auto"),
    (ROW + "budgets: {warn: 1.5}", "repos.yml:3:17: budgets.warn: must be at most 1, not 1.5"),
    (ROW + "max_concurrent: 0", "repos.yml:3:17: max_concurrent: must be at least 1, not 0"),
    (ROW + "notify: {smtp: 12345}", "repos.yml:3:16: notify.smtp: must be text, not a number"),
    (
        ROW + "roles: {develper: {}}",
        "repos.yml:3:9: roles.develper: unknown key, not one of architect, test-automation, developer, "
        "code-reviewer, debugger, qa, assistant, generalist; did you mean 'developer'?",
    ),
    (ROW + "roles: {qa: {modl: x}}", "repos.yml:3:14: roles.qa.modl: unknown key; did you mean 'model'?"),
    (ROW + "max_concurrent: 1\nmax_concurrent: 2", "repos.yml:4:1: max_concurrent: given twice, first in line 3"),
    (
        ROW + "lock: {timeout: 600, self_fence: 500}",
        "repos.yml:3:17: lock.timeout: must be at least 3 heartbeats (900), not 600",
    ),
    (
        ROW + "lock: {self_fence: 1800}",
        "repos.yml:3:20: lock.self_fence: must be at most 1500: a sixth of lock.timeout (1800) lies between the moment "
        "at which an agent stops by itself and the one at which others may take over, not 1800",
    ),
    (
        ROW + "lock: {timeout: 4000, heartbeat: 1400}",
        "repos.yml:3:17: lock.timeout: must be at least 3 heartbeats (4200), not 4000",
    ),
    (ROW + "lock: {settle: 1}", "repos.yml:3:16: lock.settle: must be at least 2, not 1"),
    (
        ROW + "github: {api_url: 'http://github.example.org'}",
        "repos.yml:3:19: github.api_url: must begin with https://; http is for loopback only",
    ),
    (ROW + "  - name: A/B", "repos.yml:3:11: repositories[1].name: 'A/B' is already configured as repositories[0]"),
    ("repositories: []", "repos.yml:1:15: repositories: needs at least 1 item"),
    ("repositories: [{}]", "repos.yml:1:16: repositories[0].name: this key is required"),
    ("max_concurrent: 1", "repos.yml:1:1: repositories: this key is required"),
    (
        "- name: a/b",
        "repos.yml:1:1: must be a mapping of keys to values, not a list; it needs at least 'repositories:'",
    ),
    ("repositories: [{name: a}]", "repos.yml:1:23: repositories[0].name: is not a repository; write owner/repo,"),
]


@pytest.mark.fault(2)
@pytest.mark.parametrize(("text", "line"), MISTAKES)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, line: str) -> None:
    found = complaints(tmp_path, text)
    assert any(one == line or (line.endswith(",") and one.startswith(line)) for one in found), found
    assert len(found) == 1, found


@pytest.mark.fault(2)
def test_all_mistakes_are_listed_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """\
repositories:
  - {pol_interval: 5, poll_interval: -3}
  - name: a/c
    max_attempts: many
  - 5
  - name: A/C
lock: {timeout: 100, self_fence: soon}
github: {app: {id: 3}, write_interval_seconds: 0}
"""
    assert [line.split(": ")[0] + " " + line.split(": ")[1] for line in complaints(tmp_path, text)] == [
        "repos.yml:2:5 repositories[0].name",
        "repos.yml:2:6 repositories[0].pol_interval",
        "repos.yml:2:38 repositories[0].poll_interval",
        "repos.yml:4:19 repositories[1].max_attempts",
        "repos.yml:5:5 repositories[2]",
        "repos.yml:6:11 repositories[3].name",
        "repos.yml:7:17 lock.timeout",
        "repos.yml:7:34 lock.self_fence",
        "repos.yml:8:15 github.app.private_key_file",
        "repos.yml:8:48 github.write_interval_seconds",
    ]


def test_a_rule_does_not_complain_about_a_key_that_is_already_wrong(tmp_path: Path) -> None:
    found = complaints(tmp_path, ROW + "lock: {timeout: soon, heartbeat: 5000, self_fence: 9000}")
    assert found == ["repos.yml:3:17: lock.timeout: must be a whole number, not text"]


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "repos.yml:1:1: the file is empty; it needs at least"),
        ("# nothing\n", "repos.yml:1:1: the file is empty; it needs at least"),
        ("repositories: [{name: a/b}\nlock: {}", "repos.yml:2:1: not valid YAML: "),
        ("a: b: c", "repos.yml:1:5: not valid YAML: "),
        ("a:\n\t- b", "repos.yml:2:1: not valid YAML: "),
        ("a: &x [*x]", "repos.yml:1:4: an alias that contains itself"),
        ("a: 1\n---\nb: 1", "repos.yml:2:1: not valid YAML: "),
        (b"a: 1\nb: \xff", "repos.yml:2:4: not valid UTF-8"),
        ("a: 1\nb: x\x00", "repos.yml:2:5: a character that YAML does not allow"),
        ("[" * 1000, "repos.yml:1:1: nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | bytes, line: str) -> None:
    (found,) = complaints(tmp_path, text)
    assert found.startswith(line)


@pytest.mark.fault(1)
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"nowhere\.yml: there is no such configuration file"):
        load(Path("nowhere.yml"), repository=None, environment=HOME, directory=tmp_path)
    with pytest.raises(Misconfigured, match=r"gone\.yml: there is no such configuration file"):
        load(None, repository="a/b", environment=HOME | {"WORKFLOW_ENGINE_CONFIG": "gone.yml"}, directory=tmp_path)
    with pytest.raises(Misconfigured, match="cannot be read: Is a directory"):
        load(Path(), repository=None, environment=HOME, directory=tmp_path)


@pytest.mark.fault(1)
def test_without_any_configuration_the_next_step_is_named(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    with pytest.raises(
        Misconfigured, match=r"name a repository \(owner/repo\), or let `workflow-engine init owner/repo` write a file"
    ):
        load(None, repository=None, environment=environment, directory=tmp_path)


def test_a_repository_alone_is_a_configuration(tmp_path: Path) -> None:
    found = load(None, repository="a/b", environment={"HOME": str(tmp_path)}, directory=tmp_path)
    assert [r.name for r in found.repositories] == ["a/b"]
    assert found.state_dir == tmp_path / ".workflow-engine"


@pytest.mark.fault(3)
def test_a_malformed_repository_argument_is_refused_even_beside_a_file(tmp_path: Path) -> None:
    (tmp_path / "repos.yml").write_text(ROW)
    with pytest.raises(Misconfigured, match=r"'github\.com/a/b' is not a repository; write owner/repo"):
        load(None, repository="github.com/a/b", environment=HOME, directory=tmp_path)


def test_a_repository_argument_selects_from_the_file(tmp_path: Path) -> None:
    text = "repositories: [{name: a/b}, {name: a/c, max_attempts: 5}]"
    (only,) = read(tmp_path, text, repository="A/C").repositories
    assert (only.name, only.max_attempts) == ("a/c", 5)
    with pytest.raises(Misconfigured, match="'a/d' is not configured here; there is a/b, a/c"):
        read(tmp_path, text, repository="a/d")


def test_the_order_in_which_files_are_found(tmp_path: Path) -> None:
    places = [tmp_path / "cfg/workflow-engine/repos.yml", tmp_path / "repos.yml", tmp_path / "config/repos.yml"]
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "cfg")}
    assert source(None, environment=environment, directory=tmp_path) is None
    for place in places:  # each one goes before those that are there already
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(ROW)
        assert source(None, environment=environment, directory=tmp_path) == place
    named = environment | {"WORKFLOW_ENGINE_CONFIG": "other.yml"}
    assert source(None, environment=named, directory=tmp_path) == tmp_path / "other.yml"
    assert source(Path("mine.yml"), environment=named, directory=tmp_path) == tmp_path / "mine.yml"


def test_a_tilde_is_the_home_directory(tmp_path: Path) -> None:
    found = read(tmp_path, ROW + "state_dir: ~/state\nlock: {key_files: [~/key, /etc/key]}")
    assert found.state_dir == Path("/home/ada/state")
    assert found.lock.key_files == (Path("/home/ada/key"), Path("/etc/key"))


def test_secrets_may_lie_where_systemd_puts_them(tmp_path: Path) -> None:
    file = tmp_path / "repos.yml"
    file.write_text(ROW + "lock: {key_files: [$CREDENTIALS_DIRECTORY/key]}")
    given = HOME | {"CREDENTIALS_DIRECTORY": "/run/credentials/worker-agent@team.service"}
    found = load(file, repository=None, environment=given)
    assert found.lock.key_files == (Path("/run/credentials/worker-agent@team.service/key"),)
    with pytest.raises(Misconfigured, match=r"3:20: lock.key_files\[0\]: starts with \$CREDENTIALS_DIRECTORY, which"):
        load(file, repository=None, environment=HOME)


def test_systemd_names_the_state_directory_unless_the_file_does(tmp_path: Path) -> None:
    environment = HOME | {"STATE_DIRECTORY": "/var/lib/workflow-engine:/var/lib/other"}
    found = load(None, repository="a/b", environment=environment, directory=tmp_path)
    assert found.state_dir == Path("/var/lib/workflow-engine")
    (tmp_path / "repos.yml").write_text(ROW + "state_dir: /srv/engine")
    assert load(None, repository=None, environment=environment, directory=tmp_path).state_dir == Path("/srv/engine")


def test_off_is_a_word(tmp_path: Path) -> None:
    assert read(tmp_path, ROW + "    refactor: off").repositories[0].refactor == "off"


def test_the_lab_may_be_fast(tmp_path: Path) -> None:
    text = ROW + (
        "github: {api_url: 'http://127.0.0.1:9', write_interval_seconds: 0}\n"
        "lock: {timeout: 2, self_fence: 1.5, heartbeat: 1, settle: 0}"
    )
    assert read(tmp_path, text).lock.settle == 0


def test_a_scenario_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    place = tmp_path / "a place" / "repos.yml"
    place.parent.mkdir()
    for named, found in (("story.yml", place.parent / "story.yml"), ("/x/story.yml", Path("/x/story.yml"))):
        place.write_text(f"repositories: [{{name: a/b, llm_backend: scripted}}]\nllm: {{scenario: {named}}}\n")
        assert load(place, repository=None, environment={"HOME": "/home/ada"}).llm.scenario == found


def test_a_file_that_is_gone_is_told_with_the_variable_that_names_it(tmp_path: Path) -> None:
    environment = HOME | {"WORKFLOW_ENGINE_CONFIG": "gone.yml"}
    with pytest.raises(Misconfigured, match=r"gone\.yml: .*; the variable WORKFLOW_ENGINE_CONFIG names it"):
        load(None, repository=None, environment=environment, directory=tmp_path)
    with pytest.raises(Misconfigured, match=r"other\.yml: there is no such configuration file$"):
        load(Path("other.yml"), repository=None, environment=environment, directory=tmp_path)
