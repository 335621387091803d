"""The page over five hundred flows: groups, filters, the worst first, on a desk and on a phone."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamhouse.cli.init import write_project
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord, RunnerState
from tests.gate.levels import deep
from tests.integration.ui.conftest import served

pytestmark = [pytest.mark.services, deep("a page over 500 flows")]

FLOWS = 500
LOOKS = (Path(__file__).parent / "looks.js").read_text()
TABLES = ("ods.orders", "dwd.orders", "dws.revenue_by_product")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A project of five hundred flows with a few epochs each; one failed, and one is late."""
    folder = tmp_path_factory.mktemp("many")
    write_project(folder)
    text = (folder / "flows" / "orders.yaml").read_text()
    for i in range(FLOWS - 1):
        one = text.replace("flow: orders", f"flow: shop_{i:03}\nowner: team_{i % 5}\ntags: [group_{i % 3}]")
        for table in TABLES:
            one = one.replace(table, f"{table}_{i:03}")
        (folder / "flows" / f"shop_{i:03}.yaml").write_text(one)
    project = Project.at(folder)
    with project.state() as state:
        for name, plan in desired_plans(project).items():
            state.save_plan(plan)
            _run(state, name, plan, lag_ms=5_000 if name == "shop_123" else 400)
    return folder


def _run(state, name, plan, *, lag_ms):
    now = datetime.now(UTC)
    at_ms = int(now.timestamp() * 1000) - 10_000
    lease = state.acquire(name, this_owner(), timedelta(hours=1), now)
    for epoch in range(3):
        state.begin_epoch(lease, "main", epoch, at_ms, now)
        visible = {"ods": at_ms + 100, "dwd": at_ms + 300, "dws": at_ms + lag_ms}
        rows = dict.fromkeys(plan.tables, 100)
        record = EpochRecord(name, "main", epoch, at_ms, at_ms, at_ms + 500, rows=rows, layer_visible_ms=visible)
        state.finish_epoch(lease, record)
    if name == "shop_321":
        state.set_runner_state(lease, RunnerState.FAILED, "SH405 the store refuses")


@pytest.fixture(scope="module")
def address(many, environment):
    with served(many, environment) as (url, _):
        yield url


def first_flows(page, count=3):
    page.wait_for_selector(".flows tbody th a")
    return page.locator(".flows tbody th > a:first-child").all_inner_texts()[:count]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_the_worst_of_many_is_seen_first(open_page, shot, width, theme):
    page = open_page(width=width, theme=theme)
    assert first_flows(page, 2) == ["shop_321", "shop_123"]
    assert page.locator(".flows tbody th").count() == 100
    assert "1 failed" in page.inner_text(".title")
    late = page.locator(".flows tbody tr", has_text="shop_123").locator(".fresh.late:visible")
    place = late.bounding_box()
    assert place["x"] + place["width"] <= width, "the late cell is in view"
    shot(page, f"many-{width}")
    assert page.evaluate(LOOKS) == []


def test_many_flows_are_filtered_and_grouped(open_page):
    page = open_page()
    page.get_by_label("show").select_option("late")
    page.wait_for_function("() => document.querySelectorAll('.flows tbody th').length === 1")
    assert first_flows(page) == ["shop_123"]
    page.reload()
    assert first_flows(page) == ["shop_123"], "the address says what is shown"
    page.get_by_label("show").select_option("")
    page.get_by_label("group").select_option("owner")
    page.wait_for_selector(".group-of")
    assert "team_0 100 flows" in " ".join(page.locator(".group-of summary").all_inner_texts())
    page.get_by_label("filter").fill("shop_00")
    page.wait_for_function("() => document.querySelectorAll('.flows tbody th').length === 10")


@pytest.mark.parametrize(
    "place", ["#/flows", "#/flows/shop_001", "#/tables/dwd.orders_001", "#/changes", "#/quarantine", "#/query"]
)
def test_no_page_waits_for_every_flow(open_page, place):
    page, asked = open_page("#/actions"), []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_function("() => !document.querySelector('[aria-busy]') && document.querySelector('main h1')")
    assert len(asked) < 20, "some requests for a page, and not one for each of the flows"
