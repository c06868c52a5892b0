"""The page: its data in the words and the order in which the templates show it, and the page made whole from them.

In the templates text of others is never anything but text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from console.dashboard import sentences
from console.dashboard.cards import LANES, Card, Place, cards, orders, since
from console.dashboard.feed import Shown
from console.status.machine import Machine
from console.status.phrases import ago, plain
from console.status.row import Board, ItemRow, Spent
from shared.commands.command import Verb
from shared.telemetry.events import Event
from shared.workflow import Track


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """`sites` maps repositories to their pages on GitHub, `story_labels` to the label that makes an issue a story.

    The page is drawn again every `interval` seconds.
    """

    sites: Mapping[str, str]
    interval: float
    story_labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number at the top of the page; `part` is that of a limit, None where there is no limit."""

    name: str
    value: str
    note: str = ""
    href: str = ""
    part: float | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An issue or a pull request; `url` is empty where nobody knows its page."""

    kind: str
    number: int
    title: str
    url: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """One order: what is sent, what stands on it, and what is asked before it is sent."""

    verb: Verb
    label: str
    number: int
    stage: str
    since: str
    question: str
    what: str

    @property
    def leads_on(self) -> bool:
        """True if the order lets the work go on."""
        return self.verb in {Verb.APPROVE, Verb.RETRY, Verb.RESUME}


@dataclass(frozen=True, slots=True)
class CardView:
    """One card. `key` names it in the document; `text` is what the filter searches."""

    key: str
    repository: str
    link: Link
    state: str
    ask: str
    waits: str
    holder: str
    facts: str
    parts: tuple[Link, ...]
    buttons: tuple[Button, ...]
    commands: str
    text: str


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent: where it runs, what it works on, and for how long."""

    id: str
    where: str
    doing: str
    items: tuple[Link, ...]
    since: str


@dataclass(frozen=True, slots=True)
class EventView:
    """One event in a sentence."""

    at: str
    moment: str
    agent: str
    repository: str
    link: Link | None
    sentence: str


@dataclass(frozen=True, slots=True)
class MergedView:
    """An issue that was merged lately."""

    repository: str
    link: Link
    pull_request: Link
    ago: str
    text: str


@dataclass(frozen=True, slots=True)
class FirstStep:
    """Link to the page on which a story is written, shown where nothing is open."""

    repository: str
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class DashboardView:
    """Everything that the page shows."""

    at: str
    figures: tuple[Figure, ...]
    troubles: tuple[tuple[str, str], ...]
    paused: str
    mine: tuple[CardView, ...]
    lanes: tuple[tuple[str, tuple[CardView, ...]], ...]
    merged: tuple[MergedView, ...]
    agents: tuple[AgentView, ...]
    spending: tuple[tuple[str, Spent], ...]
    events: tuple[EventView, ...]
    event_trouble: str
    first_steps: tuple[FirstStep, ...]
    repositories: tuple[str, ...]
    interval: float

    @property
    def is_empty(self) -> bool:
        """True if nothing is open in any repository."""
        return not self.mine and not any(found for _, found in self.lanes)

    @property
    def title(self) -> str:
        """The document's, with the number of what waits for a person."""
        return f"({len(self.mine)}) Workflow Engine" if self.mine else "Workflow Engine"


def view(shown: Shown, settings: DashboardSettings, machine: Machine) -> DashboardView:
    """Return the page's values from the data that was read."""
    found = cards(shown.boards)
    views = [(card.place, _card(card, settings)) for card in found]
    mine = tuple(one for place, one in reversed(views) if place is Place.PERSON)  # who waits longest comes first
    lanes = tuple((str(lane), tuple(one for place, one in views if place is lane)) for lane in LANES)
    return DashboardView(
        at=f"{max(board.at for board in shown.boards):%H:%M:%S}" if shown.boards else "",
        figures=tuple(_figures(shown, found)),
        troubles=tuple((one.repository, plain(one.complaint)) for one in shown.boards if one.complaint),
        paused=plain(machine.paused),
        mine=mine,
        lanes=lanes,
        merged=tuple(_merged_views(shown.boards, settings)),
        agents=tuple(_agents(shown.boards, settings, machine)),
        spending=tuple((board.repository, board.spent) for board in shown.boards if board.spent is not None),
        events=tuple(_event(event, settings) for event in shown.events),
        event_trouble=plain(shown.trouble),
        first_steps=tuple(_first_steps(shown.boards, settings)),
        repositories=tuple(board.repository for board in shown.boards),
        interval=settings.interval,
    )


def _figures(shown: Shown, found: Sequence[Card]) -> Iterator[Figure]:
    mine = [card.board.at - card.now.moved_at for card in found if card.place is Place.PERSON]
    working = sum(bool(row.holder) for board in shown.boards for row in board.rows)
    yield Figure("Waiting for you", str(len(mine)), f"longest for {ago(max(mine))}" if mine else "nothing", "#mine")
    yield Figure("In work", str(working), "held by an agent", "#agents")
    yield Figure("Open", str(len(found)), "pieces of work", "#board")
    yield Figure("Merged", str(sum(len(board.merged) for board in shown.boards)), "last 24 hours", "#merged")
    spent = [board.spent for board in shown.boards if board.spent is not None]
    if not spent:
        yield Figure("Cost", "–", "no ledger yet", "#spending")
        return
    used, limit = sum(one.day for one in spent), sum(one.day_limit for one in spent)
    yield Figure("Cost", f"${used:,.2f}", f"of ${limit:,.0f} in 24 hours", "#spending", used / limit if limit else 1.0)


