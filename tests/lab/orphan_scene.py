"""Planted remains of a crash: fences at any stage, issues and pull requests that no running agent knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from engine import ENGINE, OWNER, REPOSITORY, Engine

from lab.github.repositories.git_command import signed
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import PullRecord
from shared.lock.codec import Ack, ItemKey
from shared.lock.comment import write_ack
from shared.lock.fence import Fence, write_fence
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage

DEAD, NONCE = "worker-deadbeef", "d" * 32
PERSON = ("ada", "ada@example.org")


def server_time(engine: Engine) -> datetime:
    return datetime.fromtimestamp(engine.lab.clock.now(), UTC).replace(microsecond=0)


def issue(engine: Engine, *labels: str) -> int:
    """Make a specification with these labels."""
    return engine.lab.issue(REPOSITORY, "Greet people", author=OWNER, labels=labels).number


async def pull_request(engine: Engine, number: int, *labels: str) -> int:
    """Open the engine's pull request for an issue."""
    here = engine.lab.at(REPOSITORY)
    base = await here.bare.sha("refs/heads/main")
    assert base is not None
    head = await commit(engine, "Implement", f"{base}^{{tree}}", base)
    await here.bare.update_ref(f"refs/heads/auto/issue-{number}", head)
    thread = here.issues.open(ENGINE, "[auto] Greet people", f"Closes #{number}", is_pull=True)
    here.issues.add_labels(thread.number, labels, ENGINE)
    here.pulls.open(thread, (f"auto/issue-{number}", head), ("main", base), draft=False)
    return thread.number


def merge(engine: Engine, pull: int, number: int) -> None:
    """Merge the pull request and close its issue, as by a process that saw no more than that."""
    here = engine.lab.at(REPOSITORY)
    here.pulls.merge(pull, OWNER, here.pulls.require(pull).head_sha)
    here.issues.close(number, OWNER)


def merge_unseen(engine: Engine, pull: int, number: int) -> list[str]:
    """Merge as `merge`, but the first answer about the pull request is a replica's that does not know of it.

    Returns the paths of what was answered so.
    """
    here, late = engine.lab.at(REPOSITORY), list[str]()

    def known() -> tuple[PullRecord, IssueRecord]:
        return here.pulls.require(pull), here.issues.require(pull)

    def show(record: PullRecord, thread: IssueRecord) -> None:
        here.pulls.records.put(pull, record)
        here.issues.records.put(pull, thread)

    pull_before, thread_before = known()
    merge(engine, pull, number)
    after = [known()]
    # In the same second, so that its time does not tell that it is older.
    before = pull_before, replace(thread_before, updated_at=known()[1].updated_at)

    async def answer(method: str, path: str) -> None:
        if late and after:
            show(*after.pop())
        if not late and (method, path) == ("GET", f"/repos/{REPOSITORY}/pulls/{pull}"):
            late.append(path)
            show(*before)

    engine.lab.interludes.append(answer)
    return late


async def fence(
    engine: Engine, role: Role, number: int, stage: Stage, *, days: float = 0.1, ack: int = 0, **facts: Any
) -> Fence:
    """Push the fence that an agent has released so many days ago; `facts` are more fields of it."""
    bare, key = engine.lab.at(REPOSITORY).bare, ItemKey(role, number)
    head = await bare.sha(f"refs/heads/auto/issue-{engine_issue(engine, role, number)}") or ""
    at = server_time(engine) - timedelta(days=days)
    more: dict[str, Any] = {"released": NONCE, "epoch": 1} | facts
    planted = Fence(key, ack, NONCE, DEAD, stage, at, work_head=head, **more)
    tree = (await bare.git.check("hash-object", "-w", "-t", "tree", "--stdin")).text
    oid = await commit(engine, write_fence(planted), tree, *([head] if head else []))
    await bare.update_ref(key.ref, oid)
    found = await engine.fence(role, number)
    assert found is not None
    return found


def engine_issue(engine: Engine, role: Role, number: int) -> int:
    """Return the issue whose branch an item's fence guards."""
    if role is not Role.REVIEWER:
        return number
    head = engine.lab.at(REPOSITORY).pulls.require(number).head_branch
    return int(head.rpartition("-")[2])


async def live_fence(engine: Engine, number: int, stage: Stage) -> Fence:
    """Push the fence of a worker on another machine that is at work just now."""
    key = ItemKey(Role.WORKER, number)
    ack = Ack(key, DEAD, 1_700_000_000_000, 0, NONCE, 1800)
    posted = engine.lab.comment(REPOSITORY, number, write_ack(ack, Keyring(0, ())), author=ENGINE)
    return await fence(engine, Role.WORKER, number, stage, ack=posted.id, days=0, released="")


async def commit(engine: Engine, message: str, tree: str, *parents: str) -> str:
    given = [word for parent in parents for word in ("-p", parent)]
    git = engine.lab.at(REPOSITORY).bare.git
    return (await git.check("commit-tree", tree, *given, "-m", message, env=signed(PERSON, PERSON))).text


def forget_comments(engine: Engine, number: int) -> None:
    """Delete a thread's comments, so that no lock is left to be found at the end."""
    records = engine.lab.at(REPOSITORY).comments.records
    for comment in engine.lab.at(REPOSITORY).comments.of(number):
        records.remove(comment.id)


def lose_label(engine: Engine, name: str) -> None:
    """Delete a label's definition: it disappears from every item, without an event."""
    here = engine.lab.at(REPOSITORY)
    here.issues.label_renamed(here.labels.remove(name).name, None)


def writes(engine: Engine) -> list[str]:
    """Return the writes through the API so far."""
    return [f"{one.method} {one.path}" for one in engine.lab.exchanges if one.method not in {"GET", "HEAD"}]


def charged(engine: Engine) -> int:
    """Return the number of answers that were charged."""
    return len([one for one in engine.lab.exchanges if one.status != 304])


async def stage(engine: Engine, role: Role, number: int) -> Stage | None:
    """Return the stage of a fence; None if there is no fence."""
    found = await engine.fence(role, number)
    return found.stage if found else None


async def one_life(engine: Engine, role: Role, *, ticks: int = 1) -> list[str]:
    """Have an agent on a fresh machine look so many times; return the results of its items."""
    async with engine.agent(role, state=f"fresh-{len(engine.lab.exchanges)}") as loop:
        for _ in range(ticks):
            await engine.tick(loop)
        return [end.result.value for end in loop.ended]
