"""The text of a pull request: its title by a template, and its body from the item's notes (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.lock.fence import Fence
from shared.models import Issue
from shared.specification import SpecificationKind, plain_title
from shared.text import change_summary, comment_signatures, hosts, neutralise, one_line
from shared.text.markdown import fold_logs
from worker_agent.comments import branch

TITLE_LIMIT = 256
"""GitHub refuses longer titles."""

TITLE_CHARS = 240
"""The most characters that are written of these: making a title harmless lengthens it a little."""

SUMMARY_BYTES = 16_000
"""The most bytes of the change's summary in the body, so that proof and claim still fit into GitHub's limit."""

COMMAND_CHARS = 200

TYPES = {
    SpecificationKind.FEATURE: "feat",
    SpecificationKind.REFACTORING: "refactor",
    SpecificationKind.DOCUMENTATION: "docs",
    SpecificationKind.REMOVAL: "refactor",
    SpecificationKind.DEPENDENCY: "build",
    SpecificationKind.CONFIGURATION: "chore",
}
"""The types of Conventional Commits, by the kind of specification."""

MARK = "engine-proof"
_END = "<!-- end of engine-proof -->"


def title(template: str, issue: Issue, kind: SpecificationKind = SpecificationKind.FEATURE) -> str:
    """Return a title by `pr_title`; harmless also as a squash commit's subject, where `fixes #1` would close."""
    names = {"{title}": plain_title(issue.title), "{number}": str(issue.number), "{type}": TYPES[kind]}
    room = TITLE_CHARS - len(_fill_template(template, {**names, "{title}": ""}))
    made = _fill_template(template, {**names, "{title}": one_line(names["{title}"], max(room, 0))})
    return neutralise(one_line(made, TITLE_CHARS))[:TITLE_LIMIT]


def _fill_template(template: str, names: dict[str, str]) -> str:
    """Replace each name once, so that no issue's title can name another."""
    before, name, after = min(
        (template.partition(name) for name in names if name in template),
        key=lambda parts: len(parts[0]),
        default=(template, "", ""),
    )
    return f"{before}{names[name]}{_fill_template(after, names)}" if name else before


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The facts about one change. `summary` is its coder's, `goal` the issue's; `part_of` is the story's number.

    `evidence` is the Markdown of the proof, `claim` the line for `workflow-engine verify`. `flagged` are files that
    decide what is installed, built or run. `merges` is the repository's setting `merge`.
    """

    issue: Issue
    fence: Fence
    goal: str
    evidence: str
    summary: str = ""
    part_of: int | None = None
    implied_criteria: bool = False
    flagged: Sequence[str] = ()
    test_commands: str = ""
    claim: str = ""
    merges: str = "never"
    documentation: str | None = None
    set_aside: tuple[str, ...] = ()
    """The criteria for which no test was taken."""


def body(change: ChangeSummary) -> str:
    """Return the body for a person who opens the pull request. Text outside of `proof` is never written again."""
    first = f"Closes #{change.issue.number}"
    if change.part_of:
        first += f"\n\nPart of #{change.part_of}"
    said = change.summary or _cut(change.goal)
    told = fold_logs(neutralise(said, {"github.com", *hosts(change.issue.body)}))
    parts = [first, change_summary.written(told) if change.summary else told, proof(change)]
    return "\n\n".join(part for part in parts if part)


def proof(change: ChangeSummary) -> str:
    """Return the part of the body that every push renews: how to try the change, its proof, and the commands."""
    parts = [
        comment_signatures.render(MARK, {"head": change.fence.work_head}).replace(" mac= ", " mac=none "),
        f"## How to try it\n\n{_how_to_try(change)}",
        f"## Tests\n\n{change.evidence}",
        "The issue lists no acceptance criteria; the whole issue was treated as one criterion."
        if change.implied_criteria
        else "",
        _flagged_files(change.flagged) if change.flagged else "",
        f"---\n\n{_commands(change)}",
        change.claim,
        _END,
    ]
    return "\n\n".join(part for part in parts if part)


def renewed(text: str, change: ChangeSummary) -> str | None:
    """Return the body `text` with the proof of this head; None if it has it, or if a person removed the proof."""
    text = text.replace("\r\n", "\n")
    begin, end = text.find(f"<!-- {MARK}/"), text.rfind(_END)
    if begin < 0 or end < begin or shown_head(text) == change.fence.work_head:
        return None
    return f"{text[:begin]}{proof(change)}{text[end + len(_END) :]}"


def shown_head(text: str) -> str:
    """Return the commit whose proof a body shows; empty if it shows none that can be renewed."""
    begin = text.find(f"<!-- {MARK}/")
    mark = comment_signatures.find(text[begin:]) if begin >= 0 else None
    return mark.fields.get("head", "") if mark is not None and _END in text[begin:] else ""


def _how_to_try(change: ChangeSummary) -> str:
    lines = [f"git fetch origin {branch(change.fence)} && git switch --detach FETCH_HEAD"]
    lines += [one_line(change.test_commands, COMMAND_CHARS)] if change.test_commands else []
    return "\n".join(["```sh", *(line.replace("```", "'''") for line in lines), "```"])


def _flagged_files(paths: Sequence[str]) -> str:
    """Return the list of files that the specification names and that decide what is installed, built or run."""
    named = [f"- `{neutralise(one_line(path, 200)).replace('`', chr(39))}`" for path in paths[:20]]
    more = [f"- and {len(paths) - 20} more"] if len(paths) > 20 else []
    why = "**Please check:** these files decide what is installed, or run without being called. A maintainer merges:"
    return "\n".join([why, "", *named, *more])


def _commands(change: ChangeSummary) -> str:
    """Return the commands that people can give here; none that would have no effect."""
    merge = " `/merge` merges it once it is approved and CI passes." if change.merges != "never" else ""
    told = (
        "Review comments by people with write access are worked on and answered here. "
        f"`/pause` and `/stop` in a comment hold or end the work.{merge}"
    )
    return f"{told} [All commands]({change.documentation})" if change.documentation else told


def _cut(text: str) -> str:
    return text.encode()[:SUMMARY_BYTES].decode("utf-8", "ignore")
