"""Images of an issue that a coder is shown, the text about them, and those that are never fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from shared.commands.discussion import NOTHING_SAID, Discussion
from shared.git.capture import ISSUE_IMAGES
from shared.github.attachments import Image, NotFetched
from shared.models import Account, Comment, Issue
from worker_agent.attached_images import (
    AGAIN_SECONDS,
    MOST,
    MOST_ISSUES,
    AttachedImages,
    ImageFetcher,
    images,
    none_shown,
)

THEN = datetime(2026, 1, 1, tzinfo=UTC)
ADA, MALLORY = Account(1, "ada"), Account(2, "mallory")


def issue(body: str, author: Account = ADA) -> Issue:
    return Issue(1, "Title", body, frozenset(), author, THEN, THEN)


def said(*bodies: str) -> Discussion:
    return Discussion(tuple(Comment(n, 1, ADA, body, THEN, THEN) for n, body in enumerate(bodies, start=1)))


def shown(*addresses: str) -> str:
    return "\n".join(f"![]({address})" for address in addresses)


class Site:
    """Attachments have addresses that begin with `ours:`; time passes when a test says so."""

    def __init__(self, *gone: str) -> None:
        self.gone = set(gone)
        self.asked: list[str] = []
        self.time = 0.0

    def covers(self, address: str) -> bool:
        return address.startswith("ours:")

    async def image(self, address: str) -> Image:
        self.asked.append(address)
        if address in self.gone:
            raise NotFetched("it is gone")
        return Image("png", address.encode())

    async def why_not(self, account: Account) -> str:
        return "" if account == ADA else "no write access"

    def boot(self) -> float:
        return self.time

    def image_fetcher(self) -> ImageFetcher:
        return ImageFetcher(self, self, self.boot)


async def of(
    image_fetcher: ImageFetcher, one: Issue, store: Path, talk: Discussion = NOTHING_SAID, paths: Sequence[str] = ()
) -> AttachedImages:
    return await image_fetcher.of(one, talk, store, paths)


def test_addresses_are_read_from_every_spelling_and_not_from_code() -> None:
    text = (
        '![a](u1 "title") ![b](<u2>) ![c][ref] <img width=1 src="u3" alt=x> <IMG src=\'u4\'/> <img>\n```\n![](no)\n```'
    )
    assert images(text) == ("u1", "u2", "", "u3", "u4", "")


async def test_images_become_files_in_the_tree_that_the_prompt_names(tmp_path: Path) -> None:
    site = Site()
    found = await of(site.image_fetcher(), issue(shown("ours:1", "ours:2", "ours:1")), tmp_path, said(shown("ours:3")))
    assert found.names == tuple(f"{ISSUE_IMAGES}/{order}.png" for order in (1, 2, 3))
    assert f"- `{ISSUE_IMAGES}/3.png`: ours:3" in found.text()
    assert "not shown" not in found.text()
    tree = tmp_path / "tree"
    tree.mkdir()
    files = await found.lay(tree)
    assert [file.read_bytes() for file in files] == [b"ours:1", b"ours:2", b"ours:3"]
    assert [str(file.relative_to(tree)) for file in files] == list(found.names)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o644}, "another account reads them"


async def test_each_image_is_fetched_once_and_one_that_failed_after_a_while(tmp_path: Path) -> None:
    site = Site("ours:2")
    image_fetcher, one = site.image_fetcher(), issue(shown("ours:1", "ours:2"))
    assert image_fetcher.without(one) == 0, "nothing is said to be unseen before it was tried"
    for _ in range(2):
        found = await of(image_fetcher, one, tmp_path)
        assert (len(found.shown), found.unseen, image_fetcher.without(one)) == (1, 1, 1)
    assert site.asked == ["ours:1", "ours:2"]
    assert "An image of this text is not shown to you" in found.text()
    site.gone, site.time = set(), AGAIN_SECONDS + 1
    found = await of(image_fetcher, one, tmp_path)
    assert (len(found.shown), found.unseen, image_fetcher.without(one)) == (2, 0, 0)
    again = Site()
    assert (await of(again.image_fetcher(), one, tmp_path)).unseen == 0
    assert again.asked == [], "what lies there needs nothing after a restart"


async def test_the_text_of_an_issue_of_long_ago_is_forgotten_and_read_again(tmp_path: Path) -> None:
    site = Site("ours:1")
    image_fetcher = site.image_fetcher()
    old, *others = (replace(issue(shown("ours:1")), number=number) for number in range(MOST_ISSUES + 1))
    assert (await of(image_fetcher, old, tmp_path)).unseen == image_fetcher.without(old) == 1
    for one in others:
        await of(image_fetcher, one, tmp_path)
    assert image_fetcher.without(old) == 0
    assert (await of(image_fetcher, old, tmp_path)).unseen == image_fetcher.without(old) == 1


async def test_nothing_is_fetched_for_a_stranger_or_from_elsewhere(tmp_path: Path) -> None:
    site = Site()
    image_fetcher, strange = site.image_fetcher(), issue(shown("ours:1"), MALLORY)
    found = await of(image_fetcher, strange, tmp_path, said(shown("ours:2", "http://127.0.0.1/x")))
    assert (site.asked, found.unseen, image_fetcher.without(strange)) == (["ours:2"], 2, 1)
    elsewhere = issue(shown("http://127.0.0.1/y"))
    assert image_fetcher.without(elsewhere) == 1, "known before anything is tried"
    assert (await of(image_fetcher, elsewhere, tmp_path)).unseen == 1
    assert site.asked == ["ours:2"]


async def test_there_is_a_most(tmp_path: Path) -> None:
    site = Site()
    found = await of(site.image_fetcher(), issue(shown(*(f"ours:{n}" for n in range(MOST + 3)))), tmp_path)
    assert (len(site.asked), len(found.shown), found.unseen) == (MOST, MOST, 3)


async def test_what_the_repository_has_in_the_place_stays(tmp_path: Path) -> None:
    site = Site()
    taken = await of(site.image_fetcher(), issue(shown("ours:1")), tmp_path, paths=[f"{ISSUE_IMAGES}/own.png"])
    assert (taken.shown, taken.unseen, site.asked) == ((), 1, [])
    found = await of(site.image_fetcher(), issue(shown("ours:1")), tmp_path)
    for place in (tmp_path / "linked", tmp_path / "filled"):
        place.mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "linked" / ISSUE_IMAGES).symlink_to(tmp_path / "target")
    (tmp_path / "filled" / ISSUE_IMAGES).mkdir()
    assert await found.lay(tmp_path / "linked") == ()
    assert await found.lay(tmp_path / "filled") == ()
    assert list((tmp_path / "target").iterdir()) == []


def test_where_nobody_fetches_images_all_are_unseen() -> None:
    assert none_shown(issue(shown("ours:1")), said(shown("ours:2"))).unseen == 2
    assert replace(AttachedImages(), unseen=2).text().startswith("(2 images of this text are not shown")
