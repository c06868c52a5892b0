"""Every sentence the planner posts: pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from planner_agent.overlap import overlaps
from planner_agent.plan import Ambiguity, Plan, PlannedSpecification, PlanStep
from planner_agent.policy import Approval
from planner_agent.specifications import Created
from shared.commands.command_rules import offered
from shared.errors import Blocked
from shared.github.status import Status, before_any_label, waiting_status
from shared.lock.fence import Fence
from shared.models import Issue
from shared.retry.answer_retry import AnswerUnusable, shown
from shared.specification import LINKED, SpecificationKind
from shared.text import counted, neutralise
from shared.text.markdown import fold_logs
from shared.workflow import Stage, Track
from shared.workflow.labels import Labels


def plan(
    planned: Plan, revision: int, approval: Approval = Approval.COMMENT, *, links: Collection[str] = frozenset()
) -> str:
    """Return a plan for people to decide on, and how to decide. The text of the model is made harmless.

    In its prose links to the hosts `links` work, and pasted logs are folded.
    """
    parts = [
        f"## Plan, version {revision}",
        _prose(planned.summary, links),
        f"Complexity {planned.complexity}, about {planned.estimate_hours:g} "
        f"{'hour' if planned.estimate_hours == 1 else 'hours'} of work, "
        f"{counted(len(planned.specifications), 'specification')}.",
        *_section("Questions", _questions(planned), numbered=True),
        *_section("Steps", _steps(planned.steps), numbered=True),
        *_section("Design options", _options(planned)),
        *_section("Assumptions", _assumptions(planned)),
        "### Specifications",
        *(_specification(number, one, links) for number, one in enumerate(planned.specifications, 1)),
        *_order_of_work(planned),
        "---",
        _how_to_decide(planned, approval),
    ]
    return "\n\n".join(parts)


def _prose(text: str, links: Collection[str]) -> str:
    return fold_logs(neutralise(text, LINKED | set(links)))


def _section(title: str, entries: Iterator[str], *, numbered: bool = False) -> Iterator[str]:
    shown = [f"{number}. {entry}" if numbered else f"- {entry}" for number, entry in enumerate(entries, 1)]
    if shown:
        yield f"### {title}"
        yield "\n".join(shown)


def _questions(planned: Plan) -> Iterator[str]:
    for one in planned.questions:
        without = f" (without an answer: {neutralise(one.assumption)})" if one.assumption else ""
        yield neutralise(one.question) + _impact(one) + without


def _assumptions(planned: Plan) -> Iterator[str]:
    for one in planned.ambiguities:
        if not one.blocking:
            yield f"{neutralise(one.question)} {neutralise(one.assumption)}".rstrip() + _impact(one)


def _impact(one: Ambiguity) -> str:
    return f" (what depends on it: {neutralise(one.impact)})" if one.impact else ""


def _order_of_work(planned: Plan) -> Iterator[str]:
    """Yield the specifications that wait only because they touch the same files as another one."""
    entries = [
        f"`{key}` waits for `{one.key}`, because both touch {_paths(one.files)}."
        for key, added in overlaps(planned).items()
        for one in added
    ]
    yield from _section("One after the other", iter(entries))


def _steps(steps: Sequence[PlanStep]) -> Iterator[str]:
    numbers = {step.id: str(number) for number, step in enumerate(steps, 1)}
    for step in steps:
        after = f", after {', '.join(numbers[id] for id in step.depends_on)}" if step.depends_on else ""
        files = f": {_paths(step.files)}" if step.files else ""
        yield f"{neutralise(step.title)}{after}{files}"


def _options(planned: Plan) -> Iterator[str]:
    for one in planned.options:
        chosen = " (chosen)" if one.chosen else ""
        yield f"**{neutralise(one.title)}**{chosen}: {neutralise(one.tradeoff)}"


def _specification(number: int, planned: PlannedSpecification, links: Collection[str]) -> str:
    lines = [f"**{number}. {neutralise(planned.title)}** (`{planned.key}`)", "", _prose(planned.goal, links), ""]
    lines += [f"- {neutralise(criterion, LINKED | set(links))}" for criterion in planned.criteria]
    facts = {
        "Kind": "" if planned.kind is SpecificationKind.FEATURE else str(planned.kind),
        "Size": str(planned.size or ""),
        "Files": _paths(planned.files),
        "Existing tests that may change": _paths(planned.may_change),
        "Out of scope": neutralise("; ".join(planned.out_of_scope)),
        "Depends on": ", ".join(f"`{key}`" for key in planned.depends_on),
    }
    shown = [f"{name}: {value}" for name, value in facts.items() if value]
    return "\n".join([*lines, "", "  \n".join(shown)] if shown else lines)


def _paths(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path.replace('`', '')}`" for path in paths)


def _how_to_decide(planned: Plan, approval: Approval) -> str:
    if approval is Approval.GIVEN:
        return "This plan was approved at a terminal. Its issues are being created."
    if approval is Approval.AUTO and not planned.questions:
        return "Plans are approved automatically here. Its issues are being created."
    if approval is Approval.TERMINAL:
        return _decide_at_a_terminal(planned)
    first = "**To start, comment `/approve`.** The issues above are created then."
    if planned.questions:
        first = (
            "**Please answer the questions in a comment**; a new plan follows. "
            "Or comment `/approve` to continue with the assumptions."
        )
    return (
        f"{first} To get another plan, comment `/reject <reason>` or `/edit <what to change>`. "
        "Commands stand at the beginning of a comment and need write access. "
        "Please do not edit this comment: an edited plan cannot be approved."
    )


def _decide_at_a_terminal(planned: Plan) -> str:
    answers = " Answers to the questions lead to a new plan, too." if planned.questions else ""
    return (
        "Plans of this repository are approved at a terminal: run `planner-agent` there and give this issue's number. "
        "To get another plan, comment `/reject <reason>` or `/edit <what to change>` (needs write access)."
        f"{answers}"
    )


def _waiting_note(one: Created) -> str:
    """Return which specifications of other stories it waits for; empty if it waits for none."""
    others = ", ".join(f"#{number}" for number in one.behind)
    return f" (after {others}: the same files)" if others else ""


def specified(fence: Fence, created: Sequence[Created]) -> Status:
    """Return the status of a story whose specification issues exist."""
    notes = "\n".join(f"- [ ] #{one.number} {one.title}{_waiting_note(one)}" for one in created)
    return Status(
        f"{counted(len(created), 'specification issue')} created; the story closes with the last of them.",
        _rows(fence),
        _data(fence, specifications={one.key: one.number for one in created}),
        notes,
    )


def finished(fence: Fence, numbers: Mapping[str, int]) -> Status:
    """Return the status of a story that is done."""
    notes = "\n".join(f"- [x] #{number}" for number in sorted(numbers.values()))
    sentence = "Every specification issue is closed: the story is done."
    return Status(sentence, _rows(fence), _data(fence, specifications=dict(numbers)), notes)


def closed(fence: Fence) -> Status:
    """Return the status of a story that a person has closed; its specifications go on by themselves."""
    sentence = "Closed by a maintainer; its specification issues continue by themselves."
    return Status(sentence, _rows(fence), _data(fence))


def changed_meanwhile(fence: Fence) -> Status:
    """Return the status of a text that nobody with write access has approved, although plans are by configuration."""
    return Status(
        "The story was edited after its label was set, so the plan needs your decision: `/approve`, "
        "`/reject <reason>` or `/edit <what to change>`.",
        _rows(fence),
        _data(fence, waiting={"why": "approval"}),
    )


def submitted(fence: Fence) -> Status:
    """Return the status of a story whose plan waits for a person; the plan itself says how it is decided."""
    sentence = f"Version {fence.attempt} of the plan waits for your decision: it stands below, with what you can do."
    return Status(sentence, _rows(fence), _data(fence, waiting={"why": "approval"}))


def given_up(fence: Fence, error: Blocked, restart: str) -> Status:
    """Return the status of a story that needs a maintainer; `restart` is the label that begins anew."""
    notes = [
        "**What was kept:** the plans in this thread." if fence.round else "**What was kept:** this story.",
        f"**What to do:** {_advice(error)}correct the story or say in a comment what is wanted, "
        f"then set the label `{restart}`.",
    ]
    notes.append(offered(Track.STORY, fence.stage))
    if isinstance(error, AnswerUnusable) and error.raw:
        notes.append(shown(error.raw))
    rows = (*_rows(fence), ("Category", error.category))
    return Status(str(error), rows, _data(fence, error=str(error), category=error.category), "\n\n".join(notes))


def _advice(error: Blocked) -> str:
    return f"{error.advice} Or " if error.advice else ""


def waiting(fence: Fence, sentence: str) -> Status:
    """Return the status after a failed run."""
    return waiting_status(fence, sentence, _rows(fence), _data(fence))


def paused(fence: Fence) -> Status:
    """Return the status of a story that a person paused."""
    return Status("Paused. Remove the label to continue.", _rows(fence), _data(fence))


def withdrawn(fence: Fence, reason: str, story: Issue, names: Labels) -> Status:
    """Return the status of a story that a person stopped; no planner looks at one without the label of stories."""
    asks = names.of(Stage.PLANNING) if names.read(story.labels).story else names.story
    then = f"{before_any_label(story)}set the label `{asks}` (again)"
    return Status(f"Stopped: {reason}. To plan it anew, {then}.", _rows(fence), _data(fence))


def _rows(fence: Fence) -> tuple[tuple[str, str], ...]:
    rows = [("Stage", str(fence.stage)), ("Agent", fence.agent), ("Plan version", str(fence.attempt))]
    if fence.approved_by:
        rows.append(("Approved by", fence.approved_by))
    return tuple(rows)


def _data(fence: Fence, **more: object) -> dict[str, object]:
    return {"stage": fence.stage, "holder": fence.agent, "plan": fence.attempt, **more}


def doubtful(label: str, author: str) -> Status:
    """Return the status of a text that may have been edited between a person's label and its first reading."""
    sentence = (
        f"Not started: after `{label}` was set, {author}, who has no write access, may have edited the text. "
        f"Please read it, then remove `{label}` and set it again."
    )
    return Status(sentence, data={"waiting": {"why": "approval"}})
