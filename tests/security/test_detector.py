"""The detector sees what it is there for: every secret in every form, packed in every way, and nothing else."""

from __future__ import annotations

import random
import string

import pytest

from security.detector import FORMS, PACKED, Detector

TOKEN, KEY = "github_pat_c4n4ryOfTheToken0123456789", "sk-ant-api03-c4n4ryOfTheModel_0123456789"
DETECTOR = Detector({"token": TOKEN, "model key": KEY})


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_wherever_it_stands(form: str) -> None:
    for before in (b"", b"a", b"ab"):
        found = DETECTOR.found(before + FORMS[form](KEY.encode()) + b" and more")
        assert f"model key ({form})" in found
        assert not [name for name in found if name.startswith("token")]


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("form", ["plain", "reversed", "hex", "base64 at offset 1"])
def test_every_form_is_found_in_every_packing(packing: str, form: str) -> None:
    assert f"token ({form})" in DETECTOR.found(PACKED[packing](b"It is: " + FORMS[form](TOKEN.encode())))


def test_nothing_is_found_where_nothing_is() -> None:
    chance = random.Random(7)
    letters = string.ascii_letters + string.digits + "+/=\n"
    text = "".join(chance.choices(letters, k=200_000)).encode() + chance.randbytes(200_000)
    assert DETECTOR.found(text) == frozenset()
    assert DETECTOR.found(b"***") == frozenset()
