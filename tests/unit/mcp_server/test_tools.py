"""Tools of a project that never ran: what they tell, and how they refuse."""

import pytest

from streamhouse.mcp_server import limits
from streamhouse.mcp_server.tools import BY_NAME

pytestmark = pytest.mark.proof


def test_search_finds_by_stems_and_almost(call):
    found = call("search", text="revenues by prodict").document
    assert [hit["name"] for hit in found["hits"][:2]] == ["dws.revenue_by_product", "revenue_by_product"]
    assert found["hits"][0]["words"] == ["revenues", "by", "prodict"]
    assert call("search", text="zeppelin").document == {"hits": [], "more": False}


def test_search_lists_everything_in_order(call):
    found = call("search", text="", limit=3).document
    assert [hit["name"] for hit in found["hits"]] == ["dwd.orders", "dws.revenue_by_product", "ods.orders"]
    assert found["more"]
    assert [hit["name"] for hit in call("search", text="", kinds=["flow"]).document["hits"]] == ["orders"]


def test_describe_a_table(call):
    told = call("describe", name="dws.revenue_by_product")
    table = told.document["table"]
    assert told.structured == told.document
    assert [column["name"] for column in table["columns"]] == ["product", "order_lines", "pieces", "revenue_cents"]
    assert table["primary_key"] == ["product"]
    assert table["made_by"][0]["strategy"] == "merge"
    assert {link["table"] for link in table["comes_from"]} == {"dwd.orders", "ods.orders", "lines"}
    assert table["freshness"][0]["target_ms"] == 1000
    assert not table["rows_allowed"]


def test_describe_one_column(call):
    table = call("describe", name="dwd.orders.amount_cents").document["table"]
    assert [column["name"] for column in table["columns"]] == ["amount_cents"]
    assert {link["column"] for link in table["comes_from"] if link["table"] == "ods.orders"} >= {"quantity", "price"}


def test_describe_an_action_and_a_flow(call):
    action = call("describe", name="clean_orders").document
    assert action["action"]["parameters"][0]["name"] == "min_quantity"
    assert action["withheld"] == ["examples: they hold rows"]
    flow = call("describe", name="orders").document["flow"]
    assert [step["writes"] for step in flow["steps"]] == ["ods.orders", "dwd.orders", "dws.revenue_by_product"]


def test_validate_tells_places_and_hints(call, edit):
    assert call("validate").document["ok"]
    edit("flows/orders.yaml", "use: clean_orders", "use: clean_oders")
    told = call("validate").document
    [error] = told["errors"]
    assert (error["code"], error["file"], error["hint"]) == (
        "SH201",
        "flows/orders.yaml",
        "did you mean 'clean_orders'?",
    )
    assert error["line"] > 1
    assert call("validate", paths=["actions"]).document["ok"]
    assert not call("validate", paths=["flows/"]).document["ok"]
    assert not call("validate", paths=["."]).document["ok"]


def test_validate_refuses_paths_out_of_the_project(call, project, tmp_path_factory):
    beside = project.root.with_name(f"{project.root.name}-beside")
    for path in ("/etc", "..", "actions/../../x", "/", str(beside), str(tmp_path_factory.mktemp("other"))):
        error = call("validate", paths=["actions", path]).error
        assert (error["code"], error["message"]) == ("SH801", f"paths: '{path}' is not in the project"), path
        assert error["hint"]
    assert call("validate", paths=[str(project.root), str(project.root / "flows/orders.yaml")]).document["ok"]


def test_validate_refuses_paths_at_which_nothing_is_checked(call):
    for path in ("acts", "data", "flows/order.yaml", "README.md"):
        error = call("validate", paths=[path]).error
        assert error["message"] == f"paths: the project has no definition at '{path}'"
    assert call("validate", paths=["flows/order.yaml"]).error["hint"] == "did you mean 'flows/orders.yaml'?"


def test_plan_tells_new_tables_and_applies_nothing(call, project):
    [flow] = call("plan").document["flows"]
    assert flow["new_tables"] == ["ods.orders", "dwd.orders", "dws.revenue_by_product"]
    assert flow["command"] == "streamhouse run orders"
    assert project.existing_state() is None


