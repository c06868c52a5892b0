"""The long description of the package: README.md with links that lead somewhere outside of a checkout too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def long_description(readme: str, source: str) -> str:
    """`readme` with each relative link below `source`, the address of the repository; what is folded stays so."""
    return re.sub(r"\]\((?![a-z]+:|#)([^)\s]+)\)", lambda link: f"]({source}/blob/main/{link[1]})", readme)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        long_description=long_description((ROOT / "README.md").read_text(encoding="utf-8"), project["urls"]["Source"]),
        long_description_content_type="text/markdown",
    )
