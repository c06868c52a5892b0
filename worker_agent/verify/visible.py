"""A check that the visible pull request and issue match the claim: both can be edited by hand (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.git.proof_claim import Claim
from shared.lock.fence import Fence
from shared.models import Issue
from shared.specification import body_sha256
from shared.text import one_line
from worker_agent.tdd.inert_markdown import ID_CHARS, code
from worker_agent.verify.compare import Falsehood

_HEADER = re.compile(r"^\| (?:Criterion \| )?(?:Test \| Before \(|New test \| On the base )", re.MULTILINE)
"""The beginning of the table; older pull requests have the second alternative."""

_BORDER = re.compile(r"(?<!\\)\|")


def edited_table(body: str, claim: Claim) -> Iterator[Falsehood]:
    """Yield rows of the visible table that the claim does not have, and claimed tests without a row."""
    table = _table(body)
    if not table:
        if claim.tests:
            yield Falsehood("table", "The table of new tests is not there any more.")
        return
    shown = {test: after for test, _, after in table_rows(body)}
    claimed = {code(one_line(test, ID_CHARS)): test for test in claim.tests}
    for test, head in shown.items():
        if test not in claimed and len(claim.tests) == claim.count:
            yield Falsehood("table", f"The table has a row for {test.strip('`')}, of which the claim says nothing.")
        elif head != "passed":
            yield Falsehood("table", f"The table says '{head}' of {test.strip('`')} on the head; the claim: passed.")
    if "| ... and" not in table:
        missing = [test for shown_as, test in claimed.items() if shown_as not in shown]
        for test in missing:
            yield Falsehood("table", f"The table has no row for {test}, which the claim has.")


def table_rows(body: str) -> tuple[tuple[str, str, str], ...]:
    """Return for each test of the table: the test as its row shows it, its result before, and after.

    Rows of criteria without a test are left out; a body without the table has none.
    """
    lines = _table(body).splitlines()
    titles, *rows = [[cell.strip() for cell in _BORDER.split(line)[1:-1]] for line in lines] or [[]]
    place = titles.index("Criterion") + 1 if "Criterion" in titles else 0
    tests = [row[place:] for row in rows if row[place : place + 1] and row[place].startswith("`")]
    return tuple((row[0], row[1], row[-1]) for row in tests if len(row) > 1)


def _table(body: str) -> str:
    header = _HEADER.search(body)
    return "" if header is None else body[header.start() :].partition("\n\n")[0]


def edited_issue(issue: Issue, fence: Fence | None) -> Iterator[Falsehood]:
    """Yield a falsehood if the issue's text is not the one that the work was begun with."""
    if fence is None or not fence.body_sha256:
        return
    if body_sha256(issue.title, issue.body) != fence.body_sha256:
        told = f"The text of #{issue.number} was edited after the work began; the tests stand for the earlier text."
        yield Falsehood("issue", told)
