"""People who push while the engine works: commits on any branch of the lab's repository, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping

from engine import OWNER, REPOSITORY, Engine
from git_remote import commit_to

NOTES = {"NOTES.md": "Kept by a person.\n"}

ROUND = """
- call: implement
  round: 1
  takes: 1
  edits:
    - {path: directory/greeting.py, replace: {old: "return", new: "text ="}}
    - {path: directory/greeting.py, replace: {old: "{name}'", new: "{name}'; return text"}}
"""

FIX = """
- call: fix_ci
  attempt: any
  takes: 1
  edits:
    - {path: ci.txt, content: "repaired\\n"}
"""

APPROVED = """
- call: review
  round: any
  answer:
    verdict: approved
    summary: It greets.
    findings: []
    criteria: [{id: AC1, met: true, note: test_greets}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  round: any
  answer: {criteria: [{id: AC1, met: true, note: test_greets was red before}]}
"""

AGAIN = """
- call: fix_ci
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return 'Hello, ' + name\\n"}
"""


def work_branch(number: int) -> str:
    return f"auto/issue-{number}"


async def push(engine: Engine, branch: str, files: Mapping[str, str] = NOTES, *, on: str | None = None) -> str:
    """Commit to a branch as the owner, on its head or, by a forced push, on the commit `on`; return the commit."""
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        return await commit_to(bare, branch, files, parent=on)


async def move(engine: Engine, branch: str, commit: str | None) -> None:
    """Move a branch to a commit by force, as the owner, or delete it."""
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        verb = (
            ("update-ref", f"refs/heads/{branch}", commit) if commit else ("update-ref", "-d", f"refs/heads/{branch}")
        )
        await bare.git.check(*verb)


async def rename_default(engine: Engine, name: str) -> None:
    """Rename the default branch as the owner; open pull requests into it follow, and its old name answers 301."""
    repository = engine.lab.at(REPOSITORY)
    before = repository.facts.default_branch
    await move(engine, name, await tip(engine, before))
    for pull in repository.pulls.records.values():
        if pull.base_branch == before and repository.issues.require(pull.number).open:
            repository.pulls.records.change(pull.number, base_branch=name)
    engine.lab.configure(REPOSITORY, default_branch=name, former_branches={before: name})
    await repository.bare.git.check("symbolic-ref", "HEAD", f"refs/heads/{name}")
    await move(engine, before, None)


async def tip(engine: Engine, branch: str) -> str:
    found = await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/{branch}")
    assert found is not None, f"{branch} is gone"
    return found


async def contains(engine: Engine, branch: str, commit: str) -> bool:
    """Return whether a branch has a commit in its history."""
    finished = await engine.lab.at(REPOSITORY).bare.git.run(
        "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}"
    )
    return finished.code == 0


async def subjects(engine: Engine, branch: str, *, base: str = "main") -> list[str]:
    """Return the first lines of the commits that a branch has and its base has not, newest first."""
    bare = engine.lab.at(REPOSITORY).bare
    found = await bare.log(f"refs/heads/{base}", f"refs/heads/{branch}", 50)
    return [commit.message.partition("\n")[0] for commit in found]


async def text(engine: Engine, branch: str, path: str) -> str:
    """Return the text of a file at the head of a branch."""
    found = await engine.lab.at(REPOSITORY).bare.read(f"refs/heads/{branch}", path)
    return (found or b"").decode()
