"""What every test of the lock asks: the protocol's times, and what the thread says of its ACKs.

The fixtures `server`, `alice`, `bob` and `held` that these tests share are in `tests/conftest.py`.
"""

from __future__ import annotations

from fake_port import KEYS
from fake_server import BOT, Server

from shared.lock.claimant import Terms
from shared.lock.codec import AckState, read_ack, trusted
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, PostComment, ReadComments, ReadFence

TERMS = Terms()
AN_ATTEMPT = (ReadFence, ReadComments, PostComment, ReadComments, AdvanceFence)
"""What a won claim of a fresh issue asks, in order."""


def states(server: Server) -> list[AckState]:
    """What the ACKs of the thread say of themselves, whoever wrote them, by id."""
    found = (read_ack(comment) for comment in server.comments().values())
    return [ack.state for ack in found if ack is not None]


def on_the_thread(server: Server, held: Held) -> AckState | None:
    """What a lease's ACK says to those who trust it; None when it is not believed."""
    ack = trusted(server.comments()[held.ack.id], {BOT.id}, KEYS)
    return ack.state if ack else None
