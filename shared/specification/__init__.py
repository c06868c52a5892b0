"""The specification issue: the work to be done, read from and written to an issue's body.

A body that a person wrote is as good as one that the planner wrote; only `authentic` tells them
apart. The format is in `docs/specifications.md`.
"""

from shared.specification.kind import Size, SpecificationKind
from shared.specification.layout import body_sha256, plain_title
from shared.specification.model import BODY_LIMIT, Criterion, Settings, Specification, Trailer, files_of
from shared.specification.reading import read, touched
from shared.specification.writing import LINKED, Provenance, TooLong, authentic, content, tick, write

__all__ = [
    "BODY_LIMIT",
    "LINKED",
    "Criterion",
    "Provenance",
    "Settings",
    "Size",
    "Specification",
    "SpecificationKind",
    "TooLong",
    "Trailer",
    "authentic",
    "body_sha256",
    "content",
    "files_of",
    "plain_title",
    "read",
    "tick",
    "touched",
    "write",
]
