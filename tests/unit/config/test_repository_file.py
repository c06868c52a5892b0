"""`.workflow-engine.yml`: which keys a repository may set, that limits only fall, and that mistakes have a place."""

from __future__ import annotations

import pytest

from config.repository import RepositorySettings
from config.repository_file import NO_RULES, RepositoryRules, overlaid, read_rules
from config.suites import SuiteSettings
from shared.errors import Misconfigured

CONFIGURED = RepositorySettings(
    name="ada/directory", test_command="make test", setup_command="make setup", max_turns=40, run_timeout_minutes=30
)


def rules(text: str) -> RepositoryRules:
    return read_rules(text.encode(), {"claude"})


def test_what_it_does_not_say_stays_as_the_operator_says() -> None:
    assert overlaid(CONFIGURED, rules("")) == CONFIGURED
    assert rules("# nothing but a remark\n") == NO_RULES
    found = overlaid(CONFIGURED, rules("test_command: npx vitest run\nquality_commands: []\n"))
    assert (found.test_command, found.setup_command, found.quality_commands) == ("npx vitest run", "make setup", ())


def test_an_explicit_null_takes_the_operators_command_away() -> None:
    assert overlaid(CONFIGURED, rules("setup_command: null\n")).setup_command is None


@pytest.mark.parametrize(("asked", "turns"), [(10, 10), (40, 40), (400, 40), ("null", 40)])
def test_a_limit_is_lowered_and_never_raised(asked: object, turns: int) -> None:
    assert overlaid(CONFIGURED, rules(f"max_turns: {asked}\n")).max_turns == turns
    assert overlaid(CONFIGURED, rules("run_timeout_minutes: 90\n")).run_timeout_minutes == 30


def test_suites_and_a_single_suite_replace_each_other() -> None:
    several = overlaid(CONFIGURED, rules("suites: [{directory: api}, {directory: web, test_command: npm test}]\n"))
    assert [one.directory for one in several.suites] == ["api", "web"]
    assert (several.test_command, several.working_directory) == (None, "")
    configured = RepositorySettings(name="ada/directory", suites=(SuiteSettings(directory="api"),))
    assert overlaid(configured, rules("test_command: make test\n")).suites == ()
    assert overlaid(configured, rules("setup_command: make setup\n")).suites == configured.suites


def test_a_ladder_in_its_short_forms() -> None:
    found = rules("ladder: [haiku, claude, {backend: claude, model: opus}]\n")
    assert [(one.backend, one.model) for one in found.ladder] == [(None, "haiku"), ("claude", None), ("claude", "opus")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("merge: auto\n", ".workflow-engine.yml:1:1: merge: unknown key here; it is set in the configuration of the"),
        ("llm_backend: codex\n", "llm_backend: unknown key here; it is set in the configuration of the engine"),
        ("test_comand: x\n", "test_comand: unknown key; did you mean 'test_command'?"),
        ("working_directory: ../secrets\n", "working_directory: is no directory of the repository"),
        ("conventions: [/etc/passwd]\n", "conventions[0]: is no pattern of files of the repository"),
        ("ladder: [{backend: codex}]\n", ".workflow-engine.yml:1:10: ladder[0]: the backend 'codex' is not configured"),
        ("ladder: [{backend: nonsense}]\n", "ladder[0].backend: is 'nonsense', not one of"),
        ("max_turns: many\n", "max_turns: must be a whole number"),
        ("max_turns: 0\n", "max_turns: must be at least 1, not 0"),
        ("- test_command\n", "must be a mapping of keys to values"),
        ("test_command: [\n", ".workflow-engine.yml:"),
        ("test_command: a\ntest_command: b\n", ".workflow-engine.yml:2:1: "),
        ("x: " + "y" * 300_000, ".workflow-engine.yml:"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        rules(text)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", sorted(RepositoryRules.model_fields.keys() - {"conventions"}))
def test_every_key_is_spelled_as_in_the_operators_configuration(name: str) -> None:
    assert name in RepositorySettings.model_fields
