"""Orders from the page: the check of the token, of the row that was seen, and the answer."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from aiohttp import web

from console.dashboard.cards import ORDERS, since
from console.orders import Order, OrderResult
from console.status.row import Board, ItemRow
from shared.commands.command import Verb
from shared.errors import EngineError, NotAllowed, Unauthorized
from shared.process import CommandFailed

TOKEN = "X-Dashboard-Token"

PLACE = "on the dashboard"
"""Place of the order, as the thread names it."""


class OrderRefused(Exception):
    """An order is not carried out; `status` is HTTP's."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class OrderEndpoint:
    """Takes one order after the other. `boards` gives what pages show now, `carry_out` does what is ordered there."""

    def __init__(
        self,
        token: str,
        boards: Callable[[], Awaitable[tuple[Board, ...]]],
        carry_out: Callable[[str, Order], Awaitable[OrderResult]],
        done: Callable[[], None],
    ) -> None:
        """`done` hears that something was changed."""
        self._token, self._boards, self._carry_out, self._done = token, boards, carry_out, done
        self._one = anyio.Lock()

    async def take(self, request: web.Request) -> web.Response:
        """Answer one order with a sentence. The sentence may tell any error, but never the token."""
        try:
            self._check(request)
            repository, order, seen = read(await request.read())
            async with self._one:
                _check_row(await self._row(repository, order.number), order, seen)
                answer = await self._carry_out(repository, order)
                self._done()
        except OrderRefused as refusal:
            return _response(refusal.status, str(refusal))
        except (Unauthorized, NotAllowed) as error:
            return _response(403, f"GitHub does not allow it: {error}")
        except (EngineError, CommandFailed, OSError) as error:
            return _response(502, str(error))
        told = f"{answer.item}: {answer.outcome}. {answer.next}".strip()
        return _response(200 if answer.done else 422, told)

    def _check(self, request: web.Request) -> None:
        """Raise `OrderRefused` unless the request comes from our own page, opened with the token."""
        given = request.headers.get(TOKEN, "")
        if request.headers.get("Origin") != f"http://{request.host}":
            raise OrderRefused(403, "Orders are taken from this page alone.")
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            raise OrderRefused(403, "Not allowed: open the newest address that the terminal shows, with its token.")
        if request.content_type != "application/json":
            raise OrderRefused(415, "An order is a JSON object.")

    async def _row(self, repository: str, number: int) -> ItemRow:
        for board in await self._boards():
            for row in board.rows:
                if (board.repository, row.number) == (repository, number):
                    return row
        raise OrderRefused(404, f"{repository}#{number} is not on the board.")


@dataclass(frozen=True, slots=True)
class SeenRow:
    """Stage and time of an item, as shown on the page on which the order was given."""

    stage: str
    since: str


def _check_row(row: ItemRow, order: Order, seen: SeenRow) -> None:
    if (row.stage, since(row)) != (seen.stage, seen.since):
        raise OrderRefused(409, f"#{row.number} has moved since and is at '{row.stage}' now: look again.")
    if order.verb not in row.commands:
        raise OrderRefused(422, f"/{order.verb} does not fit #{row.number} at '{row.stage}'.")


def read(body: bytes) -> tuple[str, Order, SeenRow]:
    """The repository, the order and what was seen. Raises `OrderRefused`."""
    try:
        asked: Any = json.loads(body)
        verb, seen_row = Verb(asked["verb"]), SeenRow(asked["stage"], asked["since"])
        repository, number = asked["repository"], asked["number"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _malformed_order() from None
    if verb not in ORDERS:
        raise OrderRefused(400, f"/{verb} is given in the thread.")
    if not isinstance(repository, str) or type(number) is not int or number < 1:
        raise _malformed_order()
    return repository, Order(verb, number, place=PLACE), seen_row


def _malformed_order() -> OrderRefused:
    return OrderRefused(400, "An order names verb, repository, number, stage and since.")


def _response(status: int, sentence: str) -> web.Response:
    return web.json_response({"sentence": sentence}, status=status)
