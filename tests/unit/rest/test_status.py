"""The status comment: one per thread and kind, found by its mark, edited in place, never forged."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fakes.lock_port import KEYS as PORT_KEYS
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Fault, Server
from status_thread import AT, BOT, KEYS, MALLORY, US, FakeThread, board

from shared.errors import NotAllowed
from shared.github.status import Status, StatusBoard
from shared.lock.announce import TRIES
from shared.lock.codec import AckState
from shared.lock.comment import trusted, write_ack
from shared.lock.hold import Held, release
from shared.lock.port import EditComment, ReadComment
from shared.text import comment_signatures
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role


async def shown(status: Status) -> str:
    thread = FakeThread()
    await board(thread).show(7, status, US)
    return thread.comments[1].body


async def test_it_is_written_once_and_then_edited_in_place() -> None:
    thread = FakeThread()
    for sentence in ("one", "two", "three"):
        await board(thread).show(7, Status(sentence), US)
    assert thread.writes == ["post", "edit 1", "edit 1"]
    body = thread.comments[1].body
    mark = comment_signatures.find(body)
    assert mark is not None
    assert (mark.name, mark.fields["kind"], mark.fields["n"], mark.fields["rev"]) == (
        "engine-status",
        "worker",
        "7",
        "3",
    )
    assert body.splitlines()[1] == "three"
    assert "ACK:" not in body, "nobody has claimed it yet"


async def test_nothing_is_sent_when_it_says_the_same() -> None:
    thread = FakeThread()
    status = Status("waiting", (("Stage", "testing"),), {"stage": "testing"}, "- a note")
    await board(thread).show(7, status, US)
    thread.comments[1] = replace(thread.comments[1], body=thread.comments[1].body.replace("\n", "\r\n"))
    await board(thread).show(7, status, US)
    assert thread.writes == ["post"]


async def test_the_budget_table_is_shown_and_its_clock_alone_edits_nothing() -> None:
    thread = FakeThread()
    left = ["", "| 3 h |", "| 2 h |"]
    here = StatusBoard(thread, Role.WORKER, {BOT.id}, KEYS, lambda number: left[0])
    status = Status("waiting", data={"stage": "testing"})
    await here.show(7, status, US)
    assert "credit" not in thread.comments[1].body
    left.pop(0)
    await here.show(7, Status("more", data={"stage": "testing"}), US)
    assert "| 3 h |" in thread.comments[1].body
    left.pop(0)
    await here.show(7, Status("more", data={"stage": "testing"}), US)
    assert thread.writes == ["post", "edit 1"]
    await here.show(7, Status("more", data={"stage": "reviewing"}), US)
    assert "| 2 h |" in thread.comments[1].body
    assert (await here.data(7)) == {"stage": "reviewing"}


async def test_threads_and_kinds_have_their_own() -> None:
    thread = FakeThread()
    await board(thread).show(7, Status("worker"), US)
    await board(thread).show(8, Status("worker"), US)
    await board(thread, Role.REVIEWER).show(7, Status("reviewer"), US)
    assert thread.writes == ["post"] * 3


async def test_a_deleted_one_is_written_anew() -> None:
    thread = FakeThread()
    await board(thread).show(7, Status("one"), US)
    thread.gone = True
    await board(thread).show(7, Status("two"), US)
    assert thread.writes == ["post", "edit 1", "post"]
    assert [comment.body.splitlines()[1] for comment in thread.comments.values()] == ["two"]


@pytest.mark.fault(18)
@pytest.mark.parametrize("how", ["stranger", "edited", "foreign key", "other number", "quoted"])
async def test_a_forged_one_is_left_alone(how: str) -> None:
    thread = FakeThread()
    real = FakeThread()
    await board(real, keys=Keyring(5, (Key.of(b"x" * 32),)) if how == "foreign key" else KEYS).show(
        8 if how == "other number" else 7, Status("genuine"), US
    )
    body = real.comments[1].body
    forged = {"edited": body + "\nmore", "quoted": f"He said:\n{body}"}.get(how, body)
    thread.add(7, forged, MALLORY if how == "stranger" else BOT)
    await board(thread).show(7, Status("mine"), US)
    assert thread.writes == ["post"]
    assert thread.comments[1].body == forged


async def test_a_table_and_data_for_programs() -> None:
    body = await shown(Status("s", (("Stage", "testing"),), {"b": 2, "a": AT}))
    assert "\n\n| | |\n|---|---|\n| Stage | testing |\n" in body
    data = body.partition("```json\n")[2].partition("\n```")[0]
    assert json.loads(data) == {"a": str(AT), "b": 2}


@pytest.mark.fault(45)
@pytest.mark.parametrize("part", ["sentence", "cell", "notes"])
async def test_text_of_a_model_can_neither_notify_command_nor_pass_for_ours(part: str) -> None:
    text = "ACK:worker:x:1 @octocat fixes #4 <!-- engine-status/1 mac=x --> ![i](https://evil.example/x)"
    status = {"sentence": Status(text), "cell": Status("s", (("n", text),)), "notes": Status("s", notes=text)}[part]
    body = (await shown(status)).partition("\n")[2]
    for loud in ("ACK:", "@octocat", "fixes #4", "<!-- engine", "![i]", "https://evil"):
        assert loud not in body, loud


async def test_a_cell_stays_in_its_cell() -> None:
    body = await shown(Status("s", (("Name", "a | b\n| c |"),)))
    assert "| Name | a \\| b \\| c \\| |\n" in f"{body}\n"


async def test_data_cannot_leave_its_code_block() -> None:
    body = await shown(Status("s", data={"error": "```\n</details>\n/approve @octocat"}))
    inside = body.partition("```json\n")[2]
    assert [line for line in inside.splitlines() if line.startswith("```")] == ["```"]
    assert "/approve" not in [line.strip() for line in inside.splitlines()]


def as_held(agent: FakeAgent, one: StatusBoard) -> Held:
    """Win a lease, whose comment this board edits."""
    held = agent.win()
    one.write_by_leases({held.fence.key: held})
    return held


async def test_the_holder_tells_in_the_comment_of_its_lock_and_each_edit_is_a_heartbeat() -> None:
    thread, agent = FakeThread(), FakeAgent(Server(), "worker-a")
    one = board(thread)
    held = as_held(agent, one)
    server = agent.port.server
    for sentence in ("first", "second", "second"):
        server.seconds += 60
        sent = agent.port.boot()
        run(agent.port, one.show(42, Status(sentence), held))
    assert held.deadline == sent - 60 + 1500, "what says the same is not sent"
    assert (thread.reads, thread.writes) == (0, []), "nothing but the lock's own comment"
    (body,) = (comment.body for comment in server.comments().values())
    assert body.splitlines()[1:4] == ["worker-a is working on this since 09:00 UTC.", "", "second"]
    assert trusted(server.comments()[held.ack.id], {7001}, PORT_KEYS) is not None


async def test_who_tells_something_else_in_this_process_goes_through_the_lease() -> None:
    thread, agent = FakeThread(), FakeAgent(Server(), "worker-a")
    one = board(thread)
    held = as_held(agent, one)
    run(agent.port, one.show(42, Status("It works.", data={"stage": "testing"}), held))
    run(agent.port, one.note(42, US, commands=[{"id": 7, "by": "ada", "command": "/pause", "outcome": "paused"}]))
    (body,) = (comment.body for comment in agent.port.server.comments().values())
    assert "It works." in body
    assert "`/pause` by ada" in body
    assert thread.writes == []
    data = await one.data(42)
    assert (data["stage"], [entry["id"] for entry in data["commands"]]) == ("testing", [7])


async def test_what_a_comment_records_stays_though_it_could_not_be_read_when_the_epoch_began() -> None:
    agent, one = FakeAgent(Server(), "worker-a"), board(FakeThread())
    first = as_held(agent, one)
    answered = [{"id": 7, "by": "ada", "command": "/pause", "outcome": "paused"}]
    run(agent.port, one.show(42, Status("It works.", data={"commands": answered}), first))
    assert run(agent.port, release(first))
    agent.port.plan(ReadComment, *[Fault.FAILED] * TRIES)
    held = as_held(agent, one)
    assert held.words.details == "", "nothing could be read"
    run(agent.port, one.show(42, Status("It works again."), held))
    assert [entry["id"] for entry in (await one.data(42))["commands"]] == [7]
    (body,) = (comment.body for comment in agent.port.server.comments().values())
    assert "It works again." in body
    assert "`/pause` by ada" in body


async def test_after_a_release_what_was_said_last_stands_there() -> None:
    agent, one = FakeAgent(Server(), "worker-a"), board(FakeThread())
    held = as_held(agent, one)
    run(agent.port, one.show(42, Status("Waiting for a review."), held))
    assert run(agent.port, release(held))
    (body,) = (comment.body for comment in agent.port.server.comments().values())
    assert body.splitlines()[1] == "Waiting for a review."
    assert "state=released" in body


async def test_without_a_comment_nothing_is_told_and_nothing_fails() -> None:
    agent, one = FakeAgent(Server(), "worker-a"), board(FakeThread())
    held = as_held(agent, one)
    held.ack = replace(held.ack, id=0)
    edits = agent.port.count(EditComment)
    run(agent.port, one.show(42, Status("Working."), held))
    assert agent.port.count(EditComment) == edits


async def test_what_an_agent_posted_that_was_not_shown_the_first_one_is_taken_away_by_the_holder() -> None:
    thread, agent = FakeThread(remembers=True), FakeAgent(Server(), "worker-a", keys=KEYS)
    answered = [{"id": 7, "by": "ada", "command": "/pause", "outcome": "paused"}]
    await board(thread).show(42, Status("Blocked by #7.", data={"commands": answered}), US)
    await board(thread, Role.REVIEWER).show(42, Status("In review."), US)
    foreign = thread.add(42, thread.comments[1].body, MALLORY)
    one = board(thread)
    held = as_held(agent, one)
    run(agent.port, one.show(42, Status("It works."), held))
    assert thread.writes[2:] == ["delete 1"]
    assert set(thread.comments) == {2, foreign.id}
    assert trusted(agent.port.server.comments()[held.ack.id], {7001}, KEYS) is not None
    assert [entry["id"] for entry in (await one.data(42))["commands"]] == [7], "what it recorded stays known"


@pytest.mark.parametrize(("epoch", "is_taken_away"), [(1, True), (2, False), (3, False)])
async def test_the_comment_of_an_earlier_epoch_is_taken_away_by_the_holder_of_a_later_one(
    epoch: int, is_taken_away: bool
) -> None:
    """The agent of epoch 1 died; the one after it was not shown its comment, and posted another."""
    thread, agent = FakeThread(remembers=True), FakeAgent(Server(), "worker-a", keys=KEYS)
    assert run(agent.port, release(agent.win()))
    one = board(thread)
    held = as_held(agent, one)
    assert held.fence.epoch == 2
    thread.add(42, write_ack(replace(held.ack, epoch=epoch), KEYS), BOT)
    run(agent.port, one.show(42, Status("It works."), held))
    assert thread.writes == (["delete 1"] if is_taken_away else [])


async def test_a_comment_that_another_account_alone_may_delete_stays() -> None:
    thread, agent = FakeThread(remembers=True), FakeAgent(Server(), "worker-a", keys=KEYS)
    await board(thread).show(42, Status("Blocked by #7."), US)
    one = board(thread)
    held = as_held(agent, one)
    thread.refuses = NotAllowed("not yours")
    run(agent.port, one.show(42, Status("It works."), held))
    assert set(thread.comments) == {1}
    (body,) = (comment.body for comment in agent.port.server.comments().values())
    assert "It works." in body


async def test_who_does_not_hold_leaves_the_locks_lines_as_they_are() -> None:
    thread, server = FakeThread(), Server()
    agent = FakeAgent(server, "worker-a", keys=KEYS)
    held = agent.win()
    thread.add(42, server.comments()[held.ack.id].body, BOT)
    await board(thread).note(42, US, commands=[{"id": 7, "by": "ada", "command": "/pause", "outcome": "paused"}])
    ack = trusted(thread.comments[1], {BOT.id}, KEYS)
    assert ack is not None
    assert (ack.nonce, ack.epoch, ack.state) == (held.ack.nonce, 1, AckState.ACTIVE)
    await board(thread).show(42, Status("Merged in #9.", data={"stage": "done"}), US)
    ended = trusted(thread.comments[1], {BOT.id}, KEYS)
    assert ended is not None
    assert ended.state is AckState.DONE, "what has ended is held by nobody"
    assert thread.comments[1].body.splitlines()[1] == "Merged in #9."


async def test_revising_writes_only_where_something_stands() -> None:
    thread = FakeThread()
    await board(thread).revise(7, Status("merged"), US)
    assert thread.writes == []
    await board(thread).show(7, Status("working"), US)
    await board(thread).revise(7, Status("merged"), US)
    assert thread.writes == ["post", "edit 1"]
    assert "merged" in thread.comments[1].body


async def test_an_older_engines_status_comment_is_gone_on_with_and_no_second_one_posted() -> None:
    thread = FakeThread()
    head = comment_signatures.render("engine-status", {"kind": "worker", "n": "42", "rev": "8"})
    data = json.dumps({"commands": [{"id": 5, "by": "ada", "command": "/retry", "outcome": "done"}], "zone": "eu"})
    thread.add(42, KEYS.sign("status:worker", 42, f"{head}\nWorking.\n\n```json\n{data}\n```"), BOT)
    board = StatusBoard(thread, Role.WORKER, {BOT.id}, KEYS)
    await board.show(42, Status("Waiting."), US)
    assert thread.writes == ["edit 1"]
    body = thread.comments[1].body
    assert "rev=9" in body
    assert "`/retry` by ada" in body


async def test_a_command_that_one_kind_of_agent_has_answered_is_answered_for_all() -> None:
    thread = FakeThread()
    await board(thread, Role.REVIEWER).show(7, Status("In review."), US)
    answered = [{"id": 200, "by": "ada", "command": "/stop", "outcome": "stopped; the branch is kept"}]
    await board(thread).note(7, US, commands=answered)
    said = tuple(thread.comments.values())
    assert board(thread, Role.REVIEWER).record_in(7, said)["commands"] == answered
    assert "/stop" not in said[0].body, "each kind writes in its own"


@pytest.mark.parametrize("forger", ["stranger", "wrong thread", "wrong key"])
async def test_nobody_else_answers_a_command(forger: str) -> None:
    thread = FakeThread()
    keys = Keyring(5, (Key.of(b"x" * 32),)) if forger == "wrong key" else KEYS
    number = 8 if forger == "wrong thread" else 7
    await board(thread, keys=keys).note(number, US, commands=[{"id": 200, "by": "ada", "command": "/stop"}])
    (body,) = (one.body for one in thread.comments.values())
    said = thread.add(7, body, MALLORY if forger == "stranger" else BOT)
    assert not board(thread, Role.REVIEWER).record_in(7, [said]).get("commands")
