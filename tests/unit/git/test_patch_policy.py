"""The patch policy, as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.git.patch_policy import (
    EXECUTABLE,
    GITLINK,
    SYMLINK,
    PatchPolicy,
    PatchRefusal,
    PatchRefused,
    PathChange,
    flagged,
    judge,
    matches,
)

OK = PathChange("src/app.py", "M", "100644", "100644", 3, 1, False, 900, "VALUE = 1\n")
POLICY = PatchPolicy()


def sentences(change: PathChange, policy: PatchPolicy = POLICY) -> list[str]:
    refusals = judge([change], policy=policy)
    assert all(refusal.path in {change.path, ""} for refusal in refusals)
    return [refusal.sentence for refusal in refusals]


def at(path: str) -> PathChange:
    return replace(OK, path=path, status="A", old_mode="000000")


@pytest.mark.parametrize(
    "path",
    [
        *("src/app.py", "docs/agents.rst", "README.md", "digit.git.py", "git/x.py", "a b/c.py", "näme.py"),
        *(
            "docs/agents-guide.md",
            "config/environment.yml",
            "locales/global.json",
            "docs/requirements/a.txt",
            "\u2764\ufe0f.md",
        ),
        *("src/lock.py", "tests/conftest.py", "docs/github/workflows.md", "claude/x.py", "src/vscode/x.py", "git~x"),
    ],
)
def test_ordinary_files_pass(path: str) -> None:
    assert sentences(at(path)) == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "", "C:/x", "c:x"])
def test_paths_that_lead_out_are_refused(path: str) -> None:
    assert "The path leads out of the repository." in sentences(at(path))


@pytest.mark.parametrize("path", ["a\\b", "a\nb", "a\x1b[0m", "a\u202eb", "a\udcffb", "a\u200bb", "a\x00b", "a\ufe0fb"])
def test_paths_that_cannot_be_shown_are_refused(path: str) -> None:
    assert "The path has characters that cannot be shown." in sentences(at(path))


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", "a/.git", ".GIT/hooks/x", ".Git /x", ".git./x", "git~1/x", "GIT~2", ".git::$INDEX/x"),
        *(".g\u200cit/config", "\uff0egit/config", "a\\.git\\config"),
    ],
)
def test_git_directories_are_refused_however_they_are_spelled(path: str) -> None:
    assert "The path reaches into a git directory." in sentences(at(path))


@pytest.mark.parametrize(
    "path",
    [
        *(".github/workflows/ci.yml", ".GitHub/CODEOWNERS", ".gitlab-ci.yml", "Jenkinsfile", "docs/CODEOWNERS"),
        *(
            "AGENTS.md",
            "src/agents.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".claude/settings.json",
            "pkg/.claude/x",
            ".mcp.json",
        ),
        *(".codex/config.toml", ".cursor/rules/x", ".vscode/tasks.json", ".gitmodules", ".gitattributes", ".envrc"),
        *(
            "AGENTS.override.md",
            "CLAUDE.local.md",
            "QWEN.md",
            ".clinerules/a.md",
            ".kiro/steering/a.md",
            ".zed/tasks.json",
        ),
        *("app.code-workspace", ".devcontainer.json", "lefthook.yml", ".pre-commit-config.yml", ".woodpecker.yaml"),
        *(".forgejo/workflows/a.yml", ".teamcity/settings.kts", "renovate.json5", ".agents/skills/a/SKILL.md"),
        *("src/.gitattributes", "AGENTS.md ", "\uff21GENTS.md", ".circleci/config.yml"),
    ],
)
def test_protected_files_are_for_people_even_when_planned(path: str) -> None:
    planned = replace(POLICY, planned=frozenset({path}))
    assert sentences(at(path), planned) == ["Only a person may change this file."]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "pyproject.toml",
            "web/package.json",
            "uv.lock",
            "requirements-dev.txt",
            ".gitignore",
            "src/.gitkeep",
            "go.mod",
        ),
        *("requirements/dev.txt", ".cargo/config.toml", "go.work", ".mvn/extensions.xml", "src/App/App.csproj"),
        *(
            "gradle/wrapper/gradle-wrapper.properties",
            "gradle/libs.versions.toml",
            "gradle.lockfile",
            "settings.gradle.kts",
        ),
        *(".yarnrc.yml", ".pnpmfile.cjs", "bun.lockb", "packages.lock.json", "x.gemspec", ".python-version"),
    ],
)
def test_manifests_need_the_specification(path: str) -> None:
    assert sentences(at(path)) == ["The approved specification does not list this file."]
    planned = replace(POLICY, planned=frozenset({path}))
    assert sentences(at(path), planned) == []
    assert flagged([at(path)]) == (path,)


def test_code_that_runs_uncalled_is_flagged_and_not_refused() -> None:
    changes = [at("tests/conftest.py"), at("src/app.py"), at("x.pth")]
    assert judge(changes, policy=POLICY) == ()
    assert flagged(changes) == ("tests/conftest.py", "x.pth")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (replace(OK, new_mode=SYMLINK, status="T"), "Symbolic links are not published."),
        (replace(OK, new_mode=GITLINK), "Submodules and embedded repositories are not published."),
        (replace(OK, new_mode=EXECUTABLE), "A new executable file is not published."),
        (
            replace(OK, binary=True, size=100_001, added_text=""),
            "A binary file of 100001 bytes is larger than 100000.",
        ),
        (replace(OK, added_text="a = '\u202e'"), "An added line has the invisible character U+202E."),
        (replace(OK, added_text="a\u200bb"), "An added line has the invisible character U+200B."),
        (replace(OK, added_text="x\U000e0041"), "An added line has the invisible character U+E0041."),
        (replace(OK, added_text="x\u3164 = 1"), "An added line has the invisible character U+3164."),
        (replace(OK, added_text="`\ufe00\ufe01`"), "An added line has the invisible character U+FE00."),
        (replace(OK, added_text="\u2764\ufe0f\ufe0f"), "An added line has the invisible character U+FE0F."),
        (replace(OK, added_text="a\U000e0100"), "An added line has the invisible character U+E0100."),
        (replace(OK, added_text="漢\U000e0080"), "An added line has the invisible character U+E0080."),
        (replace(OK, added_text="// a\u2028run()"), "An added line has the invisible character U+2028."),
        (replace(OK, added_text="a\u034fb"), "An added line has the invisible character U+034F."),
        (replace(OK, added_text="x\n\ufeffy"), "An added line has the invisible character U+FEFF."),
    ],
)
def test_contents_that_are_refused(change: PathChange, sentence: str) -> None:
    assert sentences(change) == [sentence]


@pytest.mark.parametrize(
    "change",
    [
        replace(OK, old_mode=SYMLINK, new_mode="000000", status="D"),
        replace(OK, old_mode=GITLINK, new_mode="000000", status="D"),
        replace(OK, old_mode=EXECUTABLE, new_mode=EXECUTABLE),
        replace(OK, old_mode=EXECUTABLE, new_mode="100644"),
        replace(OK, binary=True, size=100_000, added_text=""),
        replace(OK, added_text="\ufeffusing System;\n"),
        replace(OK, added_text="emoji \u2764\ufe0f 1\ufe0f\u20e3 \u00a9\ufe0e, tab\t, é, 漢字, 葛\U000e0100, العربية"),
    ],
)
def test_contents_that_pass(change: PathChange) -> None:
    assert sentences(change) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([replace(OK, added=1500, deleted=501)], "2001 changed lines are more than 2000."),
        ([replace(OK, path=f"src/{n}.py") for n in range(51)], "51 changed files are more than 50."),
        ([replace(OK, added_text="é" * 500_001)], "1000002 added bytes are more than 1000000."),
        ([replace(OK, path=f"{n}.png", binary=True, size=90_000) for n in range(12)], "1080000 added bytes are more "),
    ],
)
def test_limits_of_the_whole_patch(changes: list[PathChange], sentence: str) -> None:
    (refusal,) = judge(changes, policy=POLICY)
    assert refusal.path == ""
    assert refusal.sentence.startswith(sentence)


def test_the_limits_themselves_pass() -> None:
    assert judge([replace(OK, added=1999, deleted=1, added_text="x" * 1_000_000)], policy=POLICY) == ()
    assert judge([replace(OK, path=f"src/{n}.py") for n in range(50)], policy=POLICY) == ()
    assert judge([], policy=POLICY) == ()


def test_every_reason_is_named_in_order() -> None:
    changes = [replace(at(".github/x"), new_mode=EXECUTABLE), OK, replace(at("../x"), new_mode=SYMLINK)]
    assert [refusal.path for refusal in judge(changes, policy=POLICY)] == [".github/x", ".github/x", "../x", "../x"]


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b/x.PY", "*.py", True),
        ("a/b/x.py", "b", False),
        ("vendor/x/y", "vendor/**", True),
        ("a/vendor/x", "vendor/**", True),
        ("a/vendor", "vendor/**", False),
        ("docs/a/b.md", "docs/*.md", True),
        ("x/docs/b.md", "docs/*.md", False),
    ],
)
def test_patterns(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, (pattern,)) is expected
    assert matches(path, ("other.txt", pattern, "else/**", "a/whole/path")) is expected
    assert not matches(path, ())


def test_the_error_lists_every_refusal_for_a_person() -> None:
    error = PatchRefused([PatchRefusal("a.py", "Too bad."), PatchRefusal("", "Too much.")])
    assert str(error) == "The patch policy refuses this change:\n- `a.py`: Too bad.\n- Too much."
    assert [refusal.path for refusal in error.refusals] == ["a.py", ""]
