"""The ledger as a mirror has it: its lines, as far back as they are asked for."""

from __future__ import annotations

from shared.git.mirror import Mirror
from shared.governance import ledger_lines
from shared.governance.ledger import PAGE, REF
from shared.governance.ledger_lines import Balance, Entry, Reservation


async def entries(mirror: Mirror, *, whole: bool) -> list[Entry]:
    """Lines, oldest first; without `whole` only as many as the books need. Empty where there is no ledger."""
    found: list[Entry] = []
    balance: Balance | None = None
    start = await mirror.sha(REF)
    while start is not None:
        page = await mirror.log(start, PAGE)
        for line in page:
            entry = ledger_lines.read(line.message)
            if entry is None:
                continue
            found.append(entry)
            if balance is None and isinstance(entry, Reservation):
                balance = entry.balance
            if not whole and ledger_lines.enough(entry, balance):
                return found[::-1]
        start = page[-1].parents[0] if page and page[-1].parents else None
    return found[::-1]
