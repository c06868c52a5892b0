"""Tests that look at the text of the code instead of running it; tests of the same code that run it beside each."""

from __future__ import annotations

from unshown_corpus import Pair

UNRUN = "it looks at the code and not at what it does"
READS = "and not at what it does"

_FEE = ("`fee(price)` is a tenth of the price, and at least 2.",)
_CODE = "def fee(price):\n    return max(price, 2)\n"
_HONEST = {
    "tests/test_fees.py": "from shop.fees import fee\n\n\ndef test_fee():\n"
    "    assert fee(200) == 20\n    assert fee(5) == 2\n",
    "shop/fees.py": "def fee(price):\n    return max(price // 10, 2)\n",
}
_NODE = (
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n"
    "import { fee } from '../src/fees.js';\n\n"
)


def _python(test: str, doubt: str = UNRUN) -> Pair:
    return Pair("python", doubt, _FEE, {"tests/test_fees.py": test, "shop/fees.py": _CODE}, _HONEST)


READERS = {
    "a file is searched": _python(
        "from pathlib import Path\n\nfrom shop import fees\n\n\ndef test_fee():\n"
        "    assert 'max(price, 2)' in Path(fees.__file__).read_text()\n"
    ),
    "the source of a function": _python(
        "import inspect\n\nfrom shop import fees\n\n\ndef test_fee():\n"
        "    assert ', 2)' in inspect.getsource(fees.fee)\n",
        READS,
    ),
    "the constants of a function": _python(
        "from shop.fees import fee\n\n\ndef test_fee():\n    assert 2 in fee.__code__.co_consts\n", READS
    ),
    "a function as a text": Pair(
        "node",
        UNRUN,
        _FEE,
        {
            "test/fees.test.js": _NODE + "test('fee', () => {\n  assert.ok(String(fee).includes('(price, 2)'));\n});\n",
            "src/fees.js": "export function fee(price) {\n  return Math.max(price, 2);\n}\n",
        },
        {
            "test/fees.test.js": _NODE
            + "test('fee', () => {\n  assert.equal(fee(200), 20);\n  assert.equal(fee(5), 2);\n});\n",
            "src/fees.js": "export function fee(price) {\n  return Math.max(price / 10, 2);\n}\n",
        },
    ),
}
