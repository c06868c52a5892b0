"""The title and the body of a pull request: what they say, and what of them follows a push."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worker_comment_scene import FENCE, ISSUE

from shared.git import proof_claim
from shared.github.pulls import issue_named_by
from shared.specification import SpecificationKind
from shared.text import change_summary
from shared.text.comment_signatures import Keyring
from worker_agent import comments, pull_request_body
from worker_agent.pull_request_body import ChangeSummary
from worker_agent.tdd import claim_writing

A, B = "a" * 40, "b" * 40
CHANGE = ChangeSummary(
    ISSUE,
    replace(FENCE, work_head=A),
    "People are found.",
    "| proof |",
    summary="Closes #1, says @ada. It finds people.",
    part_of=12,
    test_commands="pytest -q",
    claim="<!-- claim -->",
)


@pytest.mark.fault(20)
@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Search\nIssue: #1\nusers", "Search Issue: #1 users"),
        ("-rf $(id) `id`", "-rf $(id) `id`"),
        ("\u202eevil\x1b[31m", "evil"),
        ("Grüße 🎉", "Grüße 🎉"),
        ("x" * 256, f"{'x' * 239}…"),
        ("Fixes #3 for @ada", "F\u200dixes #3 for @\u200dada"),
        ("Add search | attempt 2/5", "Add search"),
    ],
)
def test_a_title_is_one_line_that_github_takes(title: str, shown: str) -> None:
    got = pull_request_body.title("{title}", replace(ISSUE, title=title))
    assert got == shown
    assert (
        len(pull_request_body.title("[auto] {title}", replace(ISSUE, title="@a " * 85)))
        <= pull_request_body.TITLE_LIMIT
    )
    subject = comments.commit_message(f"Implement {title}", fence=FENCE, phase="green").splitlines()
    assert subject[1] == ""
    assert subject[2] == "Issue: #42"


@pytest.mark.parametrize(
    ("template", "kind", "shown"),
    [
        ("{title}", SpecificationKind.FEATURE, "Search {type} users"),
        ("feat: {title}", SpecificationKind.FEATURE, "feat: Search {type} users"),
        ("{type}: {title} (#{number})", SpecificationKind.DOCUMENTATION, "docs: Search {type} users (#42)"),
        ("[auto] {title}", SpecificationKind.FEATURE, "[auto] Search {type} users"),
    ],
)
def test_a_title_follows_its_template_and_not_the_issues_words(
    template: str, kind: SpecificationKind, shown: str
) -> None:
    assert pull_request_body.title(template, replace(ISSUE, title="Search {type} users"), kind) == shown


def test_a_long_title_leaves_what_the_template_adds() -> None:
    got = pull_request_body.title("{title} (#{number})", replace(ISSUE, title="x" * 300))
    assert got.endswith("x… (#42)")
    assert len(got) == pull_request_body.TITLE_CHARS


def test_the_body_is_what_changed_how_to_try_it_the_proof_and_what_can_be_done() -> None:
    assert pull_request_body.body(CHANGE).split("\n") == [
        "Closes #42",
        "",
        "Part of #12",
        "",
        "<!-- engine-summary -->",
        "C\u200dloses #1, says @\u200dada. It finds people.",
        "<!-- end of engine-summary -->",
        "",
        f"<!-- engine-proof/1 head={A} mac=none -->",
        "",
        "## How to try it",
        "",
        "```sh",
        "git fetch origin auto/issue-42 && git switch --detach FETCH_HEAD",
        "pytest -q",
        "```",
        "",
        "## Tests",
        "",
        "| proof |",
        "",
        "---",
        "",
        "Review comments by people with write access are worked on and answered here. "
        "`/pause` and `/stop` in a comment hold or end the work.",
        "",
        "<!-- claim -->",
        "",
        "<!-- end of engine-proof -->",
    ]


def test_a_merge_is_offered_and_the_documentation_linked_where_both_exist() -> None:
    shown = pull_request_body.body(replace(CHANGE, merges="approve", documentation="https://example.org/commands"))
    assert "`/merge` merges it once it is approved and CI passes. [All commands](https://example.org/commands)" in shown
    assert "/merge" not in pull_request_body.body(CHANGE)


def test_without_words_of_the_coder_the_goal_stands_there_and_no_commit_repeats_it() -> None:
    text = pull_request_body.body(replace(CHANGE, summary="", part_of=None, implied_criteria=True))
    assert text.startswith("Closes #42\n\nPeople are found.\n\n<!-- engine-proof")
    assert change_summary.read(text) == ""
    assert "The issue lists no acceptance criteria; the whole issue was treated as one criterion." in text
    assert issue_named_by(text) == 42


def test_the_files_that_a_maintainer_checks_are_named() -> None:
    named = ["pyproject.toml", "tests/`@ada`/conftest.py", *(f"{number}.lock" for number in range(30))]
    text = pull_request_body.body(replace(CHANGE, flagged=named))
    assert "- `pyproject.toml`\n" in text
    assert "A maintainer merges:" in text
    assert "`@" not in text
    assert "- and 12 more\n" in text


def test_the_issues_own_links_stay_links_and_its_logs_are_folded() -> None:
    log = "\n".join(f"line {n}" for n in range(40))
    goal = f"See https://example.org/style and https://evil.example/x.\n\n```\n{log}\n```"
    text = pull_request_body.body(
        replace(CHANGE, issue=replace(ISSUE, body="See https://example.org/style"), summary="", goal=goal)
    )
    assert "https://example.org/style" in text
    assert "https://evil.example" not in text
    assert "<details><summary>42 lines</summary>\n\n```\nline 0\n" in text


def test_a_push_renews_the_proof_and_nothing_that_people_wrote() -> None:
    opened = pull_request_body.body(CHANGE)
    edited = f"{opened.replace('It finds people.', 'It finds everybody.')}\n\nTested by hand. Grace"
    after = replace(CHANGE, fence=replace(CHANGE.fence, work_head=B), evidence="| new |", claim="<!-- claim 2 -->")
    text = pull_request_body.renewed(edited, after)
    assert text is not None
    assert "It finds everybody." in text
    assert text.endswith("Tested by hand. Grace")
    assert ("| proof |" in text, "| new |" in text, "<!-- claim -->" in text) == (False, True, False)
    assert pull_request_body.shown_head(text) == B
    assert pull_request_body.renewed(text, after) is None, "it has it already"


@pytest.mark.parametrize("text", ["", "Closes #42\n\nMine.", "<!-- engine-proof/1 head=x mac=none -->\n\nno end"])
def test_a_body_without_the_proof_is_left_alone(text: str) -> None:
    assert pull_request_body.shown_head(text) == ""
    assert pull_request_body.renewed(text, CHANGE) is None


def test_the_claim_of_a_body_is_read_as_before() -> None:
    keys = Keyring(1)
    line = claim_writing.write(proof_claim.Claim(42, A, B, result="7 passed"), keys)
    found, _ = proof_claim.read(pull_request_body.body(replace(CHANGE, claim=line)), keys)
    assert (found.issue, found.head, found.result) == (42, B, "7 passed")
