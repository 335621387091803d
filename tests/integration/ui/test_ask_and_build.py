"""From a wish on the page to rows in an environment: chips, first rows, plan, and the button that writes and builds."""

import re

import pytest

from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a wish on the page whose table is built; test_page.py has the page, test_environments.py environments"),
]

WISH = "revenue per product and day"


def test_a_wish_on_the_page_becomes_rows_in_an_environment(open_page, shop, streamhouse, shot):
    page = open_page("#/ask")
    page.fill("textarea.wish", WISH)
    page.keyboard.press("Enter")
    page.locator(".read .asks").first.wait_for()
    page.get_by_role("button", name=re.compile("^per day")).click()
    page.get_by_role("button", name="week", exact=True).click()
    page.wait_for_function("() => document.querySelector('.read .asks').textContent.includes('product and week')")
    page.get_by_role("tab", name="Rows").click()
    page.get_by_role("button", name="Show the first 10 rows").click()
    page.wait_for_selector(".result tbody tr")
    shown = page.locator(".result tbody tr").count()
    assert shown > 1
    page.get_by_role("tab", name="Plan").click()
    plan = page.inner_text("[role=tabpanel]")
    [table] = set(re.findall(r"\bdws\.\w+_by_product_and_week\b", plan))
    shot(page, "ask-build-plan")
    page.get_by_label("Environment", exact=True).fill("page_review")
    page.get_by_role("button", name="Write and build it").click()
    page.get_by_text("Environment page_review has the new tables").wait_for()
    shot(page, "ask-build-built")
    assert "streamhouse env promote orders page_review" in page.inner_text("main")
    assert "written into the project" in page.inner_text("main")
    sql = f"SELECT * FROM {table}"
    assert len(streamhouse("query", sql, "--env", "page_review", cwd=shop)["rows"]) >= shown
    refused = streamhouse("query", sql, cwd=shop, code=3)
    assert table in refused["error"]["message"]
