"""The dashboard in a real Chromium: how it looks, what axe-core finds, and that the keyboard alone suffices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import page_scene
import pytest
from page_scene import BOARDS, NAME, Scene, chromium, dashboard
from playwright.async_api import Page, expect

from console.orders import Order
from shared.commands.command import Verb

ROOT = Path(__file__).parents[2]

AXE = ROOT / ".tools" / "axe" / "node_modules" / "axe-core" / "axe.min.js"

SERIOUS = {"serious", "critical"}

LOOKS = [
    pytest.param(items, width, scheme, id=f"{items}-{width}-{scheme}")
    for items in sorted(BOARDS)
    for width in (1280, 375)
    for scheme in ("light", "dark")
]


@asynccontextmanager
async def opened(scene: Scene, address: str = "", *, width: int = 1280, scheme: str = "light") -> AsyncIterator[Page]:
    """Yield a tab that has shown the page; complaints of its console fail the test."""
    complaints: list[str] = []
    async with chromium() as browser:
        tab: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        page = await (await browser.new_context(bypass_csp=False, reduced_motion="reduce", **tab)).new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(address or scene.opened)
        await page.locator("#filters").wait_for()
        yield page
    assert [one for one in complaints if "409" not in one] == [], "an order that is refused is said in the page, too"


@pytest.mark.parametrize(("items", "width", "scheme"), LOOKS)
async def test_it_fits_is_whole_and_axe_finds_no_serious_fault(
    items: int, width: int, scheme: str, tmp_path: Path
) -> None:
    async with dashboard(BOARDS[items]) as scene, opened(scene, width=width, scheme=scheme) as page:
        await page.screenshot(path=tmp_path / f"dashboard-{items}-{width}-{scheme}.png", full_page=True)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, "nothing is wider than the screen"
        cut = "one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'"
        wide = await page.locator("article, .card, td, tbody th, .figures li, .events li").evaluate_all(
            f"all => all.filter({cut}).map(one => one.outerHTML)"
        )
        assert wide == [], "nothing is cut"
        for row in BOARDS[items].rows:
            assert await page.get_by_text(f"#{row.number}", exact=True).count() > 0
        assert await faults(page) == []


async def faults(page: Page) -> list[str]:
    """Return axe-core's serious or critical findings; a policy keeps its script out of the page: it is evaluated."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make test-page")
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert found["passes"], "axe has looked"
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"] if one["impact"] in SERIOUS]


async def test_axe_finds_what_is_planted() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene) as page:
        await page.evaluate("document.querySelector('#filter-text').parentElement.replaceWith('x')")
        await page.evaluate("document.querySelector('main').append(document.createElement('button'))")
        assert [one.partition(":")[0] for one in await faults(page)] == ["button-name"]


async def test_an_order_by_the_keyboard_alone_is_asked_about_and_sent_once() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene) as page:
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to what waits for you")).to_be_focused()
        await page.keyboard.press("Enter")
        button = page.get_by_role("button", name="Approve")
        for _ in range(12):
            await page.keyboard.press("Tab")
            if await button.evaluate("one => one === document.activeElement"):
                break
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_contain_text("Story #1")
        await expect(page.get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(button).to_be_focused()
        assert scene.ordered == [], "it was only asked"
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.locator("#outcome-text")).to_have_text(f"{NAME}#1: done. The next free agent goes on.")
    assert scene.ordered == [(NAME, Order(Verb.APPROVE, 1, place="on the dashboard"))]


async def test_without_the_token_there_is_nothing_to_press() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene, scene.address) as page:
        await expect(page.get_by_text("Read only: open the address that the terminal shows")).to_be_visible()
        assert await page.locator("button.order").count() > 0
        assert await page.get_by_role("button", name="Approve").count() == 0


async def test_the_token_leaves_the_address_and_lasts_for_the_tab() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene) as page:
        assert page.url == scene.address
        await page.reload()
        await expect(page.get_by_role("button", name="Approve")).to_be_visible()


async def test_an_order_about_what_has_changed_is_refused_in_a_sentence() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene) as page:
        await page.get_by_role("button", name="Approve").click()
        moved = replace(BOARDS[5].rows[0], moved_at=page_scene.NOW)
        scene.looks.board = replace(BOARDS[5], rows=(moved, *BOARDS[5].rows[1:]))
        scene.feed.outdate()
        await page.get_by_role("dialog").get_by_role("button", name="Approve").click()
        await expect(page.locator("#outcome-text")).to_contain_text("#1 has moved since")
    assert scene.ordered == []


async def test_the_page_follows_without_being_loaded_again_and_focus_stays() -> None:
    async with dashboard(BOARDS[5]) as scene, opened(scene) as page:
        await page.evaluate("window.here = true")
        link = page.get_by_role("link", name=page_scene.TITLES[0]).first
        await link.focus()
        scene.show(replace(BOARDS[60], rows=(*BOARDS[60].rows, *BOARDS[5].rows[2:])))
        await expect(page.locator("#mine .card")).to_have_count(24)
        assert (await page.title()).startswith("(24)")
        assert await page.evaluate("window.here"), "it was not loaded again"
        await expect(page.locator("a:focus")).to_have_attribute("href", f"https://github.com/{NAME}/issues/7")


async def test_filters_choose_count_and_stand_in_the_address() -> None:
    async with dashboard(BOARDS[60]) as scene, opened(scene) as page:
        await page.get_by_role("searchbox").fill("csv")
        await page.get_by_label("State").select_option("Waiting for you")
        await expect(page.locator("#filter-result")).to_contain_text("of 63 shown")
        shown = page.locator(".card:visible")
        assert await shown.count() == 4
        await expect(page.locator("#mine-title .count")).to_have_text("4")
        assert page.url.endswith("?text=csv&state=person")
        await page.reload()
        await expect(page.locator(".card:visible")).to_have_count(4)
        await page.get_by_role("button", name="Clear filters").click()
        await expect(page.locator(".card:visible")).to_have_count(63)
        await expect(page.get_by_role("searchbox")).to_be_focused()
        everything = await page.locator("#mine-title .count").text_content()
        assert everything != "4"
        await page.get_by_role("searchbox").fill("no such words")
        await expect(page.locator("#filter-result")).to_have_text("Nothing fits: 0 of 63 shown")
        number = await page.locator(".card .number").first.text_content()
        assert number is not None
        await page.get_by_role("searchbox").fill(number.strip())
        await expect(page.locator(".card:visible")).to_have_count(1)


async def test_a_lost_connection_is_said() -> None:
    async with chromium() as browser:
        page = await browser.new_page()
        async with dashboard(BOARDS[5]) as scene:
            await page.goto(scene.opened)
            await expect(page.locator("#connection")).to_contain_text("Looked at 08:30:12 UTC")
        await expect(page.get_by_role("alert")).to_contain_text("No connection to the engine")
