"""Images of issues: only GitHub's own addresses are asked, without the token, and only images come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from github_script import Plan, scripted

from shared.github.attachments import LARGEST_BYTES, MOST_HOPS, Attachments, NotFetched
from shared.github.transport import Response

PNG = b"\x89PNG\r\n\x1a\n and more"
NAME = "0f3c2f6e-2a54-4c1b-9d7b-0a4a7d2f6c11"
PATH = f"/user-attachments/assets/{NAME}"
ADDRESS = f"https://github.com{PATH}"
STORED = "https://github-production-user-asset-6210df.s3.amazonaws.com/1/2.png?X-Amz-Signature=1"


class GitHubCom:
    """github.com's pages, as far as a test says; what is asked of them."""

    site = "https://github.com"

    def __init__(self, pages: Mapping[str, Response]) -> None:
        self._pages = pages
        self.asked: list[str] = []

    async def get_elsewhere(self, url: str, most_bytes: int) -> Response:
        self.asked.append(url)
        return self._pages[url]


def led(location: str) -> Response:
    return Response(302, {"location": location}, b"")


async def test_an_image_is_read_where_github_sends_a_browser_and_without_the_token() -> None:
    async with scripted(
        Plan(302, raw=b"", headers={"Location": "ROOT/storage/1?sig=2"}, type="text/html"),
        Plan(raw=PNG, type="image/svg+xml"),
    ) as (github, script):
        attachments = Attachments(github)
        image = await attachments.image(f"{github.site}{PATH}")
    assert (image.kind, image.content) == ("png", PNG), "the kind is that of the bytes"
    assert script.calls == [f"GET {PATH}", "GET /storage/1?sig=2"]
    assert not any({"authorization", "cookie"} & set(one.headers) for one in script.asked)


@pytest.mark.parametrize(
    ("first", "kind"),
    [(b"\xff\xd8\xff\xe0", "jpeg"), (b"GIF89a", "gif"), (b"GIF87a", "gif"), (b"RIFF\n\0\r\nWEBPVP8 ", "webp")],
)
async def test_four_kinds_are_known_by_their_first_bytes(first: bytes, kind: str) -> None:
    image = await Attachments(GitHubCom({ADDRESS: Response(200, {}, first)})).image(ADDRESS)
    assert image.kind == kind


@pytest.mark.parametrize(
    ("plans", "why"),
    [
        ((Plan(404, raw=b"no"),), "answered 404"),
        ((Plan(500, raw=b"no"),), "answered 500"),
        ((Plan(raw=b"<svg onload='x'/>", type="image/png"),), "no PNG"),
        ((Plan(raw=b""),), "no PNG"),
        ((Plan(raw=PNG + b"x" * LARGEST_BYTES),), "larger than 5 MiB"),
        ((Plan(drop=True),), "broke"),
        ((Plan(302, raw=b"", headers={"Location": PATH}),) * (MOST_HOPS + 1), "without end"),
        ((Plan(302, raw=b""),) * (MOST_HOPS + 1), "another server"),
        ((Plan(302, raw=b"", headers={"Location": "http://[::1/x"}),), "another server"),
    ],
)
async def test_what_cannot_be_had_is_said_and_nothing_else_is_asked(plans: Sequence[Plan], why: str) -> None:
    async with scripted(*plans) as (github, script):
        with pytest.raises(NotFetched, match=why):
            await Attachments(github).image(f"{github.site}{PATH}")
        script.plans.clear()
    assert set(script.calls) == {f"GET {PATH}"}


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/",
        "http://127.0.0.1:8080/",
        "https://localhost/",
        "http://github.com/storage",
        "https://github.com.evil.example/",
        "https://github.com@evil.example/",
        "https://github.com:8443/",
        "https://user@private-user-images.githubusercontent.com/1",
        "//evil.example/x",
        "file:///etc/passwd",
        "https://private-user-images.githubusercontent.com.evil.example/",
        "https://private-user-images.githubusercontent.com/a b",
        "https://private-user-images.githubusercontent.com/\r\nHost: evil.example",
    ],
)
async def test_no_redirection_leads_off_github(location: str) -> None:
    web = GitHubCom({ADDRESS: led(location)})
    with pytest.raises(NotFetched, match="another server"):
        await Attachments(web).image(ADDRESS)
    assert web.asked == [ADDRESS]


async def test_the_storage_of_github_is_followed() -> None:
    web = GitHubCom({ADDRESS: led(STORED), STORED: Response(200, {}, PNG)})
    assert (await Attachments(web).image(ADDRESS)).content == PNG
    assert web.asked == [ADDRESS, STORED]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://127.0.0.1/x.png",
        f"http://github.com{PATH}",
        f"https://github.com:443{PATH}",
        f"https://x@github.com{PATH}",
        f"https://github.com.evil.example{PATH}",
        f"{ADDRESS}/../../../login",
        f"{ADDRESS}?next=https://evil.example",
        f"{ADDRESS}\n",
        "https://github.com/user-attachments/files/1/log.txt",
        "https://github.com/user-attachments/assets/",
        "https://github.com/o/r/raw/main/x.png",
        "https://user-images.githubusercontent.com/../1/x.png",
        "https://user-images.githubusercontent.com/1/x.png?y",
        "https://private-user-images.githubusercontent.com/1/x.png",
    ],
)
async def test_any_other_address_is_never_asked(address: str) -> None:
    web = GitHubCom({})
    attachments = Attachments(web)
    assert not attachments.covers(address)
    with pytest.raises(NotFetched, match="no attachment"):
        await attachments.image(address)
    assert web.asked == []


def test_the_two_kinds_of_addresses_of_github_are_covered() -> None:
    attachments = Attachments(GitHubCom({}))
    assert attachments.covers(ADDRESS)
    assert attachments.covers("https://user-images.githubusercontent.com/583231/1234-ab.png")
