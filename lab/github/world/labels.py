"""The labels that a repository defines; names are compared without case."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lab.github.http.refusals import custom, invalid, not_found
from lab.github.world.records import Numbering

UNKNOWN_COLOR = "ededed"
"""The colour of a label that came into being by being added to an issue."""

MAX_DESCRIPTION = 100
"""Characters that the description of a label may have."""

_COLOR = re.compile(r"[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """One label definition."""

    id: int
    name: str
    color: str = UNKNOWN_COLOR
    description: str | None = None


class LabelBook:
    """Every label of one repository."""

    def __init__(self, registrar: Numbering) -> None:
        self._registrar = registrar
        self._labels: dict[str, LabelRecord] = {}

    def values(self) -> list[LabelRecord]:
        """All labels by name."""
        return sorted(self._labels.values(), key=lambda label: label.name.lower())

    def find(self, name: str) -> LabelRecord | None:
        """The label of that name, or None."""
        return self._labels.get(name.lower())

    def require(self, name: str) -> LabelRecord:
        """The label of that name, or 404."""
        label = self.find(name)
        if label is None:
            raise not_found()
        return label

    def ensure(self, name: str) -> LabelRecord:
        """The label of that name, created if it does not exist."""
        return self.find(name) or self.create(name, UNKNOWN_COLOR, None)

    def create(self, name: str, color: str, description: str | None) -> LabelRecord:
        """A new label; 422 when the name is taken, the colour is none or the description is too long."""
        if not name or len(name) > 50:
            raise invalid("Label", "name")
        if _COLOR.fullmatch(color) is None:
            raise invalid("Label", "color")
        _check_description(description)
        if self.find(name) is not None:
            raise invalid("Label", "name", "already_exists")
        return self.load(LabelRecord(self._registrar.new_id(), name, color.lower(), description))

    def load(self, label: LabelRecord) -> LabelRecord:
        """Put a ready record into the book."""
        self._labels[label.name.lower()] = label
        return label

    def change(self, name: str, new_name: str | None, color: str | None, description: str | None) -> LabelRecord:
        """Rename, recolour or redescribe a label; None leaves as it is."""
        old = self.require(name)
        if color is not None and _COLOR.fullmatch(color) is None:
            raise invalid("Label", "color")
        _check_description(description)
        if new_name is not None and new_name.lower() != old.name.lower() and self.find(new_name) is not None:
            raise invalid("Label", "name", "already_exists")
        del self._labels[old.name.lower()]
        return self.load(
            replace(
                old,
                name=new_name or old.name,
                color=(color or old.color).lower(),
                description=old.description if description is None else description,
            )
        )

    def remove(self, name: str) -> LabelRecord:
        """Take a definition away; 404 when there is none."""
        label = self.require(name)
        del self._labels[label.name.lower()]
        return label


def _check_description(text: str | None) -> None:
    if text is not None and len(text) > MAX_DESCRIPTION:
        message = f"description is too long (maximum is {MAX_DESCRIPTION} characters)"
        raise custom("Label", message, "description")
