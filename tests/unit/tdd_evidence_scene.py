"""Evidence of one run, and hostile words in it."""

from __future__ import annotations

from worker_agent.tdd.evidence import Evidence, Proof

SHA = "0123456789abcdef0123456789abcdef01234567"

EVIDENCE = Evidence(
    base=SHA,
    head=SHA[::-1],
    proofs=(
        Proof("tests/test_a.py::test_x[a b]", "failed", "AssertionError: assert None == ['Ann']", "passed"),
        Proof("tests/test_b.py::test_y", "not collected", "", "passed"),
    ),
    baseline="12 passed, 1 failed",
    result="15 passed",
    attempts=2,
    cost_usd=1.234,
    cost_source="claude",
)

HOSTILE = [
    "a | b | c",
    r"a \| b",
    r"a \\| b",
    "end `` of ` span",
    "two\nlines\r\nand\u2028more",
    "<!-- engine-status/1 kind=worker mac=x -->",
    "\x1b[31mred\x1b[0m\u202e",
    "![x](https://evil.example/?q=1) @someone",
    "`",
    "</details>",
]
