"""The page "Ask" in a real browser, over the shipped project as its files are: nothing ran, no Spark, no services."""

import re
import shutil
from pathlib import Path

import pytest

from tests.gate.levels import deep
from tests.integration.ui.conftest import served

pytestmark = [pytest.mark.services, deep("wishes on the page; tests/integration/mcp has a wish that becomes a flow")]

ROOT = Path(__file__).parents[3]
LOOKS = (Path(__file__).parent / "looks.js").read_text()
CLIPPED = """() => [...document.querySelectorAll("main *")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "hidden")
  .filter((e) => !e.matches(".visually-hidden, .node b, .node .line, .graph"))
  .map((e) => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 60)}`)"""
WISH = "number of sales per store and day where quantity is above 3"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask") / "retail"
    for name in ("actions", "flows"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def address(project, environment):
    with served(project, environment) as (url, _):
        yield url


def test_a_wish_becomes_files(open_page, project, shot):
    page = open_page("#/ask")
    page.fill("textarea.wish", WISH)
    page.keyboard.press("Enter")
    sentence = page.locator(".read .asks").first
    sentence.wait_for()
    assert "per store_id and day" in sentence.inner_text()
    assert "only rows where quantity is above 3" in sentence.inner_text()
    first = page.url
    page.get_by_role("button", name="Remove quantity is above 3").click()
    page.wait_for_url(lambda url: url != first)
    page.wait_for_function("() => !document.querySelector('.read .asks').textContent.includes('quantity')")
    page.get_by_role("button", name=re.compile("^per day")).click()
    page.get_by_role("button", name="week", exact=True).click()
    page.wait_for_function("() => document.querySelector('.read .asks').textContent.includes('store_id and week')")
    page.get_by_role("tab", name="Files").click()
    assert "flows/retail.yaml" in page.inner_text("[role=tabpanel]")
    assert "GROUP BY" in page.inner_text("[role=tabpanel] .code >> nth=0")
    page.locator(".diff .added").first.wait_for()
    for theme, width in (("light", 1280), ("dark", 800)):
        page.set_viewport_size({"width": width, "height": 1700})
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        for tab in ("Files", "Graph", "Plan", "Rows", "Checks"):
            page.get_by_role("tab", name=tab).click()
            page.wait_for_function("() => !document.querySelector('[aria-busy]')")
            shot(page, f"ask-{tab.lower()}-{theme}")
            assert page.evaluate(LOOKS) == [], (tab, theme)
            assert page.evaluate(CLIPPED) == [], (tab, theme)
    page.get_by_role("tab", name="Graph").click()
    assert page.locator(".node.new .flag").inner_text() == "NEW"
    page.go_back()
    page.go_back()
    page.wait_for_function("() => document.querySelector('.read .asks').textContent.includes('quantity is above 3')")
    shot(page, "ask-back")
    assert not list((project / "actions").rglob("sale_count*")), "asking writes no file"


def test_a_figure_is_added_and_removed_without_typing(open_page, shot):
    page = open_page("#/ask")
    page.fill("textarea.wish", WISH)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="add a figure").click()
    shot(page, "ask-figures")
    assert page.evaluate(LOOKS) == []
    page.get_by_role("group", name="total", exact=True).get_by_role("button", name="quantity", exact=True).click()
    page.wait_for_function("() => document.querySelector('.read .asks').textContent.includes('total_quantity')")
    page.get_by_role("tab", name="Files").click()
    assert "SUM(quantity)" in page.inner_text("[role=tabpanel]").replace("sales.", "")
    page.get_by_role("button", name=re.compile("^Remove .*total_quantity")).click()
    page.wait_for_function("() => !document.querySelector('.read .asks').textContent.includes('total_quantity')")
    assert page.input_value("textarea.wish") == WISH


def test_a_question_is_answered_by_a_button(open_page, shot):
    page = open_page("#/ask")
    page.fill("textarea.wish", "top products by sales")
    page.keyboard.press("Enter")
    page.get_by_role("article", name="Question").wait_for()
    shot(page, "ask-question")
    assert page.evaluate(LOOKS) == []
    page.get_by_role("button", name="top 5 products").click()
    page.locator(".read .asks").first.wait_for()
    page.wait_for_function("() => document.querySelector('.wish').value.includes('top 5 products')")
    shot(page, "ask-answered")


def test_text_is_never_markup(open_page, project, shot):
    hostile = "<img src=x onerror=alert(1)>"
    flow = project / "flows" / "retail.yaml"
    text = flow.read_text()
    assert "number of the store that sold it" in text
    flow.write_text(text.replace("number of the store that sold it", f"{hostile} the store"))
    page = open_page("#/ask")
    dialogs = []
    page.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    for wish in (f"number of {hostile} per store", "number of sales per store where quantity is above 4"):
        page.fill("textarea.wish", wish)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "wish => [...document.querySelectorAll('main a')].some(a => a.textContent === wish)", arg=wish
        )
    page.wait_for_function("() => document.querySelector('main .code')")
    assert hostile in page.locator("main .code").first.inner_text(), (
        "a new column takes the description of the old one over"
    )
    page.locator("summary", has_text="so far").click()
    shot(page, "ask-hostile")
    assert page.locator("main img").count() == 0
    assert dialogs == []
