"""The gateway: each operation reaches the right store, and a fence that cannot be read is no absent fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from fakes.lock_port import KEY, FakeAgent, Run
from fakes.lock_server import BOT, EPOCH, Server

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, write_fence
from shared.lock.gateway import Gateway
from shared.lock.port import (
    AdvanceFence,
    EditComment,
    ForeignFence,
    Operation,
    PostComment,
    ProbeRefs,
    ReadComment,
    ReadComments,
    ReadFence,
    RefUpdate,
)
from shared.lock.write_permit import WritePermit
from shared.models import Comment
from shared.workflow import Role, Stage

FENCE = Fence(KEY, 7, "n" * 32, "worker-1", Stage.TESTING, EPOCH)
COMMENT = Comment(7, 42, BOT, "text", EPOCH, EPOCH)
UPDATE = RefUpdate("refs/heads/auto/issue-42", None, "2" * 40)


class Comments:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        self.asked.append((number, since))
        return (COMMENT,)

    async def opening(self, number: int, since: datetime | None) -> tuple[Comment, ...]:
        self.asked.append(("opening", number, since))
        return (COMMENT,)

    async def comment(self, id: int) -> Comment | None:
        self.asked.append(id)
        return None

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        permit.check()
        self.asked.append((number, body))
        return COMMENT

    async def edit(self, id: int, body: str, permit: WritePermit, *, urgent: bool = False) -> Comment | None:
        permit.check()
        assert urgent, "a heartbeat and a release do not wait behind other writes"
        self.asked.append((id, body))
        return COMMENT


class Fences:
    """One ref, as it stands."""

    def __init__(self, found: tuple[str, str] | None) -> None:
        self.found = found
        self.asked: list[object] = []

    async def read(self, ref: str) -> tuple[str, str] | None:
        self.asked.append(ref)
        return self.found

    async def commit(self, message: str, parents: Sequence[str]) -> str:
        self.asked.append((message, tuple(parents)))
        return "6" * 40

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        self.asked.append((ref, message, expected, tuple(parents), tuple(updates)))
        return "5" * 40

    async def probe(self) -> None:
        self.asked.append("probe")


def gateway(comments: Comments, fences: Fences) -> Gateway:
    return Gateway(comments, fences, FakeAgent(Server(), "worker-a").port, lambda: EPOCH)


@pytest.mark.parametrize(
    ("operation", "asked", "answer"),
    [
        (ReadComments(42, EPOCH), (42, EPOCH), (COMMENT,)),
        (ReadComments(42, EPOCH, opening=True), ("opening", 42, EPOCH), (COMMENT,)),
        (ReadComment(7), 7, None),
        (PostComment(42, "text"), (42, "text"), COMMENT),
        (EditComment(7, "text"), (7, "text"), COMMENT),
    ],
)
async def test_comments_go_to_github(operation: Operation[object], asked: object, answer: object) -> None:
    comments = Comments()
    reply = await gateway(comments, Fences(None)).request(operation)
    assert comments.asked == [asked]
    assert (reply.value, reply.at) == (answer, EPOCH)


@pytest.mark.parametrize(
    ("expected", "carries", "parents"),
    [(None, "", ()), ("1" * 40, "", ("1" * 40,)), ("1" * 40, "2" * 40, ("1" * 40, "2" * 40))],
)
async def test_an_advance_goes_to_git_with_its_parents(
    expected: str | None, carries: str, parents: tuple[str, ...]
) -> None:
    fences = Fences(None)
    reply = await gateway(Comments(), fences).request(AdvanceFence(FENCE, expected, carries, (UPDATE,)))
    assert fences.asked == [("refs/ack/worker/42", write_fence(FENCE), expected, parents, (UPDATE,))]
    assert reply.value == "5" * 40


async def test_a_fence_is_read_from_git() -> None:
    fences = Fences(("1" * 40, write_fence(FENCE)))
    reply = await gateway(Comments(), fences).request(ReadFence(KEY))
    assert reply.value == replace(FENCE, oid="1" * 40)
    assert (await gateway(Comments(), Fences(None)).request(ReadFence(KEY))).value is None


async def test_what_a_fence_names_is_known_once_it_is_read_or_moved() -> None:
    named: list[Fence] = []
    fences, port = Fences(("1" * 40, write_fence(FENCE))), FakeAgent(Server(), "worker-a").port
    one = Gateway(Comments(), fences, port, lambda: EPOCH, named.append)
    read = (await one.request(ReadFence(KEY))).value
    moved = replace(FENCE, pr=9)
    await one.request(AdvanceFence(moved, "1" * 40))
    assert named == [read, moved]


async def test_a_fence_that_cannot_be_read_is_not_absent() -> None:
    fences = Fences(("1" * 40, "Merge branch 'main'\n"))
    with pytest.raises(ForeignFence, match="refs/ack/worker/42") as raised:
        await gateway(Comments(), fences).request(ReadFence(KEY))
    assert raised.value.oid == "1" * 40


async def test_a_scratch_ref_is_tried_by_the_git_server() -> None:
    fences = Fences(None)
    assert (await gateway(Comments(), fences).request(ProbeRefs())).value is None
    assert fences.asked == ["probe"]


async def test_every_answer_says_whether_its_time_is_sure() -> None:
    sure = [True, False]
    one = Gateway(
        Comments(), Fences(None), FakeAgent(Server(), "worker-a").port, lambda: EPOCH, sure=lambda: sure.pop(0)
    )
    assert [(await one.request(ReadFence(KEY))).sure for _ in range(2)] == [True, False]


async def test_an_unknown_operation_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="no operation"):
        await gateway(Comments(), Fences(None)).request(Operation())


async def test_time_comes_from_the_clock() -> None:
    port = FakeAgent(Server(), "worker-a").port
    real = Gateway(Comments(), Fences(None), port, lambda: EPOCH)
    assert (real.now(), real.boot()) == (port.now(), port.boot())
    pause = Run(port, real.sleep(5))
    assert pause.waits_for == 5
    pause.finish()
    assert port.slept == [5]


async def test_another_fence_goes_along_in_the_same_push() -> None:
    fences = Fences(None)
    other = replace(FENCE, key=ItemKey(Role.WORKER, 7), stage=Stage.DONE, oid="3" * 40)
    await gateway(Comments(), fences).request(AdvanceFence(FENCE, "1" * 40, "", (UPDATE,), other))
    moved = RefUpdate("refs/ack/worker/7", "3" * 40, "6" * 40)
    assert fences.asked == [
        (write_fence(other), ("3" * 40,)),
        ("refs/ack/worker/42", write_fence(FENCE), "1" * 40, ("1" * 40,), (UPDATE, moved)),
    ]


async def test_the_time_at_which_an_ack_goes_out_is_that_after_its_wait() -> None:
    class Paced(Comments):
        async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
            agent.port.server.seconds += 40
            posted = await super().post(number, body, permit)
            agent.port.server.seconds += 1
            return posted

    agent = FakeAgent(Server(), "worker-a")
    one, began = Gateway(Paced(), Fences(None), agent.port, lambda: EPOCH), agent.port.boot()
    assert (await one.request(PostComment(42, "text"))).sent == began + 40
    assert (await one.request(ReadComment(7))).sent is None
