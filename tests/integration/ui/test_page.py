"""The page in a real browser, over a project that really ran."""

import re
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from streamhouse.project.project import Project
from tests.gate.levels import deep
from tests.integration.ui.conftest import served
from tests.patience import PATIENCE_S

pytestmark = [
    deep(
        "one of four kinds of screen stays",
        only=(
            "test_every_page_reads_well[dark-1280]",
            "test_every_page_reads_well[dark-390]",
            "test_every_page_reads_well[light-390]",
        ),
    ),
    pytest.mark.services,
    pytest.mark.spark,
]

LOOKS = (Path(__file__).parent / "looks.js").read_text()
PAGES = {
    "flows": "#/flows",
    "flow": "#/flows/orders",
    "history": "#/flows/orders?tab=history",
    "month": "#/flows/orders?tab=history&span=30d",
    "epochs": "#/flows/orders?tab=epochs",
    "file": "#/flows/orders?tab=file",
    "column": "#/flows/orders?table=dwd.orders&column=amount_cents",
    "sql": "#/tables/dws.revenue_by_product?part=sql",
    "lineage": "#/tables/dwd.orders?part=lineage&column=amount_cents",
    "contract": "#/tables/ods.orders?part=contract",
    "ask": "#/ask",
    "changes": "#/changes",
    "actions": "#/actions/clean_orders",
    "quarantine": "#/quarantine",
    "query": "#/query",
}


@pytest.fixture
def state(shop):
    with Project.at(shop).state() as opened:
        yield opened


@pytest.fixture
def question(state):
    """Something a person is asked."""
    now = datetime.now(UTC)
    return state.approvals.ask(
        "orders",
        f"test {now}",
        "drop column price of orders:lines",
        "lines: drop_column price\ndwd.orders reads it",
        now=now,
    )


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_reads_well(open_page, shot, question, theme, width):
    page = open_page(theme=theme, width=width)
    told = {}
    for name, place in PAGES.items():
        page.evaluate("place => { location.hash = place }", place)
        page.wait_for_selector("main h1")
        page.wait_for_function("() => !document.querySelector('[aria-busy]')")
        shot(page, f"{name}-{theme}-{width}")
        if found := page.evaluate(LOOKS):
            told[name] = found
    assert told == {}


def test_the_flow_is_told_as_it_ran(open_page, shop, streamhouse):
    (flow,) = streamhouse("status", "orders", cwd=shop)["flows"]
    page = open_page()
    row = page.locator(".flows tbody tr", has_text="orders")
    assert "stopped" in row.inner_text()
    assert f"{sum(flow['rows'].values()):,}" in row.inner_text()
    assert flow["rows"] == {"ods.orders": 120, "dwd.orders": 113, "dws.revenue_by_product": 6}


def test_the_history_has_the_epoch_that_ran(open_page):
    page = open_page("#/flows/orders?tab=history&span=24h")
    page.wait_for_selector(".history canvas")
    charts = page.locator(".history [role=img]")
    labels = [one.get_attribute("aria-label") for one in charts.all()]
    assert [label.partition(":")[0] for label in labels] == ["Freshness", "Rows per second", "Epoch time", "Worst lag"]
    assert all(not label.endswith(("at most 0", "at most 0 ms")) for label in labels)
    page.get_by_role("button", name="30 days").click()
    page.wait_for_function("() => location.hash.includes('span=30d')")
    page.wait_for_selector(".history canvas")


def test_an_epoch_opens(open_page):
    page = open_page("#/flows/orders?tab=epochs")
    page.locator("details.epoch summary").first.click()
    told = page.locator("details.epoch[open]").inner_text()
    assert "120 rows written" in told
    assert "slowest" in told
    page.wait_for_selector("details.epoch[open] .revision:has-text('Revision 1 was applied by a run at')")


def test_a_flow_that_does_not_run_says_what_to_do(open_page):
    open_page("#/flows/orders").wait_for_selector("main .lead code:text-is('streamhouse runner start orders')")