def _card(card: Card, settings: DashboardSettings) -> CardView:
    board, lead, now = card.board, card.lead, card.now
    site = settings.sites.get(board.repository, "")
    asking = next((row for row in (now, lead) if row.needs_a_person), now)
    held = now if now.holder else lead
    said = {verb for row in card.rows for verb in row.commands if verb not in orders(row)}
    link = _link(lead, site)
    parts = tuple(_link(row, site) for row in card.rows if row is not lead)
    holder = f"{plain(held.holder)}, for {ago(board.at - (held.held_since or held.moved_at))}" if held.holder else ""
    return CardView(
        key=f"{board.repository.replace('/', '-')}-{lead.number}",
        repository=board.repository,
        link=link,
        state=card.state,
        ask=sentences.asks(asking) or ("" if card.place is not Place.PERSON else "Look at it on GitHub."),
        waits="" if holder else sentences.waits(now, board.at),
        holder=holder,
        facts=sentences.facts(now, board.at),
        parts=parts,
        buttons=tuple(_buttons(card)),
        commands=" ".join(f"/{verb}" for verb in Verb if verb in said),
        text=" ".join(f"#{one.number} {one.title}" for one in (link, *parts)).casefold() + f" {holder}",
    )


def _link(row: ItemRow, site: str) -> Link:
    return Link(
        sentences.KIND[row.track], row.number, plain(row.title), _url(row.track, row.number, site), sentences.stage(row)
    )


def _url(track: Track, number: int, site: str) -> str:
    return f"{site}/{'pull' if track is Track.PULL_REQUEST else 'issues'}/{number}" if site else ""


def _buttons(card: Card) -> Iterator[Button]:
    """The orders of the row that tells how the work stands, then those that only the others have."""
    done: set[Verb] = set()
    for row in dict.fromkeys((card.now, *card.rows)):
        for verb in orders(row):
            if verb in done:
                continue
            done.add(verb)
            label, question = sentences.ORDER[verb]
            what = f"{sentences.KIND[row.track]} #{row.number}: {plain(row.title)}"
            yield Button(verb, label, row.number, str(row.stage), since(row), question, what)


def _merged_views(boards: Iterable[Board], settings: DashboardSettings) -> Iterator[MergedView]:
    for board in boards:
        site = settings.sites.get(board.repository, "")
        for item in board.merged:
            title = plain(item.title)
            yield MergedView(
                board.repository,
                Link("Issue", item.number, title, _url(Track.SPECIFICATION, item.number, site)),
                Link("Pull request", item.pull_request, "", _url(Track.PULL_REQUEST, item.pull_request, site)),
                ago(board.at - item.at),
                f"#{item.number} #{item.pull_request} {title}".casefold(),
            )


def _agents(boards: Sequence[Board], settings: DashboardSettings, machine: Machine) -> Iterator[AgentView]:
    """Those of this machine, with their own sentence, then those that are known by their locks alone."""
    held: dict[str, list[tuple[Board, ItemRow]]] = {}
    for board in boards:
        for row in board.rows:
            if row.holder:
                held.setdefault(plain(row.holder), []).append((board, row))
    here = {one.id: one for one in machine.agents}
    for name in (*here, *sorted(held.keys() - here.keys())):
        items = held.get(name, [])
        spans = [board.at - (row.held_since or row.moved_at) for board, row in items]
        own = here.get(name)
        yield AgentView(
            name,
            f"this machine, process {own.pid}" if own is not None else "another machine",
            plain(own.doing) if own is not None else "",
            tuple(_link(row, settings.sites.get(board.repository, "")) for board, row in items),
            ago(max(spans)) if spans else "",
        )


def _event(event: Event, settings: DashboardSettings) -> EventView:
    site, number = settings.sites.get(event.repository, ""), event.pull or event.issue
    track = Track.PULL_REQUEST if event.pull else Track.SPECIFICATION
    link = Link("", number, "", _url(track, number, site)) if number else None
    at = event.at.astimezone(UTC)
    said = sentences.sentence(event)
    return EventView(
        f"{at:%H:%M:%S}", at.isoformat(timespec="seconds"), plain(event.agent), event.repository, link, said
    )


def _first_steps(boards: Iterable[Board], settings: DashboardSettings) -> Iterator[FirstStep]:
    for board in boards:
        site = settings.sites.get(board.repository, "")
        label = settings.story_labels.get(board.repository, "story")
        if not board.complaint:
            yield FirstStep(board.repository, label, f"{site}/issues/new?labels={label}" if site else "")


def _template(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_TEMPLATES = Environment(
    loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def page(shown: DashboardView) -> str:
    """The whole document."""
    return _TEMPLATES.get_template("page.html").render(view=shown)


def live(shown: DashboardView) -> str:
    """Return the part of the document that changes: the server's events carry it."""
    return _TEMPLATES.get_template("live.html").render(view=shown)
