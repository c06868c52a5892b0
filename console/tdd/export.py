"""The results of a task that leave its own GitHub: commits without references to it, and a pull request's text."""

from __future__ import annotations

import re

from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import signed
from shared.text import neutralise, one_line

RESULT = "refs/tdd/result"
"""Ref in the copy for the commits that are handed out; no branch of a person can have this name."""

_SIGNATURE = ("workflow-engine", "workflow-engine@localhost")
"""Author of the commits: nobody's account, so that no server shows them as somebody's."""

_KEPT = ("Phase", "Round")
"""Trailers that mean something outside; the others name an issue and an agent of the task's own GitHub."""

_CLOSES = re.compile(r"\ACloses #\d+\s*")
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
_COMMANDS = re.compile(
    r"^## How to try it\n.*?(?=^## )|^---\n\nReview comments .*?\n(?=\n|\Z)", re.DOTALL | re.MULTILINE
)
"""Parts that lead to nothing outside: the branch of the task's own GitHub, and the commands of its agents."""

_NUMBER = re.compile(r"(?<![\w&])#(?=\d)")


async def rewritten(bare: Bare, base: str, head: str) -> str:
    """Write the commits from `base` to `head` anew, as `RESULT` of the same repository; returns the last one.

    Trees, dates and order stay, so that the same work always gives the same commits.
    """
    listed = await bare.git.check("rev-list", "--reverse", "--topo-order", "--parents", f"{base}..{head}")
    new = {base: base}
    for line in listed.text.splitlines():
        commit, *parents = line.split()
        shown = await bare.git.check("show", "--no-patch", "--format=%T%x00%ad%x00%B", "--date=raw", commit)
        tree, date, message = shown.text.split("\0", 2)
        lineage = [word for parent in parents for word in ("-p", new.get(parent, parent))]
        variables = signed(_SIGNATURE, _SIGNATURE, date) | {"GIT_COMMITTER_DATE": date}
        words = _outside(message).encode()
        made = await bare.git.check("commit-tree", tree, *lineage, "-F", "-", stdin=words, env=variables)
        new[commit] = made.text.strip()
    await bare.update_ref(RESULT, new[head])
    return new[head]


def _outside(message: str) -> str:
    subject, _, rest = message.strip().partition("\n")
    trailers = [line for line in rest.splitlines() if line.partition(":")[0] in _KEPT]
    return "\n".join([_NUMBER.sub("", subject), "", *trailers]).strip() + "\n"


def pull_title(title: str) -> str:
    """The title of the pull request on origin."""
    return neutralise(one_line(_NUMBER.sub("", title), 240))


def pull_body(description: str, specification: str, reviews: int) -> str:
    """Its body: proof and summary as the worker wrote them, without numbers and marks that mean something else here."""
    told = _CLOSES.sub("", description.replace("\r\n", "\n"))
    told = re.sub(r"\n{3,}", "\n\n", _HIDDEN.sub("", _COMMANDS.sub("", told))).strip()
    times = "once" if reviews == 1 else f"{reviews} times"
    made = f"Made by `workflow-engine tdd` from `{one_line(specification, 200)}`, reviewed {times} by the engine."
    return f"{_NUMBER.sub('', told)}\n\n---\n\n{made}\n".lstrip()
