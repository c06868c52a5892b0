"""`python -m lab.messages`: write `docs/messages.md`."""

from __future__ import annotations

from pathlib import Path

from lab.messages.page import page

PAGE = Path(__file__).parents[2] / "docs" / "messages.md"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
