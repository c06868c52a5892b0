"""Steps of a person who follows an advice about branches and pending tests; each returns the issue that ends merged."""

from __future__ import annotations

from branch_scene import move, push, tip, work_branch
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, REVIEW, TESTS, comments, drop_branch, fence, labels, pulls, status

from lab.github.ci.behaviours import GREEN, NEVER
from shared.reconcile.sweep import DOUBT_SECONDS
from shared.workflow import Role

GOOD = TESTS + CODE + REVIEW

OF_THE_BASE = "def shout(name):\n    return name.upper()\n"
"""A file that somebody adds to the base under the very path that the implementation writes."""

HALF = """
- call: resolve_conflict
  round: any
  edits:
    - {path: NOTES.md, content: "I do not know.\\n"}
"""

PENDING = """\
import pytest


@pytest.mark.skip(reason="spec: people are greeted by name")
def test_greets_by_name():
    from directory.greeting import greet

    assert greet("Ada") == "Hello, Ada"
"""


def label(engine: Engine, number: int, name: str) -> None:
    engine.lab.clock.advance(2)
    engine.lab.label(REPOSITORY, number, name, actor=OWNER)


def say(engine: Engine, number: int, text: str) -> None:
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, number, text, author=OWNER)


async def worked(engine: Engine) -> None:
    """Run one worker until an item has ended."""
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)


async def conflict_unresolved(engine: Engine) -> int:
    engine.script(GOOD + HALF)
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    branch = work_branch(number)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        await push(engine, "main", {"directory/greeting.py": OF_THE_BASE})
        engine.lab.ci_mood(REPOSITORY, GREEN)
        await engine.lab.ci_run(REPOSITORY, branch)
        await engine.until(lambda: bool(worker.ended), worker)
    assert "Merge the base into the branch by hand and push that" in status(engine, number)
    ours, base = await tip(engine, branch), await tip(engine, "main")
    greeting = "def greet(name):\n    return f'Hello, {name}'\n"
    merged = await push(engine, branch, {"directory/greeting.py": f"{greeting}\n\n{OF_THE_BASE}"}, on=ours)
    await as_merge(engine, branch, merged, (ours, base))
    label(engine, pulls(engine)[0].number, "status:changes-requested")
    return number


async def hook_failed(engine: Engine) -> int:
    """Repair the hook on the machine, and tell the engine to continue."""
    engine.repository_settings["hooks"] = {"before_run": "false"}
    engine.script(GOOD)
    number = engine.ready("Greet people")
    await worked(engine)
    assert "Correct `hooks.before_run` in the agent's configuration" in status(engine, number)
    engine.repository_settings["hooks"] = {"before_run": "true"}
    say(engine, number, "/retry")
    return number


async def text_to_be_corrected(engine: Engine) -> int:
    """Have the issue's text corrected by a command on the pull request, and do what its issue then says."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    say(engine, pull.number, "/spec-review")
    await looked_at_again(engine)
    told = "\n".join(one.body for one in comments(engine, number))
    assert "correct the text of this issue, then comment `/close-and-reset` here to start over" in told
    engine.lab.clock.advance(2)
    engine.lab.at(REPOSITORY).issues.edit(number, OWNER, body="Say hello, please.")
    say(engine, number, "/close-and-reset")
    return number


async def as_merge(engine: Engine, branch: str, commit: str, parents: tuple[str, str]) -> None:
    """Let `branch` have the files of `commit` as a merge of `parents`, as `git merge` leaves them."""
    git = engine.lab.at(REPOSITORY).bare.git
    named = [word for parent in parents for word in ("-p", parent)]
    ada = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    made = await git.check("commit-tree", f"{commit}^{{tree}}", *named, "-m", "Merge main", env=ada)
    await move(engine, branch, made.stdout.decode().strip())


async def base_gone(engine: Engine) -> int:
    """Move the pull request to another base branch, which somebody then deletes."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    base = await tip(engine, "main")
    engine.lab.at(REPOSITORY).pulls.records.change(pull.number, base_branch="release")
    label(engine, pull.number, "status:changes-requested")
    await worked(engine)
    assert "does not exist any more" in status(engine, number)
    assert "restore that branch" in status(engine, number)
    assert "status:failed" in labels(engine, number)
    await move(engine, "release", base)
    label(engine, pull.number, "status:changes-requested")
    return number


async def branch_is_somebodys(engine: Engine) -> int:
    """Push commits to the work branch before the work begins; then delete it, as is advised."""
    number = engine.ready("Greet people")
    await push(engine, work_branch(number), {"draft.md": "Mine.\n"}, on=await tip(engine, "main"))
    await worked(engine)
    told = status(engine, number)
    assert f"Rename or delete the branch `{work_branch(number)}`; then set the label `status:ready`" in told
    await drop_branch(engine, number)
    label(engine, number, "status:ready")
    return number


