"""Mistakes of newcomers: each ends with its exit code and a sentence that says what, where and what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

MISCONFIGURED, NOT_ALLOWED = 2, 4

FILES = {
    "broken.yml": b"repositories: [\n",
    "unknown.yml": b"repositories:\n  - name: ada/directory\n    pol_interval: 3\n",
    "latin.yml": b"\xff\xfe\x00bad",
    "empty.yml": b"",
    "none.yml": b"repositories: []\n",
    "noowner.yml": b"repositories:\n  - name: directory\n",
    "negative.yml": b"repositories:\n  - name: ada/directory\n    poll_interval: -3\n",
    "backend.yml": b"repositories:\n  - name: ada/directory\n    llm_backend: gpt\n",
    "twice.yml": b"repositories:\n  - name: ada/directory\n  - name: ada/directory\n",
    "colons.yml": b"a: b: c\n",
    "level.yml": b"repositories:\n  - name: ada/directory\nmax_attempts: 3\n",
    "plain.yml": b"repositories:\n  - name: ada/directory\n",
    "SPEC.md": b"\xff\xfe\xe4",
    "EMPTY.md": b"",
}

REPOSITORY = "is not a repository; write owner/repo, as in 'octocat/hello-world', without URL or .git"

MISTAKES = [
    (
        "status",
        MISCONFIGURED,
        "There is no configuration: name a repository (owner/repo), or let `workflow-engine init",
    ),
    ("status ada", MISCONFIGURED, f"'ada' {REPOSITORY}"),
    ("status https://github.com/ada/directory", MISCONFIGURED, REPOSITORY),
    ("status ada/directory/", MISCONFIGURED, REPOSITORY),
    ("status git@github.com:ada/directory.git", MISCONFIGURED, REPOSITORY),
    ("status ada/directory", NOT_ALLOWED, "There is no GitHub token: set the environment variable GITHUB_TOKEN"),
    ("status --config broken.yml", MISCONFIGURED, "broken.yml:2:1: not valid YAML:"),
    (
        "status --config unknown.yml",
        MISCONFIGURED,
        "unknown.yml:3:5: repositories[0].pol_interval: unknown key; did you",
    ),
    ("status --config latin.yml", MISCONFIGURED, "latin.yml:1:1: not valid UTF-8"),
    ("status --config empty.yml", MISCONFIGURED, "the file is empty; it needs at least 'repositories: [{name:"),
    ("status --config none.yml", MISCONFIGURED, "none.yml:1:15: repositories: needs at least 1 item"),
    ("status --config noowner.yml", MISCONFIGURED, f"noowner.yml:2:11: repositories[0].name: {REPOSITORY}"),
    ("status --config negative.yml", MISCONFIGURED, "repositories[0].poll_interval: must be greater than 0, not -3"),
    (
        "status --config backend.yml",
        MISCONFIGURED,
        "llm_backend: is 'gpt', not one of claude, codex, qwen, mini, scripted",
    ),
    ("status --config twice.yml", MISCONFIGURED, "'ada/directory' is already configured as repositories[0]"),
    ("status --config colons.yml", MISCONFIGURED, "colons.yml:1:5: not valid YAML"),
    ("status --config missing.yml", MISCONFIGURED, "missing.yml: there is no such configuration file"),
    ("status --config plain", MISCONFIGURED, "plain: the configuration cannot be read: Is a directory"),
    (
        "status --config empty.yml --config none.yml",
        MISCONFIGURED,
        "--config is given twice, and one alone can count: leave out the others.",
    ),
    ("tdd SPEC.md --config a.yml --config b.yml --config c.yml", MISCONFIGURED, "--config is given 3 times, and one"),
    ("start ada/directory --yes --issue 3 --issue 4", MISCONFIGURED, "--issue is given twice"),
    ("run ada/directory --config=empty.yml --config none.yml", MISCONFIGURED, "--config is given twice"),
    ("recover retry ada/directory", MISCONFIGURED, "is no issue or pull request: write it as owner/repo#7."),
    ("recover frobnicate ada/directory#7", MISCONFIGURED, "'frobnicate' is no action; there is start, pause, resume,"),
    ("recover approve ada/directory#7", MISCONFIGURED, "comment `/approve` on ada/directory#7."),
    ("verify ada/directory", MISCONFIGURED, "is no pull request: write it as owner/repo#7."),
    ("verify", MISCONFIGURED, "Name one pull request as owner/repo#7, or two commits as --local BASE HEAD."),
    ("verify --local a b", MISCONFIGURED, "is no git repository: give the one that has both commits with --repo PATH."),
    ("tdd", MISCONFIGURED, "ame the file with the specification, as in `workflow-engine tdd SPEC.md`."),
    ("tdd EMPTY.md", MISCONFIGURED, "The specification EMPTY.md is empty: say in it what should be built."),
    ("tdd SPEC.md", MISCONFIGURED, "The specification SPEC.md is not UTF-8 text."),
    ("tdd missing.md", MISCONFIGURED, "There is no file missing.md: write into one what should be built, and name it"),
    ("tdd plain", MISCONFIGURED, "The specification plain cannot be read: Is a directory."),
    ("tdd --test-command=", MISCONFIGURED, "--test-command: must not be empty."),
    ("status --config level.yml", MISCONFIGURED, "level.yml:3:1: max_attempts: unknown key here; it belongs under an"),
    ("status ada/other --config level.yml", MISCONFIGURED, "max_attempts: unknown key here; it belongs under an entry"),
    ("status ada/other --config plain.yml", MISCONFIGURED, "there is ada/directory. Add it under `repositories:`, or"),
    (
        "report ada/directory --since yesterday",
        MISCONFIGURED,
        "--since: 'yesterday' is no time; write it as 2026-11-22",
    ),
    ("report ada/directory --since 2999-01-01", MISCONFIGURED, "--since: '2999-01-01' is not before now ("),
    ("demo --story Search", MISCONFIGURED, "--repo and --story go together: a repository of yours, and what should be"),
    ("demo --story Find", MISCONFIGURED, "They need a real coder too: add --llm claude or --llm codex."),
    ("demo --repo plain", MISCONFIGURED, "--repo and --story go together"),
    ("replay plain", MISCONFIGURED, "plain holds no recording: set llm.record to a directory and let an agent work."),
    ("install-cli gpt", MISCONFIGURED, "There is no package for 'gpt'; there is claude, codex, mini, qwen."),
    ("events --since yesterday", MISCONFIGURED, "'yesterday' is no time; write it as 2026-11-22T08:30, or as 24h."),
    ("events --since 999999d", MISCONFIGURED, "'999999d' is no time; write it as 2026-11-22T08:30, or as 24h."),
    ("events --kind foo", MISCONFIGURED, "'foo' is none; there is claim, ended, phase"),
    (
        "dashboard --port 99999",
        MISCONFIGURED,
        "Invalid value for '--port': Input should be less than or equal to 65535",
    ),
    (
        "dashboard --interval 0",
        MISCONFIGURED,
        "Invalid value for '--interval': Input should be greater than or equal to 2",
    ),
    ("uninstall ada", MISCONFIGURED, REPOSITORY),
    ("demo --llm gpt", MISCONFIGURED, "--llm: there is no backend 'gpt'; choose scripted, claude or codex."),
    ("demo --workers 0", MISCONFIGURED, "--workers takes a number from 1, not 0."),
    ("demo --stories 0", MISCONFIGURED, "--stories takes a number from 1 to"),
    ("demo --budget -1", MISCONFIGURED, "--budget takes US dollars above 0, not -1."),
    ("demo --kill-every -3", MISCONFIGURED, "--kill-every takes seconds from 0 (nobody is killed), not -3."),
    ("start ada/directory --yes --backend gemini", MISCONFIGURED, "--backend: is 'gemini', not one of claude, codex"),
    ("start ada/directory --yes --test-command=", MISCONFIGURED, "--test-command: must not be empty."),
    ("start ada/directory --yes --setup-command=", MISCONFIGURED, "--setup-command: must not be empty."),
    ("start ada/directory --yes --sandbox docker", MISCONFIGURED, "--sandbox: is 'docker', not one of bubblewrap,"),
    ("start ada/directory --yes --api-url 127.0.0.1:8911", MISCONFIGURED, "--api-url: is not the root of a GitHub API"),
    ("init ada/directory --yes --api-url 127.0.0.1:8911", MISCONFIGURED, "--api-url: is not the root of a GitHub API"),
    ("demo --minutes 0", MISCONFIGURED, "--minutes takes a number above 0, not 0."),
]

RUN = """
import json, sys
from typer.testing import CliRunner
from console.app import app
environment = json.loads(sys.argv[1])
for words in json.load(sys.stdin):
    found = CliRunner().invoke(app, words, env=environment)
    crash = "" if found.exception is None or isinstance(found.exception, SystemExit) else repr(found.exception)
    print(json.dumps([found.exit_code, found.output, crash]), flush=True)
