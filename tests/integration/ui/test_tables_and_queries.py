"""What a table holds, and queries: completion, history, cancel, charts and files; in a real browser."""

import csv
import io

import pyarrow.parquet as pq
import pytest

from tests.gate.levels import deep

pytestmark = [pytest.mark.services, pytest.mark.spark, deep("more of the page; test_page.py stays")]

BY_PRODUCT = "SELECT product, revenue_cents FROM dws.revenue_by_product ORDER BY product"


def ask(page, sql):
    page.fill("textarea", sql)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".result tbody tr")


def test_a_table_shows_what_it_holds(open_page, shop, streamhouse, shot):
    tier = streamhouse("query", "SELECT COUNT(*) AS n FROM dws.revenue_by_product.hot", cwd=shop)["rows"][0]["n"]
    page = open_page("#/tables/dws.revenue_by_product?part=rows", width=390)
    page.wait_for_selector("text=Read again")
    told = {
        row.locator("td").first.inner_text(): row.locator("td").all_inner_texts()[1:]
        for row in page.get_by_label("Rows by tier").locator("tbody tr").all()
    }
    assert told["all tiers as one"][0] == "6"
    assert told["hot"][0] == str(tier)
    assert set(told) == {"all tiers as one", "hot", "warm"}
    assert page.locator(".result tbody tr").count() == 6
    shot(page, "rows-390")


def test_a_table_has_its_history(open_page):
    page = open_page("#/tables/dwd.orders?part=history&span=24h")
    page.wait_for_selector(".history canvas")
    labels = [one.get_attribute("aria-label") for one in page.locator(".history [role=img]").all()]
    assert [label.partition(":")[0] for label in labels] == ["Freshness", "Rows per second", "Epoch time", "Worst lag"]
    assert page.locator(".history", has_text="Freshness").locator(".u-series .u-label").all_inner_texts() == [
        "time",
        "dwd",
    ]


def test_names_are_completed(open_page):
    page = open_page("#/query")
    page.wait_for_selector("button:text-is('dwd.orders')")
    box = page.locator("textarea")
    box.press_sequentially("SELECT * FROM rev")
    page.get_by_role("option", name="dws.revenue_by_product").wait_for()
    page.keyboard.press("Tab")
    assert box.input_value() == "SELECT * FROM dws.revenue_by_product"
    box.press_sequentially(" r WHERE r.pi")
    page.get_by_role("option", name="r.pieces").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert box.input_value() == "SELECT * FROM dws.revenue_by_product r WHERE r.pieces"
    box.press_sequentially(" > 1 AND pro")
    page.get_by_role("option", name="product").first.wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("#completions li", state="detached")
    box.press_sequentially("duct = 'rev")  # no names within a text
    assert page.locator("#completions li").count() == 0


def test_a_result_becomes_a_chart_and_a_file_and_is_remembered(open_page, shot, shop, streamhouse):
    told = streamhouse("query", BY_PRODUCT, cwd=shop)
    page = open_page("#/query")
    ask(page, BY_PRODUCT)
    assert page.locator(".result thead small").all_inner_texts() == ["string", "bigint"]
    page.get_by_role("button", name="bar", exact=True).click()
    assert page.locator(".bars .name").all_inner_texts() == [row["product"] for row in told["rows"]]
    shot(page, "bars")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    lines = list(csv.reader(saved.value.path().read_text().splitlines()))
    assert lines == [
        ["product", "revenue_cents"],
        *([row["product"], str(row["revenue_cents"])] for row in told["rows"]),
    ]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Parquet").click()
    assert pq.read_table(io.BytesIO(saved.value.path().read_bytes())).to_pylist() == told["rows"]
    page.reload()
    page.wait_for_selector("main h1")
    page.locator(".past summary").click()
    page.locator(".past button").first.click()
    assert page.locator("textarea").input_value() == BY_PRODUCT


def test_a_result_says_what_was_read(open_page, shot, shop, streamhouse):
    told = streamhouse("query", "--explain", BY_PRODUCT, cwd=shop)
    page = open_page("#/query")
    ask(page, BY_PRODUCT)
    page.get_by_role("button", name="What was read").click()
    page.wait_for_selector(".reads tbody tr")
    cells = page.locator(".reads tbody tr").first.locator("td").all_inner_texts()
    (read,) = told["reads"]
    assert cells[:3] == [read["table"], "now", read["tier"]]
    assert cells[3] == f"{len(read['columns'])} of {read['of_columns']}: {', '.join(read['columns'])}"
    assert told["engine"] in page.inner_text(".reads")
    shot(page, "reads")
    page.get_by_role("button", name="What was read").click()
    assert page.locator(".reads").count() == 0


def test_rows_over_time_become_lines(open_page, shot):
    page = open_page("#/query")
    ask(page, "SELECT DATE(ordered_at) AS day, COUNT(*) AS orders FROM dwd.orders GROUP BY DATE(ordered_at)")
    page.get_by_role("button", name="line", exact=True).click()
    page.wait_for_selector(".history canvas")
    assert "by day (UTC)" in page.inner_text(".history figcaption")
    shot(page, "line")


def test_a_query_is_cancelled(open_page):
    page = open_page("#/query")
    page.fill("textarea", "SELECT COUNT(*) AS n FROM range(100000000000) AS r(id) WHERE sqrt(id) < 0")
    page.click("button.primary")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("button.primary:not(:disabled)")
    assert page.locator(".trouble").count() == 0
