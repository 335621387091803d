"""What a table does not let out stays: its rows unless it says so, its schema where it says so."""

import json

import pytest

from streamhouse.project.desired import desired_plans

pytestmark = pytest.mark.proof

HIDE = ("output: {event_time: ordered_at}", "output: {event_time: ordered_at}\nai: {schema: denied}")
SHOW = ("output: {primary_key: [product]}", "output: {primary_key: [product]}\nai: {rows: allowed}")


@pytest.fixture
def applied(project):
    """The flow, applied as the files have it then."""

    def save():
        from streamhouse.project.check import load_registry

        definition = load_registry(project).definition("orders")
        with project.state() as state:
            state.save_plan(desired_plans(project)["orders"], definition=definition)

    return save


def test_rows_are_kept_unless_the_table_says_otherwise(call, edit, applied):
    applied()
    for sql in (
        "SELECT * FROM dws.revenue_by_product",
        "SELECT count(*) FROM dwd.orders",
        "WITH a AS (SELECT * FROM dwd.orders) SELECT 1 FROM a",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM ods.orders)",
        "SELECT * FROM dwd.orders.changes",
    ):
        error = call("query", sql=sql).error
        assert error["code"] == "SH805", sql
        assert "ai: {rows: allowed}" in error["message"]
    assert call("describe", name="dws.revenue_by_product", rows=1).error["code"] == "SH805"


def test_a_join_with_a_table_that_keeps_its_rows(call, edit, applied):
    edit("actions/revenue_by_product.sql", *SHOW)
    applied()
    joined = "SELECT * FROM dws.revenue_by_product JOIN dwd.orders USING (product)"
    error = call("query", sql=joined).error
    assert error["code"] == "SH805"
    assert "rows of dwd.orders may not" in error["message"]
    assert call("describe", name="dws.revenue_by_product").document["table"]["rows_allowed"]


def test_while_a_file_is_wrong_no_rows_leave(call, edit, applied):
    edit("actions/revenue_by_product.sql", *SHOW)
    applied()
    edit("actions/revenue_by_product.sql", "rows: allowed", "rows: alowed")
    assert call("query", sql="SELECT * FROM dws.revenue_by_product").error["code"] == "SH805"


@pytest.mark.parametrize("ran", [False, True])
def test_a_schema_that_is_denied_is_nowhere(call, edit, applied, ran):
    edit("actions/clean_orders.sql", *HIDE)
    if ran:
        applied()
    told = [
        call("search", text=""),
        call("search", text="amount cents"),
        call("describe", name="dws.revenue_by_product"),
        call("describe", name="orders"),
        call("plan"),
        call("diagnose"),
        call("validate"),
    ]
    assert not any(one.is_error for one in told)
    shown = json.dumps([one.document for one in told])
    assert "dwd.orders" not in shown
    assert "amount_cents" not in shown
    assert "clean_orders" not in shown
    for name in ("dwd.orders", "dwd.orders.amount_cents", "clean_orders"):
        assert call("describe", name=name).error["code"] == "SH805"
    assert call("diagnose", name="dwd.orders").error["code"] == "SH805"
    refused = call("query", sql="SELECT nope FROM dwd.orders").error
    assert "amount_cents" not in json.dumps(refused)


def test_an_error_in_a_file_whose_schema_is_denied(call, edit):
    edit("actions/clean_orders.sql", *HIDE)
    edit("actions/clean_orders.sql", "SELECT order_id,", "SELECT secret_column,")
    [error] = call("validate").document["errors"]
    assert error["file"] == "actions/clean_orders.sql"
    assert "secret_column" not in json.dumps(error)


def test_values_that_only_rows_have_are_kept(call, edit):
    edit(
        "actions/revenue_by_product.sql",
        "output:",
        "columns: {product: {values: {tea: green gold, cups: cups}}}\noutput:",
    )
    [column, *_] = call("describe", name="dws.revenue_by_product").document["table"]["columns"]
    assert column["values"] == {"tea": ["tea", "green gold"]}
    [column] = call("describe", name="dwd.orders.product").document["table"]["columns"]
    assert column["values"] == {}
    edit("actions/revenue_by_product.sql", "output: {p", "ai: {rows: allowed}\noutput: {p")
    [column, *_] = call("describe", name="dws.revenue_by_product").document["table"]["columns"]
    assert column["values"].keys() > {"tea", "cups"}, "those of the source, too"