async def no_longer_pending(engine: Engine) -> int:
    """Rename the test after its issue was written; the person closes that issue and writes a new one."""
    engine.repository_settings["tdd"] = {"pending": {"globs": ["tests/test_later.py"]}}
    await push(engine, "main", {"tests/test_later.py": PENDING})
    async with engine.agent(Role.PLANNER) as planner:
        issues = engine.lab.at(REPOSITORY).issues.records
        await engine.until(lambda: len(issues.values()) == 1, planner)
    (issue,) = issues.values()
    await push(engine, "main", {"tests/test_later.py": PENDING.replace("greets_by_name", "greets_people")})
    await worked(engine)
    assert "is not marked as pending on the base" in status(engine, issue.number)
    assert "Close the issue if the test was activated" in status(engine, issue.number)
    engine.lab.close(REPOSITORY, issue.number, actor=OWNER)
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    async with engine.agent(Role.PLANNER) as planner, engine.agent(Role.WORKER) as worker:
        for _ in range(3):  # one reading of a closed issue may be an old one
            await engine.tick(planner, worker)
            clock.skip(DOUBT_SECONDS)
    assert not {one for one in labels(engine, issue.number) if one.startswith(("flag:", "status:"))}
    return engine.ready("Greet people")


async def branch_was_emptied(engine: Engine) -> int:
    """Move the work branch onto the base right before the pull request would be opened."""
    number, done = engine.ready("Greet people"), list[str]()

    async def moved(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/pulls") and not done:
            done.append(await tip(engine, work_branch(number)))
            await move(engine, work_branch(number), await tip(engine, "main"))

    engine.lab.interludes.append(moved)
    await worked(engine)
    kept = (await fence(engine, number)).work_head
    assert done == [kept]
    assert f"Put {kept[:12]} back on `{work_branch(number)}`" in status(engine, number)
    await move(engine, work_branch(number), kept)
    say(engine, number, "/retry")
    return number


async def stopped_and_reviewed_as_it_is(engine: Engine) -> int:
    """Close the issue while its pull request waits for review, and then reopen it."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    engine.lab.close(REPOSITORY, number, actor=OWNER)
    await looked_at_again(engine)
    told = f"set `status:reviewing` on this issue and on #{pull.number} to have it reviewed as it is"
    assert told in status(engine, number)
    engine.lab.reopen(REPOSITORY, number, actor=OWNER)
    label(engine, number, "status:reviewing")
    label(engine, pull.number, "status:reviewing")
    return number


async def pull_request_opened_again(engine: Engine) -> int:
    """Close the pull request, reopen it and ask for its review."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
    await looked_at_again(engine)
    assert f"reopen #{pull.number} and set" in status(engine, number)
    engine.lab.reopen(REPOSITORY, pull.number, actor=OWNER)
    label(engine, pull.number, "status:reviewing")
    return number


async def pull_request_opened_again_without_a_word(engine: Engine) -> int:
    """Close the pull request and reopen it; set no label before the advice names one."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
    await looked_at_again(engine)
    assert not any(one.startswith("status:") for one in labels(engine, pull.number))
    engine.lab.clock.advance(2)
    engine.lab.reopen(REPOSITORY, pull.number, actor=OWNER)
    for _ in range(2):
        await looked_at_again(engine)
    told = [one.body for one in comments(engine, pull.number) if "This is open again" in one.body]
    assert len(told) == 1, "it is said once, whoever looks"
    assert "or `status:reviewing` to have it reviewed as it is" in told[0]
    assert engine.issue(pull.number).open
    assert not any(one.startswith("status:") for one in labels(engine, pull.number)), "nothing is done unasked"
    label(engine, pull.number, "status:reviewing")
    return number


async def branch_restored_and_pull_request_opened_again(engine: Engine) -> int:
    """Delete the branch, which closes the pull request; then follow the advice."""
    number = engine.ready("Greet people")
    await worked(engine)
    (pull,) = pulls(engine)
    head, bare = pull.head_sha, engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", "-d", f"refs/heads/{work_branch(number)}")
    await looked_at_again(engine)
    told = status(engine, number)
    assert f"The branch `{work_branch(number)}` was deleted." in told
    assert "is kept" not in told
    assert f"restore the branch `{work_branch(number)}` (#{pull.number} has a button for it), then reopen" in told
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", f"refs/heads/{work_branch(number)}", head)
    engine.lab.reopen(REPOSITORY, pull.number, actor=OWNER)
    label(engine, pull.number, "status:reviewing")
    return number


async def looked_at_again(engine: Engine) -> None:
    """Run worker and reviewer on another machine, until each has seen people's acts twice."""
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    async with engine.agent(Role.WORKER, state="third") as worker, engine.agent(Role.REVIEWER, state="third") as other:
        for _ in range(3):
            await engine.tick(worker, other)
            clock.skip(DOUBT_SECONDS)
