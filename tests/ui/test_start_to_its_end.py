"""`workflow-engine start` with the pauses that it makes, from a machine with nothing on it to an issue in review."""

from __future__ import annotations

import re
from pathlib import Path

from engine import ENGINE, REPOSITORY
from judge import Judge
from newcomer_scene import newcomer_at


async def test_from_nothing_to_an_issue_in_review(tmp_path: Path, judge: Judge) -> None:
    async with newcomer_at(tmp_path, judge) as newcomer:
        order = "Greet kim kindly, by the name"
        token = newcomer.token
        done = await newcomer.process("--yes", "--issue", order, "--test-command", "sh check.sh", GITHUB_TOKEN=token)
        assert done.code == 0, done.stderr.decode()
        (issue,) = newcomer.issues()
        assert (issue.title, issue.author, issue.labels) == (order, ENGINE, ("status:reviewing",))
        assert issue.body == f"## Acceptance criteria\n\n- [ ] {order}\n"
        assert len(newcomer.lab.at(REPOSITORY).pulls.records) == 1
        for said in ("1/8  This machine", "8/8  First issue", f"Wrote {newcomer.config}", "carries status:ready now"):
            assert said in done.text
        assert re.search(r"^  0:\d\d  Writing the code \(attempt 1 of 3\)\.$", done.stderr.decode(), re.MULTILINE)
        assert token not in done.text + done.stderr.decode()
        assert (newcomer.home / ".workflow-engine").stat().st_mode & 0o777 == 0o700
