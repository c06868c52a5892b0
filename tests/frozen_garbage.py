"""The garbage collector of a test run: what stands once all tests are collected is never looked through again.

Afterwards it looks more seldom than usual, as tests make much that goes by itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

OBJECTS = 10_000
"""New objects after which the collector looks; Python's own 700 take 3 % of the processor time of the tests."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect the tests without looking for garbage, of which there is little, and keep what stands for the whole run.

    Thirteen thousand tests and their modules are millions of objects: each look through them takes half a second, and
    a run took some forty of them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS)
        gc.enable()
