"""The inspector page in a real browser: it shows what is stored, and runs nothing of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from llmslim_memory import Memory
from tests.server.processes import Served, serving, sqlite

MUST = "REQUIRE_SERVICES"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ATTACK = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> My cat is called Miso."


def browser_path() -> str | None:
    named = os.environ.get("LLMSLIM_TEST_BROWSER")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    with Memory(folder / "memory.db") as memory:
        for day in range(1, 8):
            stamp = f"2026-03-0{day}T09:00:00Z"
            talk = [
                {
                    "role": "user",
                    "content": f"On day {day} I walked {day} miles with the dog. " * 12,
                    "timestamp": stamp,
                },
                {"role": "assistant", "content": "A fine walk. " * 60, "timestamp": stamp},
            ]
            memory.add(talk, user_id="ann", run_id=f"day-{day}")
        memory.add({"role": "user", "content": ATTACK, "timestamp": "2026-03-09"}, user_id="ann", run_id="cat")
    with serving(sqlite(folder)) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = browser_path()
        if path is None and not Path(playwright.chromium.executable_path).exists() and not os.environ.get(MUST):
            pytest.skip("there is no browser here: `python3 scripts/dev.py test` brings one")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.goto(f"{served.url}/ui")
    expect(page.locator("#sessions button")).to_have_count(8)
    yield page
    context.close()
    assert faults == []
    assert [url for url in elsewhere if not url.startswith(served.url)] == []


def ask(page: Page, question: str) -> None:
    page.locator("#query").fill(question)
    page.locator("#query").press("Enter")
    expect(page.locator("#status")).to_contain_text("Answered")


def test_sessions_stand_in_order_and_open(page: Page) -> None:
    first = page.locator("#sessions button").first
    expect(first).to_contain_text("day-1")
    first.click()
    expect(page.locator("#turns li")).to_have_count(2)
    expect(page.locator("#turns li").first).to_contain_text("I walked 1 miles")


def test_a_search_shows_the_answer_beside_every_turn_and_its_reason(page: Page) -> None:
    page.locator("#budget").fill("40")
    ask(page, "What is my cat called?")
    expect(page.locator("#seen")).to_contain_text("Miso")
    expect(page.locator("#seen")).to_contain_text("untrusted")
    expect(page.locator("#why li.kept").first).to_contain_text("% of the budget")
    page.locator("#filter").select_option("all")
    expect(page.locator("#why li.dropped").first).to_contain_text("dropped")
    assert page.locator("#bar span").count() > 0


def test_one_is_not_called_many_and_the_budget_begins_round(page: Page) -> None:
    expect(page.locator("#budget-out")).to_have_text("1000 tokens")
    page.locator("#sessions button", has_text="cat").click()
    expect(page.locator("#status")).to_have_text("1 turn shown")


def test_stored_markup_is_shown_as_text_and_never_runs(page: Page) -> None:
    page.locator("#sessions button", has_text="cat").click()
    expect(page.locator("#turns li")).to_contain_text("<script>window.hacked = 1</script>")
    ask(page, "What is my cat called?")
    expect(page.locator("#seen")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img").count() == 0


def test_the_slash_key_goes_to_the_question(page: Page) -> None:
    page.locator("body").press("/")
    expect(page.locator("#query")).to_be_focused()


def test_a_narrow_dark_screen_has_no_sideways_scrolling(page: Page, tmp_path: Path) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, "Where did I walk?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"


def test_zz_a_turn_can_be_deleted(page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#sessions button", has_text="day-7").click()
    expect(page.locator("#turns li")).to_have_count(2)
    page.locator("#turns li .erase").first.click()
    expect(page.locator("#status")).to_have_text("Deleted.")
    expect(page.locator("#turns li")).to_have_count(1)
