"""Diagrams of the stages, printed from the table in `shared.workflow` for README and docs (pure)."""

from __future__ import annotations

from shared.workflow import HALTED, TRANSITIONS, UNLABELLED, Event, Role, Stage, Track, owner, stages
from shared.workflow.labels import Labels

_TITLES = {Track.STORY: "Story", Track.SPECIFICATION: "Specification", Track.PULL_REQUEST: "Pull request"}

WITHDRAWAL = (
    "Not drawn: from every stage, a person who closes the item or removes its stage label withdraws it, "
    "and the agent that works on it stops."
)


_HANDED_OVER = (
    (Track.STORY, Stage.SPECIFIED, Track.SPECIFICATION, Stage.READY, "creates"),
    (Track.SPECIFICATION, Stage.TESTING, Track.PULL_REQUEST, Stage.REVIEWING, "opens"),
)
"""Links from one track to the next: from where, to where, by which verb."""


def overview() -> str:
    """Return Markdown: one Mermaid flowchart of the three tracks with agents' moves, without failures and people."""
    lines = ["```mermaid", "flowchart LR"]
    for track in Track:
        lines += [f'    subgraph {_inside(track)} ["{_TITLES[track]}"]', "        direction LR"]
        lines += [f"        {_box(track, a)} -->|{text}| {_box(track, b)}" for (a, b), text in _moves(track).items()]
        lines.append("    end")
    lines += [f"    {_inside(t, s)} -.->|{verb}| {_inside(u, to)}" for t, s, u, to, verb in _HANDED_OVER]
    return "\n".join([*lines, "```"]) + "\n"


def diagrams() -> str:
    """Return Markdown: one Mermaid state diagram per track; each edge shows the event and the role that moves."""
    drawn = (f"**{_TITLES[track]}**\n\n```mermaid\n{diagram(track)}```\n" for track in Track)
    return "\n".join((*drawn, WITHDRAWAL + "\n"))


def diagram(track: Track) -> str:
    """Return the Mermaid `stateDiagram-v2` of one track; moves between the same stages share an edge."""
    lines = ["stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{s}" as {_id(s)}' for s in stages(track) if _id(s) != s and s is not Stage.WITHDRAWN]
    lines += [f"    {_node(a)} --> {_node(b)}: {text}" for (a, b), text in _edges(track).items()]
    return "\n".join([*lines, f"    {_id(Stage.DONE)} --> [*]"]) + "\n"


def stage_table(names: Labels) -> str:
    """Return Markdown: every stage of every track with its label and the role that makes the next move."""
    lines = ["| track | stage | label | who leads on |", "|---|---|---|---|"]
    for track in Track:
        for stage in stages(track):
            label = "-" if stage in UNLABELLED else f"`{names.of(stage)}`"
            lines.append(f"| {_TITLES[track].lower()} | {stage} | {label} | {_leads_on(track, stage)} |")
    return "\n".join(lines) + "\n"


def _leads_on(track: Track, stage: Stage) -> str:
    if agent := owner(track, stage):
        return _name(agent)
    movers = {
        _name(move.by)
        for (t, s, event), move in TRANSITIONS.items()
        if t is track and s is stage and event is not Event.WITHDREW
    }
    return ", ".join(sorted(movers)) or "nobody: it is over"


def _moves(track: Track) -> dict[tuple[Stage, Stage], str]:
    """Return the roles of each move in the overview; the first moves of later tracks are drawn as links instead."""
    movers: dict[tuple[Stage, Stage], dict[str, None]] = {}
    for (t, stage, event), move in TRANSITIONS.items():
        left_out = {stage, move.to} & HALTED or move.by is Role.PERSON or event is Event.WITHDREW
        begins = stage is Stage.NEW and t is not Track.STORY
        if t is track and not left_out and not begins:
            movers.setdefault((stage, move.to), {})[_name(move.by)] = None
    return {ends: " or ".join(names) for ends, names in movers.items()}


def _box(track: Track, stage: Stage) -> str:
    return f'{_inside(track, stage)}["{stage}"]'


def _inside(track: Track, stage: Stage | None = None) -> str:
    """Return a node's name in the overview, which shows three tracks in one picture."""
    return f"{track}-{stage or 'track'}".replace("-", "_").replace(" ", "_")


def _edges(track: Track) -> dict[tuple[Stage, Stage], str]:
    events: dict[tuple[Stage, Stage, Role], list[Event]] = {}
    for (t, stage, event), move in TRANSITIONS.items():
        if t is track and event is not Event.WITHDREW:
            events.setdefault((stage, move.to, move.by), []).append(event)
    edges: dict[tuple[Stage, Stage], list[str]] = {}
    for (stage, to, by), happened in events.items():
        edges.setdefault((stage, to), []).append(f"{' or '.join(happened)} ({_name(by)})")
    return {ends: " / ".join(texts) for ends, texts in edges.items()}


def _node(stage: Stage) -> str:
    return "[*]" if stage is Stage.NEW else _id(stage)


def _name(role: Role) -> str:
    return "GitHub" if role is Role.GITHUB else role


def _id(stage: Stage) -> str:
    """Return a stage's name for Mermaid, which allows no hyphens."""
    return stage.replace("-", "_")
