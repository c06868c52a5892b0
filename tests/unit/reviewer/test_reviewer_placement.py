"""Findings stand on lines that exist in the diff; what a review did not see, it says."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.reviewer_world import DIFF, finding

from reviewer_agent.review.answer import FindingAnswer
from reviewer_agent.review.draft import place
from reviewer_agent.review.patch import UNREADABLE, read

CHANGED = """\
diff --git a/src/store one.py b/src/store one.py
index 1111111..2222222 100644
--- a/src/store one.py\t
+++ b/src/store one.py\t
@@ -10,4 +10,5 @@ class Store:
 kept
-old
+new
+newer
 kept too
 last
"""
REMOVED = """\
diff --git a/gone.py b/gone.py
deleted file mode 100644
index 1111111..0000000
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""
RENAMED = """\
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1 +1 @@
-a
+b
"""
BINARY = (
    "diff --git a/logo.png b/logo.png\nindex 1111111..2222222 100644\nBinary files a/logo.png and b/logo.png differ\n"
)
QUOTED = 'diff --git "a/tab\\there" "b/tab\\there"\n--- "a/tab\\there"\n+++ "b/tab\\there"\n@@ -1 +1 @@\n-a\n+b\n'
BROKEN = "diff --git a/broken.py b/broken.py\n--- a/broken.py\n+++ b/broken.py\n@@ -1,9 +1,9 @@\n+only this\n"

ALL = DIFF + CHANGED + REMOVED + RENAMED + BINARY + QUOTED + BROKEN


def of(**facts: Any) -> FindingAnswer:
    return FindingAnswer.model_validate(finding(**facts))


@pytest.mark.parametrize(
    ("path", "line", "inline"),
    [
        ("directory/search.py", 1, True),
        ("directory/search.py", 2, True),
        ("directory/search.py", 3, False),
        ("directory/search.py", 0, False),
        ("directory/search.py", None, False),
        ("src/store one.py", 9, False),
        ("src/store one.py", 10, True),
        ("src/store one.py", 14, True),
        ("src/store one.py", 15, False),
        ("new.py", 1, True),
        ("old.py", 1, False),
        ("gone.py", 1, False),
        ("logo.png", 1, False),
        ("broken.py", 1, False),
        ("b/directory/search.py", 1, False),
        ("elsewhere.py", 1, False),
    ],
)
@pytest.mark.fault(41)
def test_a_finding_is_inline_exactly_where_the_diff_has_its_line(path: str, line: int | None, inline: bool) -> None:
    one = of(path=path, line=line)
    placed = place([one], read(ALL, 100_000))
    assert (placed.inline, placed.rest) == (((one,), ()) if inline else ((), (one,)))


def test_the_most_severe_comes_first() -> None:
    findings = [of(severity=severity, line=1) for severity in ("remark", "critical", "minor", "major")]
    placed = place(findings, read(DIFF, 100_000))
    assert [found.severity for found in placed.inline] == ["critical", "major", "minor", "remark"]


def test_a_whole_diff_is_shown_as_it_is() -> None:
    patch = read(ALL, len(ALL.encode()))
    assert patch.text == ALL
    assert patch.missing == ()
    assert {"directory/search.py", "old.py", "new.py", "gone.py", "logo.png", UNREADABLE} < patch.paths


@pytest.mark.fault(35)
def test_files_that_do_not_fit_are_left_out_whole_and_named() -> None:
    large = CHANGED.replace("+newer\n", "+newer\n" * 100)
    patch = read(large + DIFF, len(DIFF.encode()))
    assert patch.text.startswith(DIFF)
    assert "1 of 2 changed files are not shown" in patch.text
    assert "src/store one.py" in patch.text
    assert patch.missing == ("src/store one.py",)
    assert not patch.has("src/store one.py", 10)
    assert patch.has("directory/search.py", 1)


def test_the_statement_of_what_is_missing_stays_short() -> None:
    many = "".join(DIFF.replace("search", f"search{number}") for number in range(100))
    patch = read(many, 0)
    assert len(patch.missing) == 100
    assert "and more" in patch.text
    assert len(patch.text) < 1500


@pytest.mark.parametrize(
    ("diff", "sensitive"),
    [
        (DIFF, ()),
        (DIFF.replace("directory/search.py", ".github/workflows/ci.yml"), (".github/workflows/ci.yml",)),
        (DIFF.replace("directory/search.py", "AGENTS.md"), ("AGENTS.md",)),
        (DIFF.replace("directory/search.py", "sub/package.json"), ("sub/package.json",)),
        (RENAMED.replace("old.py", ".github/CODEOWNERS"), (".github/CODEOWNERS",)),
        (QUOTED, (UNREADABLE,)),
    ],
)
@pytest.mark.parametrize("limit", [0, 100_000])
def test_protected_files_are_seen_even_when_they_are_not_shown(
    diff: str, sensitive: tuple[str, ...], limit: int
) -> None:
    assert read(diff, limit).sensitive == sensitive


def test_a_line_of_content_that_looks_like_a_header_begins_no_file() -> None:
    tricky = CHANGED.replace("+new\n", "+diff --git a/x b/AGENTS.md\n")
    assert read(tricky, 100_000).paths == {"src/store one.py"}
