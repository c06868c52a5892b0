"""The output of a CLI, in pieces and in every bad shape: events are read, the rest is counted, nothing grows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.llm.cli.stream import LINE_CAP, TAIL_LINE_CHARS, TAIL_LINES, Event, JsonLines, Tail, log_file, plain


def read(*chunks: bytes, cap: int = 10_000) -> tuple[list[Event], JsonLines]:
    """Return the events in these pieces, and their reader."""
    events: list[Event] = []
    lines = JsonLines(events.append, cap=cap)
    for chunk in chunks:
        lines.feed(chunk)
    lines.close()
    return events, lines


def noise(lines: JsonLines) -> int:
    """Return the number of kept lines that are no events."""
    return len(lines.tail.text.splitlines())


@pytest.mark.parametrize(
    ("raw", "events", "skipped"),
    [
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}], 0),
        (b'{"a":1}\r\n\n  {"b":2}', [{"a": 1}, {"b": 2}], 0),
        (b'{"a":"\xff\xfe"}\n', [{"a": "\ufffd\ufffd"}], 0),
        (b'\x1b[32m{"a":1}\x1b[0m\n', [{"a": 1}], 0),
        (b'Warning: x\n{"a":1}\n', [{"a": 1}], 1),
        (b'{"a":1}\n{"half": ', [{"a": 1}], 1),
        (b'[1]\n"x"\nnull\n', [], 3),
        (b"{" + b'"a":{' * 200_000, [], 1),
        (b"", [], 0),
    ],
)
def test_lines_become_events_and_the_rest_is_kept_as_noise(raw: bytes, events: list[Event], skipped: int) -> None:
    found, lines = read(raw, cap=10**7)
    assert (found, noise(lines)) == (events, skipped)


@given(st.lists(st.integers(1, 9), max_size=8))
def test_where_the_pieces_are_cut_makes_no_difference(cuts: list[int]) -> None:
    raw = '{"a": "ä€"}\nnoise\n{"b": 2}'.encode()
    chunks, at = [], 0
    for cut in cuts:
        chunks.append(raw[at : at + cut])
        at += cut
    assert read(*chunks, raw[at:])[0] == [{"a": "ä€"}, {"b": 2}]


@pytest.mark.fault(25)
def test_a_line_beyond_the_cap_is_dropped_whole_and_the_next_is_read() -> None:
    events, lines = read(b'{"a":"', b"x" * 60, b"x" * 60, b'"}\n{"b":2}\n', cap=100)
    assert (events, noise(lines)) == ([{"b": 2}], 1)
    assert "more than 100 bytes" in lines.tail.text


@pytest.mark.fault(25)
def test_of_noise_only_the_last_words_are_kept() -> None:
    tail = Tail()
    for number in range(1000):
        tail.feed(f"{number} {'x' * 2000}\n".encode())
    tail.feed(b"\x1b[31mthe end")
    words = tail.text.splitlines()
    assert (len(words), words[-1]) == (TAIL_LINES + 1, "the end")
    assert words[0].startswith(f"{1000 - TAIL_LINES} ")
    assert max(map(len, words)) == TAIL_LINE_CHARS


def test_a_line_of_45_mib_is_dropped_before_it_is_parsed() -> None:
    events: list[Event] = []
    lines = JsonLines(events.append)
    piece, most = b'{"type": "result", "x": [' + b"0," * 2**15, 0
    for _ in range(45 * 2**20 // len(piece)):
        lines.feed(piece)
        most = max(most, sum(map(len, lines._parts)))
    lines.feed(b'0]}\n{"b":2}\n')
    assert events == [{"b": 2}]
    assert noise(lines) == 1
    assert most <= LINE_CAP == 4 * 2**20


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9" * 5000])
def test_numbers_that_nobody_can_reckon_with_make_no_event(value: bytes) -> None:
    events, lines = read(b'{"type": "result", "total_cost_usd": ' + value + b"}\n")
    assert (events, noise(lines)) == ([], 1)


def test_the_file_takes_no_more_than_its_cap_and_is_ours_alone(tmp_path: Path) -> None:
    place = tmp_path / "log"
    with log_file(place, cap=10) as log:
        for _ in range(3):
            log(b"123456")
    assert place.read_bytes() == b"1234561234"
    assert place.stat().st_mode & 0o777 == 0o600


def test_escape_sequences_of_terminals_are_taken_out() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\x1b(B") == "red text"
