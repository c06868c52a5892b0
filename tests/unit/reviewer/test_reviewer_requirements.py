"""Missing requirements of a base branch, by name; and the comparison of one change on two bases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.lock_server import EPOCH
from fakes.reviewer_world import ADA, DIFF, HEAD, NEXT, OPENED

from reviewer_agent.merge.merge_decision import unmet
from reviewer_agent.review.patch import is_same
from shared.github.branch_rules import MergeRules
from shared.models import Review, ReviewState

TWO = MergeRules(approvals=2)
LAST = MergeRules(last_push=True)
OWNERS = MergeRules(approvals=1, code_owners=True, conversations=True)


def approval(sha: str = HEAD) -> Review:
    return Review(1, ADA, ReviewState.APPROVED, "", sha, EPOCH)


@pytest.mark.parametrize(
    ("rules", "state", "approvals", "named"),
    [
        (MergeRules(), "clean", [], []),
        (MergeRules(), "", [], []),
        (MergeRules(), "blocked", [], ["what its rules ask for, which GitHub names beside the merge button"]),
        (MergeRules(queue=True), "blocked", [], []),
        (TWO, "blocked", [], ["2 approvals of people"]),
        (TWO, "unknown", [], ["2 approvals of people"]),
        (TWO, "blocked", [HEAD], ["1 approval of a person"]),
        (TWO, "unstable", [], []),
        (TWO, "unknown", [HEAD, HEAD], []),
        (LAST, "blocked", [NEXT], ["an approval of its newest commit by somebody who did not push it"]),
        (LAST, "unknown", [HEAD], []),
        (OWNERS, "unknown", [HEAD], []),
        (OWNERS, "clean", [], []),
        (
            OWNERS,
            "blocked",
            [],
            [
                "1 approval of a person",
                "the approval of a code owner of each file",
                "every conversation to be resolved",
            ],
        ),
    ],
)
def test_what_is_missing_is_named(rules: MergeRules, state: str, approvals: list[str], named: list[str]) -> None:
    pull_request = replace(OPENED, merge_state=state)
    assert list(unmet(rules, pull_request, [approval(sha) for sha in approvals])) == named


MOVED = DIFF.replace("index 0000000..1111111", "index 2222222..3333333").replace("@@ -0,0 +1,2 @@", "@@ -7,0 +9,2 @@ x")


@pytest.mark.parametrize(
    ("after", "same"),
    [
        (DIFF, True),
        (MOVED, True),
        (DIFF.replace("in user.name", "in user.mail"), False),
        (f"{DIFF}+    # and more\n", False),
        (DIFF.replace("directory/search.py", "directory/other.py"), False),
        (f"{DIFF}diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n", False),
    ],
)
def test_a_change_is_the_same_wherever_its_base_has_put_it(after: str, same: bool) -> None:
    assert is_same(DIFF, after) is same


def test_of_what_a_text_does_not_show_nobody_says_that_it_is_the_same() -> None:
    binary = "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n"
    assert not is_same(binary, binary)
