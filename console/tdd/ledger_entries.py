"""The ledger of a task, as it stands in the bare repository of its own GitHub."""

from __future__ import annotations

from lab.github.repositories.bare import Bare
from shared.governance import ledger_lines
from shared.governance.ledger import REF
from shared.governance.ledger_lines import Entry


async def entries(bare: Bare) -> list[Entry]:
    """The lines of the ledger, oldest first; none where nobody has paid for anything."""
    if await bare.sha(REF) is None:
        return []
    shown = await bare.git.check("log", "--reverse", "--format=%B%x00", REF)
    found = (ledger_lines.read(message.strip()) for message in shown.text.split("\0"))
    return [entry for entry in found if entry is not None]
