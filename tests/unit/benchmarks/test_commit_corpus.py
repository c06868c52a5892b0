"""The list of commits that judges the proof, and what is counted of its results."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.commits import corpus, results
from benchmarks.commits.command import arguments
from benchmarks.commits.results import Result
from shared.errors import Misconfigured

ONE, TWO = "a1" * 20, "b2" * 20
TEXT = f"""\
projects:
  - name: ada/pages
    language: python
    python_packages: [pytest==8.3.4]
    commits:
      - commit: {ONE}
        reason: A limit was off by one.
      - commit: {ONE}
        expected: refuse
        reason: The same without its code.
        restore: [page.py]
  - name: bob/flags
    language: go
    test_command: go test ./...
    commits:
      - commit: {TWO}
        reason: A flag was not read.
"""


def test_a_list_says_what_is_expected_of_each_commit() -> None:
    assert [listed.expected for _, listed in corpus.read(TEXT).chosen()] == ["accept", "refuse", "accept"]


@pytest.mark.parametrize(
    ("names", "languages", "commits", "found"),
    [
        ((), (), (), [ONE, f"{ONE} -page.py", TWO]),
        (("pages",), (), (), [ONE, f"{ONE} -page.py"]),
        (("bob/flags",), (), (), [TWO]),
        ((), ("go",), (), [TWO]),
        ((), (), ("b2b2",), [TWO]),
        (("pages",), ("go",), (), []),
    ],
)
def test_what_is_chosen(
    names: tuple[str, ...], languages: tuple[str, ...], commits: tuple[str, ...], found: list[str]
) -> None:
    assert [listed.key for _, listed in corpus.read(TEXT).chosen(names, languages, commits)] == found


@pytest.mark.parametrize(
    "wrong",
    [
        TEXT.replace("python_packages", "packages"),
        TEXT.replace(TWO, "main"),
        TEXT.replace("expected: refuse", "expected: maybe"),
        TEXT.replace("        restore: [page.py]\n", ""),
        TEXT.replace("bob/flags", "ada/pages"),
        "projects: [",
    ],
)
def test_a_list_with_a_mistake_is_refused(wrong: str) -> None:
    with pytest.raises(Misconfigured, match="list of commits"):
        corpus.read(wrong)


def result(key: str, expected: str, got: str, language: str = "go") -> Result:
    return Result("ada/pages", key, language, expected, got, "a | b\nc", 12.4, 2, 7)


def test_results_are_appended_and_the_latest_of_a_commit_counts(tmp_path: Path) -> None:
    file = tmp_path / "new" / "results.jsonl"
    assert results.read(file) == {}
    for got in ("error", "accept"):
        results.append(file, result(ONE, "accept", got))
    assert results.read(file) == {("ada/pages", ONE): result(ONE, "accept", "accept")}


def test_the_summary_counts_honest_and_other_commits_by_language() -> None:
    every = [
        result(ONE, "accept", "accept"),
        result(TWO, "accept", "refuse", "rust"),
        result(f"{ONE} -a.go", "refuse", "error"),
        result(f"{TWO} -a.go", "refuse", "refuse"),
    ]
    go, rust, together = results.summary(every).splitlines()
    assert go.startswith("go: honest accepted 1 of 1, rightly refused 1 of 2, median 12 s")
    assert rust.startswith("rust: honest accepted 0 of 1, rightly refused 0 of 0")
    assert together.startswith("together: honest accepted 1 of 2, rightly refused 1 of 2")


def test_a_wrong_result_stands_out() -> None:
    head, _, right, wrong = results.table([result(ONE, "accept", "accept"), result(TWO, "accept", "refuse")]).split(
        "\n"
    )
    assert head.startswith("| project |")
    assert "| accept | accept | 12 | 2 + 7 |" in right
    assert "| **refuse** |" in wrong
    assert "a \\| b c" in wrong
    assert results.line(result(f"{TWO} -a.go", "accept", "refuse")).startswith(
        "ada/pages b2b2b2b2b -a.go: refuse (expected: accept); 12 s, 2+7 runs\n"
    )


def test_the_arguments() -> None:
    given = arguments(["--list", "l.yml", "--repositories", "a", "--scratch", "b", "--project", "x,y", "--limit", "3"])
    assert (given.project, given.limit, given.summary, given.again) == ("x,y", 3, False, False)
