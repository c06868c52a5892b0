"""The engine's locks as a lab shows them: who holds what, and what each fence says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from lab.github.world.repository import RepositoryRecord
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import read_ack
from shared.lock.fence import Fence, read_fence
from shared.lock.format_1 import fold
from shared.models import Account, Comment
from shared.workflow import Role

_FENCE = re.compile(r"refs/ack/(?P<kind>[a-z]+)/(?P<number>[0-9]+)")


def held(repository: RepositoryRecord, at: datetime | None = None) -> list[str]:
    """The refs and agents of the ACKs that hold something; one that lost its race is dead without a word.

    With `at`, locks that have run out by that time of the server do not count.
    """
    threads: dict[ItemKey, dict[int, Ack]] = {}
    for record in repository.comments.records.values():
        edited = datetime.fromtimestamp(record.updated_at, UTC)
        ack = read_ack(Comment(record.id, record.number, Account(0, record.author), record.body, edited, edited))
        if ack is not None:
            threads.setdefault(ack.key, {})[ack.id] = ack
    holders: list[Ack | None] = []
    for acks in threads.values():
        older = [ack for ack in acks.values() if not ack.shared]
        holders += [*(ack for ack in acks.values() if ack.shared), acks.get(fold(older))]
    active = [ack for ack in holders if ack and ack.state is AckState.ACTIVE]
    return [f"{ack.key.ref}: {ack.agent}" for ack in active if at is None or ack.live(at)]


async def fence(repository: RepositoryRecord, key: ItemKey) -> Fence | None:
    """The fence of an item as the git server has it."""
    oid = await repository.bare.sha(key.ref)
    if oid is None:
        return None
    return read_fence(key, oid, (await repository.bare.commit(oid)).message)


async def fences(repository: RepositoryRecord) -> Sequence[Fence]:
    """Every fence of the repository, in the order of their refs."""
    keys = [
        ItemKey(Role(match["kind"]), int(match["number"]))
        for ref in sorted(await repository.bare.refs("refs/ack/"))
        if (match := _FENCE.fullmatch(ref))
    ]
    read = [await fence(repository, key) for key in keys]
    return [one for one in read if one is not None]
