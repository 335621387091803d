"""The page inside a real Airflow: its sign-in, its roles, its navigation, its theme."""

import json
import sys

import httpx
import pytest

from streamhouse.project.project import Project
from tests.gate.levels import deep
from tests.integration.ui.airflow_server import airflow_server
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.spark, deep("the page inside Airflow; test_page.py has the page")]


@pytest.fixture(scope="module")
def airflow(shop, tmp_path_factory):
    with airflow_server(tmp_path_factory.mktemp("airflow") / "home", shop) as server:
        yield server


@pytest.fixture
def ask(airflow):
    def call(path, who=None, **json):
        headers = {"X-Streamhouse": "1"}
        if who is not None:
            headers["Authorization"] = f"Bearer {airflow.tokens[who]}"
        url = f"{airflow.url}/streamhouse{path}"
        if json:
            return httpx.post(url, headers=headers, json=json["body"], timeout=PATIENCE_S)
        return httpx.get(url, headers=headers, timeout=PATIENCE_S)

    return call


@pytest.mark.parametrize(
    "path",
    ["/", "/static/app.css", "/static/icon.svg", "/static/js/main.js", "/api/project", "/api/flows", "/api/plan"],
)
def test_only_who_is_signed_in_sees_it(ask, path):
    assert ask(path).status_code == 401
    assert ask(path, "viewer").status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/query", "/api/ask", "/api/proposals/x/write", "/api/approvals/x/approve", "/api/changes/1/swap"]
)
def test_only_who_is_signed_in_does_something(ask, path):
    assert ask(path, body={}).status_code == 401


def test_it_tells_what_the_command_line_tells(ask, shop, streamhouse):
    (flow,) = ask("/api/flows", "admin").json()
    (told,) = streamhouse("status", "orders", cwd=shop)["flows"]
    assert (flow["state"], flow["epochs"], flow["rows"]) == (told["state"], 1, sum(told["rows"].values()))
    assert ask("/api/plan", "admin").json()["flows"][0]["outcome"] == "no-op"


def test_a_viewer_decides_nothing(ask, shop):
    with Project.at(shop).state() as state:
        asked = state.approvals.ask("orders", "airflow", "drop a column", "evidence")
    refused = ask(f"/api/approvals/{asked.id}/approve", "viewer", body={})
    assert refused.status_code == 403
    done = ask(f"/api/approvals/{asked.id}/refuse", "admin", body={"reason": "not now"}).json()
    assert (done["state"], done["decided_by"]) == ("refused", "admin")


def test_without_an_engine_the_query_box_says_so(ask):
    about = ask("/api/project", "admin").json()
    assert not about["may_query"]
    assert "STREAMHOUSE_COMMAND" in about["query_note"]


def test_without_an_engine_wishes_are_read_and_nothing_is_written(ask, shop):
    before = sorted(file for file in shop.rglob("*.sql"))
    page = ask("/api/ask", "admin", body={"wish": "number of orders per product"}).json()
    assert page["proposal"]["status"] == "proposed", page
    name = page["proposal"]["id"]
    told = ask(f"/api/proposals/{name}/write", "admin", body={"environment": "review"})
    assert (told.status_code, told.json()["code"]) == (503, "SH306")
    assert sorted(file for file in shop.rglob("*.sql")) == before
    assert ask("/api/ask", "viewer", body={"wish": "number of orders per product"}).status_code == 403


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_in_the_navigation_and_follows_the_theme(airflow, browser, shot, theme):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=theme)
    context.add_cookies([{"name": "_token", "value": airflow.tokens["admin"], "url": airflow.url}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    page.goto(airflow.url)
    page.get_by_role("link", name="Flows", exact=True).click()
    page.wait_for_selector("iframe[title=Flows]")
    frame = page.frame_locator("iframe[title=Flows]")
    frame.locator(".flows tbody tr", has_text="orders").wait_for()
    frame.locator("a:text-is('orders')").click()
    frame.locator('[data-node="dwd.orders"]').wait_for()
    assert frame.locator("html").get_attribute("data-theme") == theme
    shot(page, f"airflow-{theme}")
    context.close()


def test_the_engine_that_tasks_call_answers_queries(shop, tmp_path_factory):
    engine = f"{sys.executable} -c 'import sys; from streamhouse.cli.main import main; sys.exit(main())'"
    connection = json.dumps({"conn_type": "generic", "extra": {"command": engine}})
    home = tmp_path_factory.mktemp("connected") / "home"
    with airflow_server(home, shop, AIRFLOW_CONN_STREAMHOUSE_ENGINE=connection) as server:
        headers = {"Authorization": f"Bearer {server.tokens['admin']}", "X-Streamhouse": "1"}
        place = f"{server.url}/streamhouse/api"
        assert httpx.get(f"{place}/project", headers=headers, timeout=PATIENCE_S).json()["may_query"]
        sql = {"sql": "SELECT count(*) AS n FROM ods.orders", "limit": 1}
        answer = httpx.post(f"{place}/query", headers=headers, json=sql, timeout=PATIENCE_S).json()
        assert answer["rows"] == [[120]], answer
