"""`python -m config`: rewrites every file that holds text printed from the model or the states."""

from __future__ import annotations

import sys
from pathlib import Path

from config.documentation import generated

ROOT = Path(__file__).resolve().parent.parent


def main(root: Path = ROOT) -> int:
    """Write what differs and name it."""
    for file, text in generated(root).items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {file.relative_to(root)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
