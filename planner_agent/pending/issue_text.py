"""Title and body of the issue about a pending test (pure)."""

from __future__ import annotations

from shared.pending import Marked, mark
from shared.pending.source import path_of
from shared.specification import Criterion, Specification, content
from shared.text import neutralise, one_line
from shared.text.comment_signatures import Keyring

ID_CHARS = 180
"""Characters of a test's id in a title, so that GitHub accepts the title with its counter."""


def title(marked: Marked, attempts: int) -> str:
    """Return `[TDD] Implement <id> | attempt 1/<attempts>`; a long id keeps its end, which tells tests apart."""
    name = one_line(marked.test, len(marked.test))
    shown = name if len(name) <= ID_CHARS else f"...{name[3 - ID_CHARS :]}"
    return f"{neutralise(f'{mark.TITLE}{shown}')} | attempt 1/{attempts}"


def body(marked: Marked, base: str, keys: Keyring) -> str:
    """Return the specification, with the hidden line by which the test is known."""
    specification = Specification(
        goal=_goal(marked, base),
        criteria=(Criterion("AC1", f"{_code(marked.test)} passes without its marker."),),
        out_of_scope=("Changes to other existing tests.",),
    )
    return mark.write(content(specification), marked.test, base, keys)


def _goal(marked: Marked, base: str) -> str:
    where = f"`{_code(path_of(marked.test))}`, line {marked.line}, at {base[:12]}"
    told = f"The test `{_code(marked.test)}` waits for its code ({where}):\n\n> {one_line(marked.reason, 500)}\n\n"
    if marked.bare:
        return told + (
            "It is a placeholder without a body: write the test that its title asks for. The placeholder itself may "
            "be taken out of the file; everything else in it stays, and new tests stand at its end or in a new file."
        )
    return told + (
        "The engine takes out its marker and nothing else. Code is written only if the test then fails; "
        "the test itself stays as it is."
    )


def _code(text: str) -> str:
    return one_line(text, 400).replace("`", "'")