def test_diagnose_a_flow_that_does_not_run(call):
    [flow] = call("diagnose", name="dws.revenue_by_product").document["flows"]
    assert flow["findings"] == [
        "the flow does not run: its tables stay as they are (a person types: streamhouse run orders)",
    ]
    assert [one["flow"] for one in call("diagnose", name="dwd").document["flows"]] == ["orders"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("describe", {"name": "dws.nope"}, "SH207", "unknown table 'dws.nope'"),
        ("describe", {"name": "clean_oders"}, "SH207", "no table, action or flow"),
        ("describe", {"name": "dwd.orders.nope"}, "SH202", "no column 'nope'"),
        ("describe", {"name": "dwd.orders", "rows": 1000}, "SH801", "rows"),
        ("describe", {"name": "orders", "rows": 1}, "SH805", "has no rows"),
        ("plan", {"flow": "nope"}, "SH213", "unknown flow"),
        ("plan", {"flo": "nope"}, "SH801", "flo"),
        ("plan", {"proposal": "../../etc/passwd"}, "SH801", "proposal"),
        ("diagnose", {"name": "nope"}, "SH213", "unknown flow"),
        ("diagnose", {"name": "dwd.nope"}, "SH207", "dwd.nope"),
        ("query", {"sql": "DELETE FROM dwd.orders"}, "SH601", "DELETE is no query"),
        ("query", {"sql": "SELECT 1; SELECT 2"}, "SH601", "more than one statement"),
        ("query", {"sql": "SELECT * FROM nope"}, "SH601", "unknown table"),
        ("query", {"sql": "SELECT 1" + " " * 30_000}, "SH801", "sql"),
        ("query", {}, "SH801", "sql: Field required"),
        ("query", {"sql": "SELECT 1", "limit": True}, "SH801", "limit: Input should be a valid integer"),
        ("search", {"text": "", "limit": "5"}, "SH801", "limit: Input should be a valid integer"),
        ("ask", {"wish": "x" * 5_000}, "SH700", "the wish has 5,000 characters, and a wish may have 2,000"),
        ("ask", {"wish": ""}, "SH801", "wish"),
        ("revise", {"proposal": "000000000000", "answers": {"a": "b"}}, "SH706", "unknown proposal"),
        ("revise", {"proposal": "0"}, "SH801", "proposal"),
    ],
    ids=lambda one: one if isinstance(one, str) else None,
)
def test_what_is_wrong_is_told_as_data(call, tool, arguments, code, says):
    told = call(tool, **arguments)
    assert told.error["code"] == code, told.document
    assert says in told.error["message"]
    assert told.structured is None


def test_a_closest_name_is_told(call):
    assert call("describe", name="clean_oders").error["hint"] == "did you mean 'clean_orders'?"
    assert "Traceback" not in str(call("describe", name="clean_oders").document)


def test_an_unknown_tool_is_an_error_of_the_protocol(call):
    error = call.refused(lambda client: client.call_tool("aply", {}))
    assert (error.code, error.message) == (-32602, f"unknown tool 'aply'; tools: {', '.join(BY_NAME)}")


def test_an_answer_that_is_too_large(call, monkeypatch):
    monkeypatch.setattr("streamhouse.mcp_server.calls.MOST_BYTES", 100)
    assert call("describe", name="dwd.orders").error["code"] == "SH803"


def test_arguments_that_are_too_large(call):
    assert call("revise", proposal="0" * 12, request={"x": "y" * limits.ARGUMENT_BYTES}).error["code"] == "SH801"


def test_a_fault_of_ours_tells_its_kind_alone(call, monkeypatch):
    def broken(*_):
        raise RuntimeError("a value of a row")

    monkeypatch.setattr("streamhouse.mcp_server.search.search", broken)
    error = call("search", text="x").error
    assert error["message"] == "internal error: RuntimeError"
    assert "row" not in error["hint"]


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("streamhouse://table/dws.nope", "unknown table"),
        ("streamhouse://secret/x", "no address"),
        ("file:///etc/passwd", "no address"),
        ("streamhouse://proposal/..%2F..%2Fx", "proposal"),
    ],
)
def test_an_address_that_is_none(call, uri, says):
    error = call.refused(lambda client: client.read_resource(uri))
    assert says in error.message
    assert error.data["error"]["code"].startswith("SH")


def test_resources(call):
    listed = call.of(lambda client: client.list_resources()).resources
    assert [one.uri for one in listed][:2] == ["streamhouse://flow/orders", "streamhouse://table/dwd.orders"]
    templates = call.of(lambda client: client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == [
        "streamhouse://table/{name}",
        "streamhouse://action/{name}",
        "streamhouse://flow/{name}",
        "streamhouse://proposal/{id}",
    ]
    for one in listed:
        [content] = call.of(lambda client, uri=one.uri: client.read_resource(uri)).contents
        assert content.mime_type == "application/json"
