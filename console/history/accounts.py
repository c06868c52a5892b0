"""The ledger as a mirror has it: its lines, as far back as they are asked for."""

from __future__ import annotations

from shared.budget import ledger_lines
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Entry
from shared.git.append_only_log import back_from
from shared.git.mirror import Mirror


async def entries(mirror: Mirror, *, whole: bool) -> list[Entry]:
    """Lines, oldest first; without `whole` only as many as the books need. Empty where there is no ledger."""
    found: list[Entry] = []
    is_last = ledger_lines.until_balanced()
    async for line in back_from(mirror, await mirror.sha(REF)):
        entry = ledger_lines.read(line.message)
        if entry is None:
            continue
        found.append(entry)
        if is_last(entry) and not whole:
            break
    return found[::-1]
