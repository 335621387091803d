import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import HTTPException
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from streamhouse.change.change_request import ask
from streamhouse.cli.main import main
from streamhouse.compiler.detached import detach_steps
from streamhouse.errors import TableLostError
from streamhouse.model.bad_rows import DEAD_LETTER, count_text
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.planner.proposal import FileEdit, Proposal, Status
from streamhouse.planner.proposals import Proposals
from streamhouse.project.compare import Applied, compare
from streamhouse.project.desired import desired_plans
from streamhouse.project.shortcuts import TakenShortcuts, note_shortcuts
from streamhouse.runtime.command import Command
from streamhouse.runtime.owner import this_owner
from streamhouse.spark.shortcuts import Shortcut, Shortcuts
from streamhouse.state.autopilot import NewDecision
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord, RunnerState
from streamhouse.state.troubles import RESTORE
from streamhouse.state.upstream import EventStatus
from streamhouse.state.violations import EXPECTATION, violation_text
from streamhouse.ui.app import create_app
from streamhouse.ui.person import Person
from tests.patience import until

pytestmark = pytest.mark.proof

TTL = timedelta(hours=1)  # no test outlives it


@pytest.fixture
def cli(project, capsys):
    """What the command line prints as JSON, with any exit code."""

    def call(*arguments):
        main([*arguments, "--project", str(project.root), "--json"])
        return json.loads(capsys.readouterr().out)

    return call


def finish(state, lease, epoch, *, ago_s, rows, visible_ms, segment="main", now=None):
    at = (now or datetime.now(UTC)) - timedelta(seconds=ago_s)
    at_ms = int(at.timestamp() * 1000)
    state.begin_epoch(lease, segment, epoch, at_ms, at)
    layers = {layer: at_ms + ms for layer, ms in visible_ms.items()}
    state.finish_epoch(
        lease,
        EpochRecord("orders", segment, epoch, at_ms, at_ms, at_ms + 900, rows=rows, layer_visible_ms=layers),
    )


def test_the_shortcuts_of_the_last_session(client, project):
    assert client.get("/api/project").json()["shortcuts"] is None
    refused = Shortcuts(frozenset({Shortcut.CARRIER}), {Shortcut.LOG_FILES: "the logs have checksums"})
    note_shortcuts(project.state_dir, TakenShortcuts.of("4.1.4", refused))
    found = client.get("/api/project").json()["shortcuts"]
    assert (found["spark"], found["on"], found["off"]["log_files"]) == ("4.1.4", ["carrier"], "the logs have checksums")


def test_a_flow_that_never_ran(client, project):
    (flow,) = client.get("/api/flows").json()
    assert (flow["flow"], flow["state"], flow["epochs"], flow["revision"]) == ("orders", "stopped", 0, None)
    assert flow["target_ms"] == 1000
    assert client.get("/api/approvals").json() == []
    assert client.get("/api/flows/orders").json()["epochs"] == []
    assert not (project.state_dir / "state.db").exists()  # looking makes nothing


def test_a_flow_that_runs(client, state, monkeypatch):
    class Soon(datetime):
        """Says at each call when the test began."""

        @classmethod
        def now(cls, tz=None):
            return began.astimezone(tz)

    began = datetime.now(UTC)
    monkeypatch.setattr("streamhouse.ui.flows.datetime", Soon)
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    finish(
        state,
        lease,
        0,
        ago_s=30,
        rows={"ods.orders": 60, "dwd.orders": 57},
        visible_ms={"ods": 400, "dws": 1500},
        now=began,
    )
    finish(
        state,
        lease,
        1,
        ago_s=3,
        rows={"ods.orders": 40, "dwd.orders": 40},
        visible_ms={"ods": 300, "dws": 800},
        now=began,
    )
    state.append_event("orders", "run", "began")
    (flow,) = client.get("/api/flows").json()
    assert (flow["state"], flow["epochs"], flow["rows"], flow["last_epoch_rows"]) == ("running", 2, 197, 80)
    assert [(f["layer"], f["last_ms"], f["late"]) for f in flow["freshness"]] == [
        ("ods", 300, False),
        ("dws", 800, False),
    ]
    assert 197 / 32 < flow["rows_per_second"] < 197 / 29
    page = client.get("/api/flows/orders").json()
    assert [(e["epoch"], e["lag_ms"]) for e in page["epochs"]] == [(0, 1500), (1, 800)]
    assert [e["text"] for e in page["events"]] == ["began"]
    assert "\nflow: orders\n" in page["source"]["text"]
    nodes = {node["id"]: node for node in client.get("/api/flows/orders/graph").json()["nodes"]}
    assert nodes["ods.orders"]["rows"] == 100
    assert 100 / 32 < nodes["ods.orders"]["rows_per_second"] < 100 / 29


