"""Links to the documentation for people without a checkout: absolute, below the address that the package names."""

from __future__ import annotations

import re

_PACKAGE = "workflow-engine"
_PATH = re.compile(r"\b(?:docs|config)/[\w./-]+\.(?:md|example)\b(?:#[\w-]+)?")
"""Paths by which texts of the engine name a page or a file that people read."""


def link(path: str) -> str:
    """The address of a file of the tree, such as `docs/security.md#sandbox-modes`; where nothing is installed `path`.

    It begins with the `Source` of `pyproject.toml`, as the links of the package's own description do.
    """
    from importlib.metadata import PackageNotFoundError, metadata  # loaded only by who has to be told

    try:
        urls = metadata(_PACKAGE).get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a checkout, where the path leads to the file
        return path
    known = dict(one.split(", ", 1) for one in urls)
    return f"{known['Source']}/blob/main/{path}"


def linked(text: str) -> str:
    """`text` with each page that it names by its path replaced by the page's address."""
    return _PATH.sub(lambda found: link(found[0]), text)
