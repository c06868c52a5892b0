"""The conditional cache: bounded, keyed by URL and Accept, decoded for each reader."""

from __future__ import annotations

import json
from dataclasses import replace

from shared.github.cache import Cache, CachedAnswer


def test_the_same_url_in_another_form_is_another_entry() -> None:
    cache = Cache()
    cache.keep("/x", "json", CachedAnswer('"a"', b"[1]", "/x?page=2"))
    assert cache.find("/x", "diff") is None
    found = cache.find("/x", "json")
    assert found is not None
    assert (found.etag, found.next) == ('"a"', "/x?page=2")


def test_each_reader_gets_its_own_value() -> None:
    entry = CachedAnswer('"a"', b'{"labels": []}')
    entry.decode()["labels"].append("mine")
    assert entry.decode() == {"labels": []}
    assert CachedAnswer('"a"', b"").decode() is None


def test_the_least_recently_used_goes_first() -> None:
    cache = Cache(max_entries=2)
    for url in ("/a", "/b"):
        cache.keep(url, "json", CachedAnswer('"e"', b"[]"))
    cache.find("/a", "json")
    cache.keep("/c", "json", CachedAnswer('"e"', b"[]"))
    assert [cache.find(url, "json") is not None for url in ("/a", "/b", "/c")] == [True, False, True]


def test_bytes_are_bounded_and_counted() -> None:
    cache = Cache(max_bytes=100)
    for number in range(10):
        cache.keep(f"/{number}", "json", CachedAnswer('"e"', b"x" * 25))
    assert (len(cache), cache.size) == (4, 100)
    cache.keep("/9", "json", CachedAnswer('"f"', b"x" * 5))
    assert (len(cache), cache.size) == (4, 80)
    cache.forget("/9", "json")
    assert (len(cache), cache.size) == (3, 75)


def test_what_cannot_be_confirmed_or_is_too_large_is_not_kept() -> None:
    cache = Cache(max_bytes=100)
    cache.keep("/x", "json", CachedAnswer('"e"', b"[]"))
    cache.keep("/x", "json", CachedAnswer("", b"[]"))
    cache.keep("/y", "json", CachedAnswer('"e"', b"x" * 51))
    assert (len(cache), cache.size) == (0, 0)


def test_a_long_answer_is_kept_in_a_fraction_of_its_bytes_and_read_whole() -> None:
    comments = [{"id": number, "html_url": f"https://github.com/a/b/issues/{number}"} for number in range(100)]
    body = json.dumps(comments).encode()
    cache = Cache(max_bytes=len(body))
    cache.keep("/x", "json", CachedAnswer('"a"', body, "/x?page=2"))
    found = cache.find("/x", "json")
    assert found is not None
    assert cache.size == found.size < len(body) / 4
    assert (found.etag, found.next, found.decode()) == ('"a"', "/x?page=2", comments)
    cache.keep("/x", "json", replace(found, etag='"b"'))
    again = cache.find("/x", "json")
    assert again is not None
    assert again.decode() == comments, "a rotated ETag packs nothing twice"


def test_a_short_answer_is_kept_as_it_came() -> None:
    cache = Cache()
    cache.keep("/x", "json", entry := CachedAnswer('"a"', b"[" + b" " * 500 + b"]"))
    assert cache.find("/x", "json") is entry
