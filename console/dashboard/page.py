"""The page, made whole on the server: HTML without a script, in which text of others is never anything but text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from console import events
from console.dashboard.feed import Shown
from console.status.phrases import KIND, ago, cost, held, plain, tries, waits
from console.status.row import Board, Row, Whom
from shared.telemetry.events import Event
from shared.workflow import HALTED, Stage

LANES: Mapping[str, frozenset[Stage]] = {
    "Planning": frozenset({Stage.PLANNING, Stage.AWAITING_APPROVAL, Stage.SPECIFIED}),
    "Ready": frozenset({Stage.READY}),
    "Building": frozenset({Stage.IMPLEMENTING, Stage.TESTING, Stage.CHANGES_REQUESTED}),
    "Review": frozenset({Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED}),
    "Halted": HALTED,
}
"""Columns of a board, in the order in which an item passes them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """`sites` maps repositories to their pages on GitHub; the page asks again every `interval` seconds."""

    sites: Mapping[str, str]
    interval: float


def page(shown: Shown, terms: Terms, machine: Sequence[str] = ()) -> bytes:
    """The whole document; `machine` are lines about what runs here."""
    html = Element("html", lang="en")
    _head(html, shown, terms)
    body = SubElement(html, "body")
    header = SubElement(body, "header")
    _text(header, "h1", "Workflow Engine")
    _text(header, "p", _summary(shown))
    for board in shown.boards:
        _board(body, board, terms.sites.get(board.repository, ""))
    if machine:
        section = SubElement(body, "section", {"class": "machine"})
        for line in machine:
            _text(section, "p", plain(line))
    _events(body, shown)
    return f"<!doctype html>\n{tostring(html, encoding='unicode', method='html')}".encode()


def _head(html: Element, shown: Shown, terms: Terms) -> None:
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    SubElement(head, "meta", {"http-equiv": "refresh", "content": f"{terms.interval:g}"})
    SubElement(head, "link", rel="stylesheet", href="/page.css")
    people = len(_for_people(shown))
    _text(head, "title", f"({people}) Workflow Engine" if people else "Workflow Engine")


def _summary(shown: Shown) -> str:
    rows = sum(len(board.rows) for board in shown.boards)
    busy = sum(bool(row.holder) for board in shown.boards for row in board.rows)
    return f"{rows} open, {busy} in work, {len(_for_people(shown))} waiting for a person"


def _for_people(shown: Shown) -> Sequence[Row]:
    return [row for board in shown.boards for row in board.rows if _is_for_people(row)]


def _is_for_people(row: Row) -> bool:
    return row.waiting is not None and row.waiting.whom is Whom.PERSON


def _board(body: Element, board: Board, site: str) -> None:
    section = SubElement(body, "section", {"class": "board"})
    heading = SubElement(section, "h2")
    _link(heading, board.repository, site)
    _text(heading, "small", f"{board.at:%Y-%m-%d %H:%M:%S} UTC")
    if board.complaint:
        _text(section, "p", f"Not read again: {plain(board.complaint)}", "trouble")
    if not board.rows and board.complaint:
        return
    if not board.rows:
        _text(section, "p", "No open items.", "quiet")
        return
    lanes = SubElement(section, "div", {"class": "lanes"})
    for name, stages in LANES.items():
        rows = [row for row in board.rows if row.stage in stages]
        lane = SubElement(lanes, "section", {"class": "lane"})
        _text(_text(lane, "h3", f"{name} "), "small", str(len(rows)))
        for row in sorted(rows, key=lambda row: (not _is_for_people(row), row.number)):
            _card(lane, board, row, site)


def _card(lane: Element, board: Board, row: Row, site: str) -> None:
    kinds = ["card", "person" if _is_for_people(row) else "held" if row.holder else ""]
    card = SubElement(lane, "article", {"class": " ".join(filter(None, kinds))})
    title = SubElement(card, "h4")
    _link(title, f"#{row.number}", f"{site}/issues/{row.number}" if site else "")
    _text(title, "span", plain(row.title))
    _text(card, "p", f"{KIND[row.track]}, {row.stage} for {ago(board.at - row.moved_at)}", "stage")
    for line, kind in _lines(row, board):
        if line:
            _text(card, "p", line, kind)


def _lines(row: Row, board: Board) -> Iterator[tuple[str, str]]:
    yield waits(row, board.at), "waits"
    yield held(row, board.at), "holder"
    yield ", ".join(row.flags), "trouble"
    tried = f"try {tries(row)}" if row.attempts else tries(row)
    yield ", ".join(filter(None, (tried, cost(row), f"CI {row.ci}" * (row.ci is not None)))), "figures"
    if row.waiting is None or row.waiting.whom is not Whom.ITEM:  # which names it already
        yield f"pull request #{row.pull_request}" * bool(row.pull_request), "figures"
    yield f"for #{row.issue}" * bool(row.issue), "figures"
    yield " ".join(f"/{verb}" for verb in row.commands), "commands"


def _events(body: Element, shown: Shown) -> None:
    section = SubElement(body, "section", {"class": "events"})
    _text(_text(section, "h2", "What happened "), "small", "on this machine, newest first")
    if shown.trouble:
        _text(section, "p", plain(shown.trouble), "trouble")
    if not shown.events:
        _text(section, "p", "No event was written here in the last 24 hours.", "quiet")
        return
    table = SubElement(section, "table")
    row = SubElement(SubElement(table, "thead"), "tr")
    for name in ("at (UTC)", "agent", "item", "phase", "event", "what"):
        _text(row, "th", name)
    lines = SubElement(table, "tbody")
    for event in shown.events:
        row = SubElement(lines, "tr")
        for cell in _cells(event):
            _text(row, "td", plain(cell))


def _cells(event: Event) -> tuple[str, ...]:
    item = f"{event.repository} {events.place(event)}".strip()
    return f"{event.at:%m-%d %H:%M:%S}", event.agent, item, event.phase, event.kind, events.data(event)


def _link(parent: Element, text: str, href: str) -> None:
    if not href:
        _text(parent, "span", text)
        return
    link = _text(parent, "a", text)
    link.attrib |= {"href": href, "target": "_blank", "rel": "noopener noreferrer"}


def _text(parent: Element, tag: str, text: str, kind: str = "") -> Element:
    """An element with this text; `ElementTree` escapes it."""
    element = SubElement(parent, tag, {"class": kind} if kind else {})
    element.text = text
    return element
