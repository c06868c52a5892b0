"""What every ring of tests shares: the directory of `judge.py` is importable because this file is here."""

from __future__ import annotations

import pytest

from judge import Judge


@pytest.fixture
def judge() -> Judge:
    """A judge that has seen nothing yet; let it observe a lab's exchanges."""
    return Judge()
