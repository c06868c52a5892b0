"""Texts that are posted if checks of a base fail since a merge: an issue or a pull request, and a comment (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewer_agent.after_merge.merge_commit import MergeCommit
from reviewer_agent.after_merge.record import Answer
from reviewer_agent.comments import TITLE_LIMIT, merge_title
from shared.ci.triage import Failure
from shared.specification import Criterion, Specification, content
from shared.text import comment_signatures, hosts, neutralise, one_line
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import Stage
from shared.workflow.labels import Labels

NAME = "engine-after-merge"
"""Name of the hidden line in an opened item, by which the item is found again."""

PURPOSE = "after-merge"

NAME_CHARS = 100
"""Characters of a check's name that are shown."""

MOST_NAMED = 20
"""Maximum number of checks that are named."""


@dataclass(frozen=True, slots=True)
class Voice:
    """The spelling of labels, the signing keys, and the web address of the repository."""

    names: Labels
    keys: Keyring
    page: str


def issue_title(merge: MergeCommit) -> str:
    """Return the title of the issue."""
    return neutralise(one_line(f"Checks of {merge.pull_request.base_branch} fail since {_phrase(merge)}", TITLE_LIMIT))


def issue_body(merge: MergeCommit, red: Sequence[Failure], voice: Voice) -> str:
    """Return the body of the issue, a specification: what fails, since which merge, and that it passes in the end."""
    then = f"Nobody works on this yet: a maintainer sets `{voice.names.of(Stage.READY)}` here to have it repaired."
    specification = Specification(
        goal="\n\n".join([_reason(merge, red, voice), then, _outputs(red)]),
        criteria=tuple(Criterion(f"AC{n}", f"{name} passes.") for n, name in enumerate(_check_names(red), 1)),
        out_of_scope=("Skipping, deleting or weakening what fails.",),
    )
    return _sign(content(specification, hosts(voice.page)), merge, voice.keys)


def revert_title(merge: MergeCommit) -> str:
    """Return the title of the pull request."""
    return neutralise(one_line(f"Revert: {merge.pull_request.title}", TITLE_LIMIT))


def revert_body(merge: MergeCommit, red: Sequence[Failure], voice: Voice) -> str:
    """Return the body of the pull request: the reason for the revert, and that a maintainer decides about it."""
    then = "This takes the change back as a whole. The engine does not merge it: a maintainer merges or closes it."
    return _sign(
        neutralise("\n\n".join([_reason(merge, red, voice), then, _outputs(red)]), hosts(voice.page)), merge, voice.keys
    )


def revert_message(merge: MergeCommit, red: Sequence[Failure]) -> str:
    """Return the message of the commit that reverts a merge, in git's own form."""
    failing = f"because checks of {_base(merge)} fail since then: {', '.join(_check_names(red))}."
    return f'Revert "{merge_title(merge.pull_request)}"\n\nThis reverts commit {merge.oid},\n{neutralise(failing)}\n'


def comment(merge: MergeCommit, red: Sequence[Failure], answer: Answer, number: int, voice: Voice) -> str:
    """Return the comment on the merged pull request; `number` is the opened item, 0 if nothing could be opened."""
    listed = ", ".join(f"`{name}`" for name in _check_names(red))
    why = f"Checks of `{_base(merge)}` fail since this was merged: {listed}; "
    if not number:
        return why + "GitHub refused to open an issue about it."
    if answer is Answer.REVERT:
        return why + f"#{number} takes it back when a maintainer merges that."
    return (
        why
        + f"#{number} says what fails, and is worked on when a maintainer sets `{voice.names.of(Stage.READY)}` there."
    )


def is_about(body: str, number: int, keys: Keyring) -> bool:
    """Return whether a body is the engine's own about the merge of pull request `number`."""
    mark = comment_signatures.find(body)
    ours = mark is not None and mark.name == NAME and mark.fields.get("pr") == str(number)
    return ours and keys.verify(PURPOSE, number, body) is CommentSignatures.VALID


def _sign(text: str, merge: MergeCommit, keys: Keyring) -> str:
    number = merge.pull_request.number
    line = comment_signatures.render(NAME, {"pr": str(number), "merge": merge.oid})
    return keys.sign(PURPOSE, number, f"{text}\n\n{line}")


def _reason(merge: MergeCommit, red: Sequence[Failure], voice: Voice) -> str:
    listed = "\n".join(f"- `{name}`" for name in _check_names(red))
    return (
        f"These checks of `{_base(merge)}` passed at {merge.before[:12]} and fail at {merge.oid[:12]}, which is "
        f"the merge of {voice.page}/pull/{merge.pull_request.number}:\n\n{listed}"
    )


def _outputs(red: Sequence[Failure]) -> str:
    """Return the output of each check, in a code block that this output cannot close."""
    blocks = []
    for one in red[:MOST_NAMED]:
        said = one.output.strip() or "(It says nothing.)"
        fence = "```"
        while fence in said:
            fence += "`"
        blocks.append(f"What `{_check_name(one)}` says:\n\n{fence}text\n{said}\n{fence}")
    return "\n\n".join(blocks)


def _phrase(merge: MergeCommit) -> str:
    pull_request = merge.pull_request
    return f"the merge of #{pull_request.number} ({one_line(pull_request.title, NAME_CHARS)})"


def _check_names(red: Sequence[Failure]) -> list[str]:
    return list(dict.fromkeys(_check_name(one) for one in red))[:MOST_NAMED]


def _check_name(failure: Failure) -> str:
    return one_line(failure.check.name, NAME_CHARS).replace("`", "'") or "check"


def _base(merge: MergeCommit) -> str:
    return one_line(merge.pull_request.base_branch, NAME_CHARS)
