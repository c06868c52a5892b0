"""The pytest of the projects that tests work on: this repository's own, without its plugins, and soon at work."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
"""The project's pytest runs without this repository's plugins, as it would in its own environment."""

QUICK = Path(__file__).parent / "data" / "quick_start" / "pytest"
"""A program that is `python -m pytest`, but begins a third sooner: most of what a story takes are such starts."""

PYTEST = f"{shlex.quote(sys.executable)} {shlex.quote(str(QUICK))} -q"
"""The command for an environment that has no plugins."""

PYTEST_ALONE = f"{ALONE} {PYTEST}"
"""The command that stands for itself."""
