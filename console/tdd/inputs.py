"""Inputs of a task, and what is wrong with them: specification, commit to start from, branch for the result."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from console.tdd.checkout import Checkout
from console.tdd.task import TaskRequest
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.specification import BODY_LIMIT, SpecificationKind, read
from shared.text import one_line


class Unready(Misconfigured):
    """Something keeps the task from beginning."""

    def __init__(self, errors: tuple[str, ...], warnings: tuple[str, ...], *, credentials: bool) -> None:
        """`credentials`: nothing but credentials or rights is missing."""
        super().__init__("\n".join([*(f"error: {one}" for one in errors), *(f"warning: {one}" for one in warnings)]))
        self.errors, self.warnings, self.credentials = errors, warnings, credentials


@dataclass
class Findings:
    """Errors (and whether each is about credentials) and warnings for the person."""

    errors: list[tuple[str, bool]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def wrong(self, sentence: str) -> None:
        """Add an error: something that has to be changed first."""
        self.errors.append((sentence, False))

    def caught(self, error: EngineError) -> None:
        """Add the error's own sentence."""
        self.errors.append((str(error), isinstance(error, Unauthorized | NotAllowed)))

    def check(self) -> None:
        """Raise `Unready` if there is any error."""
        if self.errors:
            errors = tuple(sentence for sentence, _ in self.errors)
            raise Unready(errors, tuple(self.warnings), credentials=all(told for _, told in self.errors))


TITLE_LIMIT = 200
"""Characters of the specification's first heading that become the title."""


def specification(file: Path | None, found: Findings, kind: str = "") -> tuple[str, str]:
    """Title and text: the first heading, if the file begins with one, else its name.

    A `kind` of work that was said beside the file stands in front of the text.
    """
    whole = _whole(file, found)
    if file is None or whole is None:
        return "", ""
    first, _, rest = whole.partition("\n")
    headed = first.startswith("# ")
    title = one_line(first.removeprefix("# ") if headed else file.stem, TITLE_LIMIT)
    text = (rest.strip() or title) if headed else whole
    if not text:
        found.wrong(f"The specification {file} is empty: say in it what should be built.")
        return title, text
    text = _of_kind(text, kind, found)
    if len(text) > BODY_LIMIT:
        found.wrong(f"The specification {file} has {len(text)} characters; {BODY_LIMIT} are the most.")
    else:
        meant = read(text)
        if meant.depends_on:
            number = meant.depends_on[0]
            found.wrong(f"The specification depends on #{number}: here there are no issues; take that line out.")
        found.warnings += [f"The specification {file}: {remark}" for remark in meant.remarks]
    return title, text


def _whole(file: Path | None, found: Findings) -> str | None:
    if file is None:
        found.wrong("Name the file with the specification, as in `workflow-engine tdd SPEC.md`.")
        return None
    try:
        return file.read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        found.wrong(
            f"There is no file {file}: write into one what should be built, and name it, "
            "as in `workflow-engine tdd SPEC.md`."
        )
    except OSError as error:
        found.wrong(f"The specification {file} cannot be read: {error.strerror}.")
    except UnicodeDecodeError:
        found.wrong(f"The specification {file} is not UTF-8 text.")
    return None


def _of_kind(text: str, kind: str, found: Findings) -> str:
    own = read(text).kind
    if not kind or own == kind:
        return text
    if own is not SpecificationKind.FEATURE:
        found.wrong(f"The specification says 'Kind: {own}', and --kind says {kind}: leave one of them out.")
    return f"Kind: {kind}\n\n{text}"


def changed(order: TaskRequest, file: Path | None, found: Findings) -> TaskRequest:
    """The order with the specification as it stands now: in `file`, else where it was read from.

    A file that was named has to be right; the one that the task began with may be gone or no specification any more:
    then the text stays that it began with.
    """
    if file is not None:
        title, text = specification(file, found, order.kind)
        return replace(order, specification=str(file), file=str(file.absolute()), title=title, text=text)
    known = Path(order.file)
    if not order.file or not known.is_file():
        return order
    looked = Findings()
    title, text = specification(known, looked, order.kind)
    if looked.errors:
        found.warnings += [f"{sentence} The text that the task has stays." for sentence, _ in looked.errors]
        return order
    found.warnings += looked.warnings
    return replace(order, title=title, text=text)


async def start(
    checkout: Checkout, base_option: str | None, found: Findings, specification: Path | None = None
) -> tuple[str, str]:
    """The base branch and its commit; empty where there is none. The `specification` need be in no commit."""
    current = await checkout.branch()
    base = base_option or current
    if await checkout.commit("HEAD") is None and base_option is None:
        found.wrong(f"{checkout.top} has no commit yet, so there is nothing to start from.")
        return "", ""
    if base is None:
        found.wrong("No branch is checked out (HEAD is detached): say with --base from which branch to start.")
        return "", ""
    commit = await checkout.tip(base)
    if commit is None:
        found.wrong(f"There is no branch '{base}' to start from.")
    if await checkout.shallow():
        found.wrong(f"{checkout.top} is a shallow clone: run `git fetch --unshallow` there first.")
    _warn(await checkout.uncommitted(), checkout, specification, found)
    return base, commit or ""


NAMED = 5
"""Files without a commit that are named, at most."""


def _warn(uncommitted: Sequence[str], checkout: Checkout, specification: Path | None, found: Findings) -> None:
    """Name what is not committed; the specification need not be."""
    own = None if specification is None else specification.resolve()
    names = [name for name in uncommitted if (checkout.top / name).resolve() != own]
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        told = ", ".join(names[:NAMED])
        found.warnings.append(f"Not committed, so not part of the work, and left as it is: {told}{more}.")


async def target(checkout: Checkout, branch: str, commit: str, found: Findings) -> None:
    """Look whether the result can become this branch: a new one, or one that moves forward."""
    if not await checkout.allows(branch):
        found.wrong(f"'{branch}' is no name for a branch: choose another --branch.")
        return
    there = await checkout.branches()
    parents = {str(parent) for parent in Path(branch).parents}
    clash = next((one for one in sorted(there) if one in parents or one.startswith(f"{branch}/")), None)
    if clash is not None:
        found.wrong(f"git cannot have the branches '{clash}' and '{branch}' at a time: choose another --branch.")
    if branch in await checkout.checked_out():
        found.wrong(f"The branch '{branch}' is checked out, and is therefore never moved: choose another --branch.")
    elif branch in there and not (commit and await checkout.contains(commit, f"refs/heads/{branch}")):
        found.wrong(f"The branch '{branch}' exists and has commits of its own: choose another --branch.")
    elif branch in there:
        found.warnings.append(f"The branch '{branch}' exists and will be moved forward.")


async def still_ours(checkout: Checkout, branch: str, ours: str, found: Findings) -> None:
    """Look whether the branch of a task that stopped can take more: it is as it was left, or gone."""
    tip = await checkout.tip(branch)
    if branch in await checkout.checked_out():
        found.wrong(f"The branch '{branch}' is checked out, and is therefore never moved: check out another one.")
    elif tip is not None and not await checkout.contains(ours, tip):
        rename = shlex.join(("git", "branch", "-m", branch, "NAME"))
        found.wrong(f"The branch '{branch}' has commits of its own: rename it first (`{rename}`).")