def test_search_closes_when_one_navigates(open_page):
    page = open_page("#/flows")
    for leave in (lambda: page.keyboard.press("Escape"), lambda: page.evaluate("location.hash = '#/query'")):
        page.keyboard.press("/")
        page.wait_for_selector("dialog[open]")
        leave()
        page.wait_for_selector("dialog", state="detached")


NAVIGATES_AS_SOON_AS_A_DIALOG_IS_OPEN = """place => new MutationObserver((_, observer) => {
    if (!document.querySelector("dialog[open]")) return;
    observer.disconnect();
    location.hash = place;
}).observe(document.body, { attributes: true, childList: true, subtree: true })"""


def test_a_dialog_closes_when_one_navigates_before_it_is_painted(open_page):
    page = open_page("#/flows")
    for key, place, heading in (("/", "#/query", "Query"), ("?", "#/changes", "Changes")):
        page.evaluate(NAVIGATES_AS_SOON_AS_A_DIALOG_IS_OPEN, place)
        page.keyboard.press(key)
        page.wait_for_selector(f"main h1:text-is('{heading}')")
        page.wait_for_selector("dialog", state="detached")


def test_the_shortcuts_of_the_last_session_are_shown(open_page, shop, streamhouse):
    told = streamhouse("status", cwd=shop)["shortcuts"]
    shown = open_page().locator(".shortcuts")
    shown.wait_for()
    text = shown.inner_text()
    assert f"Spark {told['spark']}" in text
    assert all(name in text for name in told["on"])
    assert all(f"{name} off ({why})" in text for name, why in told["off"].items())


def test_the_graph_has_the_tables_of_the_plan(open_page, shop, streamhouse):
    page = open_page("#/flows/orders")
    page.wait_for_selector("[data-node]")
    nodes = page.locator("[data-node]")
    (plan,) = streamhouse("plan", "orders", "--explain", cwd=shop)["flows"]
    steps = {step["writes"]: step for step in plan["explain"]["steps"]}
    assert {node.get_attribute("data-node") for node in nodes.all()} == {"lines", *steps}
    assert page.locator("svg path.edge").count() == 3
    for name, step in steps.items():
        node = page.locator(f'[data-node="{name}"]')
        assert step["strategy"] in node.inner_text()
        assert f"reads {step['reads'][0]['table']}" in node.get_attribute("aria-description")
    left = [page.locator(f'[data-node="{name}"]').bounding_box()["x"] for name in ("lines", *steps)]
    assert left == sorted(left), "layers stand from left to right"


def test_a_column_is_followed_through_the_graph(open_page):
    page = open_page("#/flows/orders")
    page.click('[data-node="dwd.orders"]')
    page.get_by_role("button", name="amount_cents").click()
    page.wait_for_selector('[data-node="dws.revenue_by_product"] mark')
    assert page.inner_text('[data-node="dws.revenue_by_product"] mark') == "revenue_cents"
    assert set(page.inner_text('[data-node="ods.orders"] mark').split(", ")) >= {"price", "quantity"}
    page.get_by_role("tab", name="Lineage").click()
    assert "comes from" in page.inner_text("aside").lower()