"""
"""All of them in one process: each would load the program anew."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Run each mistake in a directory that has nothing but mistakes, and return its exit code and both outputs."""
    place = tmp_path_factory.mktemp("newcomer")
    (place / "plain").mkdir()
    for name, content in FILES.items():
        (place / name).write_bytes(content)
    home = {"PATH": "/usr/bin:/bin", "HOME": str(place)}
    asked = json.dumps([words.split() for words, _, _ in MISTAKES])
    argv = (sys.executable, "-c", RUN, json.dumps(home))
    environment = {**home, "PYTHONPATH": os.pathsep.join([str(ROOT)]), "TERM": "dumb", "COLUMNS": "400"}
    ended = subprocess.run(argv, cwd=place, env=environment, input=asked, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    return {words: tuple(answer) for (words, _, _), answer in zip(MISTAKES, found, strict=True)}


@pytest.mark.parametrize(("words", "code", "said"), MISTAKES, ids=[words for words, _, _ in MISTAKES])
def test_a_mistake_is_answered_in_a_sentence_that_leads_on(
    words: str, code: int, said: str, answers: dict[str, tuple[int, str, str]]
) -> None:
    found, output, crash = answers[words]
    assert crash == ""
    assert said in " ".join(output.split())
    assert found == code
    assert "Traceback" not in output


def test_thirty_are_told() -> None:
    assert len(MISTAKES) >= 30