def test_a_flow_that_failed_tells_why(client, state):
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    finish(state, lease, 0, ago_s=600, rows={"ods.orders": 1}, visible_ms={"ods": 4000})
    state.set_runner_state(lease, RunnerState.FAILED, "SH405 the store refuses")
    (flow,) = client.get("/api/flows").json()
    assert (flow["state"], flow["error"], flow["rows_per_second"]) == ("failed", "SH405 the store refuses", 0)
    assert flow["freshness"][0]["late"]


def test_a_table_that_lacks_rows_is_marked_at_flow_and_table_until_it_is_made_again(client, state):
    lacks = TableLostError("ods.orders lacks 5 changes that were lost with the hot tier", hint="compute it")
    rests = TableLostError("dwd.orders is made from ods.orders, which lacks rows", hint="compute it")
    state.troubles.failed("orders", "ods.orders", Tier.HOT, RESTORE, lacks)
    state.troubles.failed("orders", "dwd.orders", Tier.HOT, RESTORE, rests)
    for table, error in (("ods.orders", lacks), ("dwd.orders", rests)):
        (mark,) = client.get(f"/api/tables/{table}").json()["troubles"]
        assert (mark["job"], mark["text"], mark["hint"]) == ("restore", error.message, "compute it")
        nodes = {node["id"]: node["troubles"] for node in client.get("/api/flows/orders/graph").json()["nodes"]}
        assert nodes[table] == [mark]
        assert mark in client.get("/api/flows").json()[0]["troubles"]
        state.troubles.mended("orders", table, Tier.HOT, RESTORE)
        assert client.get(f"/api/tables/{table}").json()["troubles"] == []


def test_a_tier_that_fails_is_shown_at_flow_and_table(client, state):
    error = TableLostError("dwd.orders in the warm tier is gone", hint="bring it back")
    state.troubles.failed("orders", "dwd.orders", Tier.WARM, "tiering", error)
    (flow,) = client.get("/api/flows").json()
    (trouble,) = flow["troubles"]
    assert (trouble["table"], trouble["tier"], trouble["job"], trouble["code"]) == (
        "dwd.orders", "warm", "tiering", "SH406",
    )  # fmt: skip
    nodes = {node["id"]: node["troubles"] for node in client.get("/api/flows/orders/graph").json()["nodes"]}
    assert (nodes["dwd.orders"], nodes["ods.orders"]) == ([trouble], [])
    assert client.get("/api/tables/dwd.orders").json()["troubles"] == [trouble]
    state.troubles.mended("orders", "dwd.orders", Tier.WARM, "tiering")
    assert client.get("/api/flows").json()[0]["troubles"] == []


def test_what_the_autopilot_proposes_is_shown_at_its_flow(client, state):
    assert client.get("/api/flows").json()[0]["proposals"] == []
    now = datetime.now(UTC)
    new = NewDecision(
        "orders",
        "orders:skew:x",
        "skew",
        "person",
        "one bucket has all",
        "spread it",
        "none",
        timedelta(0),
        now,
        "it waits",
    )
    state.autopilot.suggest(new, now)
    assert client.get("/api/flows").json()[0]["proposals"] == ["suggested: spread it (one bucket has all)"]
    assert client.get("/api/flows/orders").json()["summary"]["proposals"]