def test_all_of_it_by_keys(open_page):
    page = open_page()
    for keys, heading in (
        ("gw", "Ask"),
        ("gc", "Changes"),
        ("ga", "Actions"),
        ("gu", "Quarantine"),
        ("gq", "Query"),
        ("gf", "Flows"),
    ):
        page.keyboard.type(keys)
        page.wait_for_function("name => document.querySelector('main h1')?.textContent === name", arg=heading)
    page.keyboard.press("/")
    page.keyboard.type("clean")
    page.keyboard.press("Enter")  # also before anything was found
    page.wait_for_selector(".action h2:text-is('clean_orders')")
    page.keyboard.press("?")
    page.wait_for_selector("dialog:has-text('search flows')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.goto(f"{page.url.partition('#')[0]}#/flows/orders")
    page.focus('[data-node="lines"]')
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.node") == "dwd.orders"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_selector('aside[aria-label="ods.orders"]')
    page.keyboard.press("Tab")
    page.locator("aside button[aria-label=Close]").focus()
    page.keyboard.press("Escape")
    page.wait_for_selector("aside", state="detached")


def test_focus_is_seen(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_light_and_dark(open_page):
    page = open_page(theme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    assert max(map(int, re.findall(r"\d+", dark))) < 60
    page.keyboard.press("t")
    assert min(map(int, re.findall(r"\d+", page.evaluate(background)))) > 200
    page.reload()
    page.wait_for_selector("main h1")
    assert page.evaluate("document.documentElement.dataset.theme") == "light", "the choice is kept"


def test_the_query_box_answers(open_page, shot, shop, streamhouse):
    sql = "SELECT product, revenue_cents FROM dws.revenue_by_product ORDER BY product"
    page = open_page("#/query")
    page.fill("textarea", sql)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".result tbody tr")
    shown = [row.locator("td").all_inner_texts() for row in page.locator(".result tbody tr").all()]
    told = streamhouse("query", sql, cwd=shop)["rows"]
    assert shown == [[row["product"], str(row["revenue_cents"])] for row in told]
    assert len(shown) == 6
    shot(page, "answer")


def test_the_query_box_tells_what_is_wrong_and_where(open_page, shot):
    page = open_page("#/query")
    page.fill("textarea", "SELECT product,\n  price\nFROM dws.revenue_by_product")
    page.click("button.primary")
    page.wait_for_selector(".place")
    assert "query:2:3 SH601 unknown column 'price'" in " ".join(page.inner_text(".trouble").split())
    assert page.inner_text(".place").split("\n") == ["  price", "  ^"]
    shot(page, "wrong-query")
    # The refusal is an answer like any other to us; the browser notes the status it came with.
    open_page.wrong[:] = [one for one in open_page.wrong if "422" not in one]


def test_approving_on_the_page(open_page, shot, question, shop, streamhouse):
    page = open_page("#/changes")
    card = page.get_by_label(f"Question {question.id}")
    assert "drop column price" in card.inner_text()
    card.get_by_label("Reason").fill("agreed with finance")
    card.get_by_role("button", name="Approve").click()
    page.wait_for_selector(".toast")
    card.wait_for(state="detached")
    (told,) = [q for q in streamhouse("approvals", "--all", cwd=shop)["approvals"] if q["id"] == question.id]
    assert (told["state"], told["reason"]) == ("granted", "agreed with finance")


def test_an_edit_shows_what_it_would_do(open_page, shot, shop):
    action = shop / "actions" / "clean_orders.sql"
    before = action.read_text()
    page = open_page("#/changes")
    try:
        action.write_text(before.replace("quantity >= :min_quantity", "quantity > :min_quantity"))
        page.wait_for_selector(".plan table >> text=the filter changed")
        assert "FORWARD" in page.inner_text(".plan table")
        shot(page, "edit")
        action.write_text(before.replace("FROM orders", "FROM nowhere"))
        page.wait_for_selector(".trouble >> text=SH207")
        assert "actions/clean_orders.sql" in page.inner_text(".trouble >> nth=0")
    finally:
        action.write_text(before)
    open_page.wrong[:] = [one for one in open_page.wrong if "422" not in one]


def test_it_listens_to_this_machine_alone_and_ends_in_order(shop, environment):
    with served(shop, environment) as (url, server):
        at = urlsplit(url)
        assert at.hostname == "127.0.0.1"
        listening = [one for one in psutil.Process(server.pid).net_connections("inet") if one.status == "LISTEN"]
        assert [(one.laddr.ip, one.laddr.port) for one in listening] == [("127.0.0.1", at.port)]
        assert httpx.get(f"http://127.0.0.1:{at.port}/api/flows").status_code == 401
        assert httpx.get(f"http://127.0.0.1:{at.port}/api/flows?{at.query}").status_code == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE_S) == 0
    with socket.socket() as again:
        again.bind(("127.0.0.1", at.port))
