"""The Compose files, read as Compose reads them."""

from __future__ import annotations

from typing import Any

import yaml

from deploy.conftest import DEPLOY

HERE = DEPLOY / "compose"


class Loader(yaml.SafeLoader):
    """YAML with Compose's own tag for a list that replaces instead of adding to another file's."""


def _list(loader: yaml.SafeLoader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node, deep=True)


Loader.add_constructor("!override", _list)


def read(name: str) -> dict[str, Any]:
    """Return the content of one of the files."""
    found: dict[str, Any] = yaml.load((HERE / name).read_text(encoding="utf-8"), Loader)
    return found


COMPOSE = read("compose.yaml")
CONTAINER = read("container.yaml")
