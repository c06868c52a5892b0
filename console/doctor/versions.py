"""Whether a newer engine is at work in the repository: what only that one can read, this one works around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from console.doctor.context import RepositoryContext
from console.doctor.finding import Finding, failed, passed
from console.history.fences import key_of
from planner_agent.pending import register
from reviewer_agent.merge import merge_turns, update_turns
from shared.git.lines import newer_version
from shared.git.mirror import PROOF
from shared.governance import ledger, ledger_lines
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.record import read_fence

_TIPS_ALONE = ("--depth=1", "--filter=tree:0")
"""Messages are all that is read; a server that knows no filters sends the files too."""

_NAMED = 3
"""So many refs are named; where there are more, the first by name."""


async def versions(visit: RepositoryContext) -> Sequence[Finding]:
    """Whether this version can read the newest that stands in each ref of the engine's own."""
    git = visit.git.at(visit.git.git_dir.with_name("versions.git"))
    await git.init()
    await git.fetch(visit.url, PROOF, f"+{FENCE_NAMESPACE}/*:{FENCE_NAMESPACE}/*", options=_TIPS_ALONE)
    layout = "--format=%(refname)%00%(contents)%00"
    told = (await git.run("for-each-ref", layout, f"{FENCE_NAMESPACE}/")).stdout.decode("utf-8", "replace").split("\0")
    refs = {ref.removeprefix("\n"): text for ref, text in zip(told[0::2], told[1::2], strict=False)}
    return [versions_finding(refs, visit.name)]


def versions_finding(refs: Mapping[str, str], where: str) -> Finding:
    """What the newest commits of the engine's own refs (ref -> message) say, judged."""
    subject = "versions"
    unread = sorted(ref for ref, text in refs.items() if not _readable(ref, text))
    if not unread:
        return passed(subject, f"Everything below {FENCE_NAMESPACE}/ can be read.", where)
    more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
    sentence = f"This version cannot read {', '.join(unread[:_NAMED])}{more}: a newer engine is at work there."
    step = "Upgrade this agent; if no newer one is at work any more, delete these refs."
    return failed(subject, sentence, step, where)


def _readable(ref: str, text: str) -> bool:
    key = key_of(ref)
    if key is not None:
        return read_fence(key, "", text) is not None
    match ref:
        case ledger.REF:
            return ledger_lines.read(text) is not None or not newer_version(text, ledger_lines.VERSION)
        case register.REF:
            return register.read(text) is not None or not newer_version(text, register.VERSION)
        case merge_turns.REF:
            return merge_turns.MergeTurn.read(text) is not None
        case _ if ref.startswith(update_turns.PREFIX):
            return update_turns.UpdateTurn.read(text) is not None
        case _:
            return True