def test_the_graph_of_a_flow(client, state):
    graph = client.get("/api/flows/orders/graph").json()
    assert (graph["shows"], graph["revision"]) == ("applied", 1)
    assert [(n["id"], n["kind"], n["layer"]) for n in graph["nodes"]] == [
        ("lines", "source", "source"),
        ("ods.orders", "table", "ods"),
        ("dwd.orders", "table", "dwd"),
        ("dws.revenue_by_product", "table", "dws"),
    ]
    assert [(e["source"], e["target"], e["mode"]) for e in graph["edges"]] == [
        ("lines", "ods.orders", "changes"),
        ("ods.orders", "dwd.orders", "changes"),
        ("dwd.orders", "dws.revenue_by_product", "changes"),
    ]
    (step,) = graph["nodes"][3]["steps"]
    assert (step["action"], step["strategy"], step["segment"]) == ("revenue_by_product", "merge", "main")
    assert [t["tier"] for t in graph["nodes"][1]["tiers"]] == ["hot", "warm"]


def test_tables_that_wait_for_a_person(client, state):
    _, plan = state.plan("orders")
    held = plan.steps[1].id
    verdict = Verdict(
        flow="orders",
        step=held,
        table=held,
        policy=Policy.FREEZE,
        said="",
        outcome=Outcome.BLOCK,
        values=Values.WAIT,
        pauses=True,
        asks="follow",
    )
    event = UpstreamEvent(type=EventType.CHANGE_KEY, object="orders:lines", before="1", after="2")
    state.upstream.record("orders", [event])
    state.upstream.settle("orders", event.id, EventStatus.WAITING, decision=Decision(event=event, verdicts=(verdict,)))
    state.save_plan(detach_steps(plan, [{held}]))
    nodes = client.get("/api/flows/orders/graph").json()["nodes"]
    assert [node["id"] for node in nodes if node["stands"]] == ["dwd.orders", "dws.revenue_by_product"]


def test_a_table_in_full(client, state):
    table = client.get("/api/tables/dws.revenue_by_product").json()
    columns = {c["name"]: c for c in table["columns"]}
    assert (columns["product"]["key"], columns["pieces"]["merge"]) == (True, "sum")
    (step,) = table["steps"]
    assert "GROUP BY" in step["sql"]
    assert step["reads"][0]["table"] == "dwd.orders"
    source = client.get("/api/tables/lines", params={"flow": "orders"}).json()
    assert (source["kind"], [r["table"] for r in source["readers"]]) == ("source", ["ods.orders"])


def test_secrets_of_a_source_are_not_told(client, project):
    flow = project.root / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("path: data/*.csv", "path: data/*.csv\n      key_password: hunter2"))
    for path in ("/api/tables/lines", "/api/flows/orders/graph"):
        assert "hunter2" not in client.get(path).text


@pytest.mark.parametrize("name", ["dwd.orders.amount_cents", "dwd.orders", "dws.revenue_by_product.product"])
def test_lineage_is_that_of_the_command_line(client, cli, state, name):
    page, told = client.get(f"/api/lineage/{name}").json(), cli("lineage", name)
    assert page["up"]
    for way in ("up", "down"):
        assert page[way] == [{**x, "into": x["into"]["table"], "into_column": x["into"]["column"]} for x in told[way]]


def test_the_plan_is_that_of_the_command_line(client, cli, state, project):
    action = project.root / "actions" / "clean_orders.sql"
    action.write_text(action.read_text().replace("quantity >= :min_quantity", "quantity > :min_quantity"))
    (flow,) = client.get("/api/plan").json()["flows"]
    (told,) = cli("plan", "orders")["flows"]
    assert (flow["outcome"], flow["changes"], flow["diff"]) == (told["outcome"], True, told["diff"])
    assert flow["outcome"] != "no-op"
    nodes = client.get("/api/flows/orders/graph").json()["nodes"]
    assert {n["id"]: n["outcome"] for n in nodes if n["outcome"]} == {
        step["table"]: step["outcome"] for step in told["diff"]["steps"] if step["outcome"] != "no-op"
    }


