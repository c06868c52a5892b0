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


_RATE = (
    "def rate(percent):\n    return 1 - percent / {}\n\n\n"
    "def cut(amount, percent):\n    return amount * rate(percent)\n"
)
_PACK = (
    "def pack(words):\n    return ','.join(words)\n\n\ndef unpack(text):\n    return text.split(',')\n\n\n"
    "def count(text):\n    return len(unpack(text))\n"
)

READERS = {
    "the code says what is expected": Pair(
        "python",
        "no test that the change concerns fails when it returns another value of the same type",
        ("`cut(amount, percent)` is the amount less that percentage.",),
        {
            "tests/test_cut.py": "from shop.cut import cut, rate\n\n\ndef test_cut():\n"
            "    assert cut(100, 10) == 100 * rate(10)\n    assert cut(50, 40) == 50 * rate(40)\n",
            "shop/cut.py": _RATE.format(1000),
        },
        {
            "tests/test_cut.py": "from shop.cut import cut\n\n\ndef test_cut():\n"
            "    assert cut(100, 10) == 90\n    assert cut(50, 40) == 30\n",
            "shop/cut.py": _RATE.format(100),
        },
    ),
    "a test that unpacks nothing": Pair(
        "python",
        "it is new, and no test that the change concerns fails when it",
        ("`pack(words)` is a text that `unpack` makes words of again.",),
        {
            "tests/test_packs.py": "from shop.packs import pack, unpack\n\n\ndef test_pack():\n"
            "    assert pack(['a', 'b']) == pack(unpack('a,b'))\n",
            "shop/packs.py": "def pack(words):\n    return str(len(words))\n\n\n"
            "def unpack(text):\n    return ['', text[1:]]\n",
        },
        {
            "tests/test_packs.py": "from shop.packs import count, pack, unpack\n\n\ndef test_pack():\n"
            "    assert unpack(pack(['a', 'b'])) == ['a', 'b']\n    assert count(pack(['a', 'b', 'c'])) == 3\n",
            "shop/packs.py": _PACK,
        },
    ),
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