def test_a_file_that_is_wrong_hides_nothing_that_runs(client, state, project):
    action = project.root / "actions" / "clean_orders.sql"
    action.write_text(action.read_text().replace("FROM orders", "FROM nowhere"))
    problem = client.get("/api/plan")
    assert problem.status_code == 422
    assert problem.headers["content-type"] == "application/problem+json"
    told = problem.json()
    assert (told["code"], told["file"]) == ("SH207", "actions/clean_orders.sql")
    assert told["line"] > 1
    assert told["hint"]
    assert client.get("/api/flows/orders/graph").status_code == 200
    (project.root / "flows" / "orders.yaml").write_text("flow: orders\nstepps: []\n")
    assert "SH102" in {error["code"] for error in client.get("/api/project").json()["broken"]}
    assert [f["flow"] for f in client.get("/api/flows").json()] == ["orders"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/flows/nope", "SH213"),
        ("/api/flows/nope/graph", "SH213"),
        ("/api/tables/ods.ordes", "SH207"),
        ("/api/lineage/ods.orders.nope", "SH202"),
        ("/api/actions/clean_order", "SH201"),
    ],
)
def test_what_is_not_there(client, path, code):
    answer = client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_what_is_close_is_named(client):
    assert "ods.orders" in client.get("/api/tables/ods.ordes").json()["hint"]


def test_approving_is_what_the_command_does(client, cli, state):
    asked = [state.approvals.ask("orders", f"s{n}", "drop a column", "evidence") for n in range(3)]
    assert [q["state"] for q in client.get("/api/approvals").json()] == ["open"] * 3
    assert client.get("/api/flows").json()[0]["questions"] == 3
    done = client.post(f"/api/approvals/{asked[0].id}/approve", json={"reason": "agreed"}).json()
    assert (done["state"], done["decided_by"], done["reason"]) == ("granted", "ada", "agreed")
    client.post(f"/api/approvals/{asked[1].id}/refuse", json={})
    cli("approve", asked[2].id)
    told = {q["id"]: q["state"] for q in cli("approvals", "--all")["approvals"]}
    assert told == {asked[0].id: "granted", asked[1].id: "refused", asked[2].id: "granted"}
    twice = client.post(f"/api/approvals/{asked[2].id}/refuse", json={})
    assert (twice.status_code, twice.json()["code"]) == (409, "SH513")
    unknown = client.post("/api/approvals/ffffffff/approve", json={})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "SH512")


def test_a_change_that_is_not_there(client, state):
    answer = client.post("/api/changes/7/swap", json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "SH511")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Streamhouse": "", "Content-Type": "application/json"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_changes_nothing(client, state, headers):
    asked = state.approvals.ask("orders", "s", "drop a column", "evidence")
    for path in (f"/api/approvals/{asked.id}/approve", "/api/changes/1/swap", "/api/query"):
        assert client.post(path, content='{"reason": null}', headers=headers).status_code == 403
    assert state.approvals.get(asked.id).state == "open"


def test_who_may_only_look(client_of, state):
    client = client_of(Person("vic", may_decide=False, may_query=False), engine=Command(("false",)))
    asked = state.approvals.ask("orders", "s", "drop a column", "evidence")
    assert client.post(f"/api/approvals/{asked.id}/approve", json={}).status_code == 403
    assert client.post("/api/changes/1/withdraw", json={}).status_code == 403
    assert client.post("/api/query", json={"sql": "SELECT 1"}).status_code == 403
    about = client.get("/api/project").json()
    assert (about["may_decide"], about["may_query"]) == (False, False)
    assert state.approvals.get(asked.id).state == "open"


def test_every_route_asks_the_guard(project):
    def refuse():
        raise HTTPException(401, "who are you?")

    app = create_app(lambda: pytest.fail("it was let in"), refuse, where="airflow", engine=lambda: None)
    client = TestClient(app, headers={"X-Streamhouse": "1"})
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert len(routes) == len(app.routes) > 15
    for route in routes:
        path = route.path.replace(":path", "").format(
            path="app.css", name="x", change=1, number=1, answer="approve" if "approvals" in route.path else "swap"
        )
        for method in route.methods:
            body = {"json": {"sql": "SELECT 1"} if "query" in path else {}} if method == "POST" else {}
            assert client.request(method, path, **body).status_code == 401, path


def test_actions(client, state):
    names = [a["action"] for a in client.get("/api/actions").json()]
    assert names == ["clean_orders", "ingest_orders", "revenue_by_product"]
    assert [a["action"] for a in client.get("/api/actions", params={"q": "min_quantity"}).json()] == ["clean_orders"]
    page = client.get("/api/actions/clean_orders").json()
    assert page["uses"] == [{"flow": "orders", "writes": "dwd.orders"}]
    assert (page["params"][0]["name"], page["params"][0]["default"]) == ("min_quantity", 1)
    assert len(page["examples"][0]["given"]["orders"]) == 3


def test_search_finds_what_has_a_name(client):
    found = [(hit["kind"], hit["name"]) for hit in client.get("/api/search", params={"q": "orders"}).json()]
    assert found[:3] == [("table", "dwd.orders"), ("table", "ods.orders"), ("flow", "orders")]
    assert ("action", "clean_orders") in found


def test_quarantine(client, state, project):
    assert client.get("/api/quarantine").json() == []
    action = project.root / "actions" / "clean_orders.sql"
    rule = 'expect:\n  few: {check: "quantity < 100", on_violation: quarantine}\noutput: {'
    action.write_text(action.read_text().replace("output: {", rule))
    assert client.get("/api/quarantine").json() == []  # of what runs
    state.save_plan(desired_plans(project)["orders"])
    (held,) = client.get("/api/quarantine").json()
    assert (held["table"], held["of"], held["rules"][0]["name"]) == ("dwd.orders__quarantine", "dwd.orders", "few")
    kinds = {n["id"]: n["kind"] for n in client.get("/api/flows/orders/graph").json()["nodes"]}
    assert kinds["dwd.orders__quarantine"] == "quarantine"


def test_how_often_an_expectation_was_violated(client, state, project):
    action = project.root / "actions" / "clean_orders.sql"
    rules = 'expect:\n  few: {check: "quantity < 100", on_violation: warn}\n  some: {check: "quantity > 0"}\noutput: {'
    action.write_text(action.read_text().replace("output: {", rules))
    plan = desired_plans(project)["orders"]
    state.save_plan(plan)
    step = next(one.id for one in plan.steps if one.writes.name == "dwd.orders")
    for epoch, rows in ((3, 2), (5, 40)):
        state.append_event("orders", EXPECTATION, violation_text(f"{step}.few", rows, epoch))
    state.append_event("orders", "retry", "main waits")
    (found,) = client.get("/api/tables/dwd.orders").json()["steps"]
    rules = {rule["name"]: (rule["violations"], rule["last_violated"] is not None) for rule in found["expectations"]}
    assert rules == {"few": (42, True), "some": (0, False)}


def test_tables_for_who_writes_sql(client, state):
    tables = {one["name"]: one for one in client.get("/api/tables").json()}
    assert list(tables) == ["dwd.orders", "dws.revenue_by_product", "ods.orders"]
    assert tables["dws.revenue_by_product"]["columns"]["revenue_cents"] == "bigint"
    assert (tables["dwd.orders"]["tiers"], tables["dwd.orders"]["flow"]) == (["hot", "warm"], "orders")


def test_nothing_is_compiled_for_a_look_at_what_is_applied(client, state, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("it was compiled")

    monkeypatch.setattr("streamhouse.project.desired.desired_plans", refuse)
    assert client.get("/api/tables/dwd.orders").json()["name"] == "dwd.orders"
    assert len(client.get("/api/tables").json()) == 3


def test_a_file_of_rows_needs_who_may_query(client_of, state):
    reader = client_of(Person("ada", may_decide=True, may_query=False))
    assert reader.post("/api/query/export", json={"sql": "SELECT 1", "format": "csv"}).status_code == 403
    assert reader.post("/api/query/reads", json={"sql": "SELECT 1"}).status_code == 403


def test_dead_letters_and_their_button(client_of, state, project):
    flow = project.root / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("path: data/*.csv", "path: data/*.csv\n      on_bad_rows: dead_letter"))
    state.save_plan(desired_plans(project)["orders"])
    state.append_event("orders", DEAD_LETTER, count_text("ods.orders_lines__dead_letters", 3, 2, 7))
    answer = {"table": "ods.orders_lines__dead_letters", "flow": "orders", "rows": 3, "waiting": 0, "number": 1}
    says = Command((sys.executable, "-c", f"print({json.dumps(answer)!r})"))
    client = client_of(engine=says)
    (held,) = client.get("/api/quarantine").json()
    assert (held["table"], held["of"], held["rows"], held["dead_letters"]) == (answer["table"], "lines", 3, True)
    assert client.post("/api/quarantine/ods.orders_lines__dead_letters/replay", json={}).json() == answer
    looks = client_of(Person("vic", may_decide=False, may_query=True), engine=says)
    assert looks.post("/api/quarantine/ods.orders_lines__dead_letters/replay", json={}).status_code == 403


def test_files_are_served_and_nothing_else(client):
    assert client.get("/").headers["content-type"].startswith("text/html")
    script = client.get("/static/js/main.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "script-src 'self'" in script.headers["content-security-policy"]
    again = client.get("/static/js/main.js", headers={"If-None-Match": script.headers["etag"]})
    assert again.status_code == 304
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/docs", "/openapi.json"):
        assert client.get(path).status_code == 404


def test_an_error_nobody_foresaw_is_a_problem_too(project):
    def broken():
        raise RuntimeError("oh")

    app = create_app(broken, lambda: Person("ada", may_decide=True, may_query=True), where="alone", engine=lambda: None)
    answer = TestClient(app, raise_server_exceptions=False).get("/api/flows")
    assert (answer.status_code, answer.json()["code"]) == (500, "SH000")


def test_changes_that_were_asked_for(client, cli, state, project):
    action = project.root / "actions" / "revenue_by_product.sql"
    action.write_text(action.read_text().replace("SUM(quantity) AS pieces", "SUM(quantity + 1) AS pieces"))
    compared = compare(desired_plans(project)["orders"], Applied.of(state), {})
    asked = ask(state, compared, "ada")
    (change,) = client.get("/api/changes").json()
    (told,) = cli("changes")["changes"]
    assert (change["id"], change["phase"], change["open"], change["asked_by"]) == (asked.id, "asked", True, "ada")
    assert (change["outcome"], change["tables"]) == (told["outcome"], list(told["versions"]))
    done = client.post(f"/api/changes/{asked.id}/withdraw", json={})
    assert (done.status_code, done.json()["phase"]) == (200, "withdrawn")
    twice = client.post(f"/api/changes/{asked.id}/swap", json={})
    assert (twice.status_code, twice.json()["code"]) == (409, "SH504")


def test_a_question_and_a_change_show_the_proposal_that_they_came_from(client, state, project):
    file = FileEdit(path="flows/orders.yaml", after=(project.root / "flows/orders.yaml").read_text())
    proposal = Proposal(
        id="0123456789ab", wish="w", status=Status.PROPOSED, sentence="Revenue.", flow="orders", files=(file,)
    )
    Proposals(project).add(proposal, "written", "the project")
    plan = state.plan("orders")[1].model_copy(update={"max_rows_per_epoch": 7})
    state.approvals.ask("orders", plan.fingerprint, "apply", "evidence", {"plan": plan.fingerprint})
    (question,) = client.get("/api/approvals").json()
    definition = Definition(flow="orders", files={file.path: file.after})
    state.ask_change(Wish(plan, Outcome.SWAP, definition=definition), "ada")
    (change,) = client.get("/api/changes").json()
    assert question["proposals"] == change["proposals"]
    (shown,) = question["proposals"]
    assert (shown["id"], shown["sentence"]) == ("0123456789ab", "Revenue.")
    assert shown["text"].endswith("see it whole: streamhouse proposals 0123456789ab")


def test_changes_upstream(client, cli, state):
    column = Column(name="colour", type="string")
    event = UpstreamEvent(type=EventType.ADD_COLUMN, object="orders:lines", before="1", after="2", now=column)
    state.upstream.record("orders", [event])
    (shown,) = client.get("/api/events").json()
    (told,) = cli("events")["events"]
    assert (shown["id"], shown["status"], shown["change"]) == (told["id"], "seen", told["change"])
    assert "colour string" in shown["change"]


def test_an_edit_that_waits_is_a_badge_of_its_flow(client, project, state):
    state.save_plan(desired_plans(project)["orders"])
    assert client.get("/api/flows").json()[0]["edit"] is None
    action = project.root / "actions" / "revenue_by_product.sql"
    action.write_text(action.read_text().replace("revenue_cents", "total_cents"))
    found = until(lambda: client.get("/api/flows/orders").json()["summary"]["edit"])  # looked for now and then
    assert found == "block (dws.revenue_by_product)"
    assert client.get("/api/plan").json()["flows"][0]["outcome"] == "block"


def test_the_page_tells_what_a_table_and_an_action_mean(client, project):
    assert client.get("/api/tables/dws.revenue_by_product").json()["meaning"]["measures"] == []
    file = project.root / "actions/revenue_by_product.sql"
    text = file.read_text()
    file.write_text(
        text.replace("\ninputs:", "\nmeasures: {revenue: {sql: SUM(revenue_cents) / 100, unit: USD}}\ninputs:", 1)
    )
    measure = {"name": "revenue", "sql": "SUM(revenue_cents) / 100", "unit": "USD", "description": "", "synonyms": []}
    assert client.get("/api/tables/dws.revenue_by_product").json()["meaning"]["measures"] == [measure]
    assert client.get("/api/actions/revenue_by_product").json()["meaning"]["measures"] == [measure]


def metrics_of(client, span="1h"):
    return client.get(f"/api/flows/orders/metrics?span={span}").json()


def test_the_history_of_a_flow_has_every_epoch_once(client, state):
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    for number, ago_s in enumerate((7200, 1800, 1800, 5)):
        rows = {"ods.orders": 60, "dws.revenue_by_product__v2": 6}
        finish(state, lease, number, ago_s=ago_s, rows=rows, visible_ms={"ods": 100, "dws": 400 + number})
    hour, day, month = (metrics_of(client, span) for span in ("1h", "24h", "30d"))
    assert [sum(one["epochs"] for one in span["points"]) for span in (hour, day, month)] == [3, 4, 4]
    assert [span["step_s"] for span in (hour, day, month)] == [60, 600, 10_800]
    first = hour["points"][0]
    assert first["rows"] == {"ods.orders": 120, "dws.revenue_by_product": 12}
    assert first["rows_per_second"] == pytest.approx(132 / 60)
    assert first["lags"] == {"ods": {"mean_ms": 100, "most_ms": 100}, "dws": {"mean_ms": 401.5, "most_ms": 402}}
    assert (first["epoch_ms"], first["longest_ms"]) == (900, 900)


def test_a_minute_that_is_written_and_goes_on_is_counted_once(client, state):
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    finish(state, lease, 0, ago_s=300, rows={"ods.orders": 1}, visible_ms={})
    state.metrics.flush()
    assert sum(one["epochs"] for one in metrics_of(client)["points"]) == 1
    finish(state, lease, 1, ago_s=2, rows={"ods.orders": 1}, visible_ms={})
    assert sum(one["epochs"] for one in metrics_of(client)["points"]) == 2


def test_events_mark_the_history(client, state):
    state.append_event("orders", "retry", "main waits: no answer")
    state.append_event("orders", "expectation", "epoch 3: 2 rows violate x")
    state.append_event("orders", "change", "old", datetime.now(UTC) - timedelta(days=2))
    assert [one["kind"] for one in metrics_of(client)["markers"]] == ["retry"]
    assert [one["kind"] for one in metrics_of(client, "30d")["markers"]] == ["retry", "change"]


def test_the_history_of_what_is_not_there(client):
    assert client.get("/api/flows/nothing/metrics").status_code == 404
    assert client.get("/api/flows/orders/metrics?span=1y").status_code == 422
    assert metrics_of(client)["points"] == []


def test_an_epoch_has_its_layers_and_tables(client, state):
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    finish(state, lease, 0, ago_s=3, rows={"dws.revenue_by_product__v2": 6}, visible_ms={"ods": 100, "dws": 400})
    (one,) = client.get("/api/flows/orders").json()["epochs"]
    assert (one["layers"], one["tables"], one["waited_ms"]) == (
        {"ods": 100, "dws": 400},
        {"dws.revenue_by_product": 6},
        0,
    )
