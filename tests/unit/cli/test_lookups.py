"""Commands that only look things up: action, flow, services."""

import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_FLUSS", raising=False)
    return tmp_path


@pytest.fixture
def asked(capsys):
    def ask(*arguments, code=0):
        assert main([*arguments, "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        assert main(list(arguments)) == code
        return document, capsys.readouterr()

    return ask


def test_actions_are_listed_with_their_users(project, asked):
    document, shown = asked("action", "list")
    first = document["actions"][0]
    assert (first["action"], first["used_by"], first["examples"]) == ("clean_orders", ["orders"], 1)
    assert [line.split()[0] for line in shown.out.splitlines()] == [
        "action",
        "clean_orders",
        "ingest_orders",
        "revenue_by_product",
    ]
    assert shown.err == ""


def test_a_broken_file_is_named_below_the_list(project, asked):
    (project / "actions" / "clean_orders.sql").write_text("SELECT 1")
    document, shown = asked("action", "list")
    assert [a["action"] for a in document["actions"]] == ["ingest_orders", "revenue_by_product"]
    assert "actions/clean_orders.sql (see: streamhouse validate)" in shown.err


def test_an_action_is_shown_whole(project, asked):
    document, shown = asked("action", "show", "clean_orders")
    assert document["params"]["min_quantity"]["default"] == 1
    assert document["used_by"] == [{"flow": "orders", "writes": "dwd.orders"}]
    assert document["sql"].startswith("SELECT order_id")
    for text in ("clean_orders 1.0.0", ":min_quantity", "decimal(10,2)", "WHERE quantity >= :min_quantity"):
        assert text in shown.out


def test_a_broken_action_shows_its_error(project, capsys):
    (project / "actions" / "clean_orders.sql").write_text("/* ---\naction: clean_orders\nstp: clean\n--- */\nSELECT 1")
    assert main(["action", "show", "clean_orders"]) == 3
    assert "actions/clean_orders.sql:3:1: SH102 unknown key 'stp'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["action", "show", "clean_oders"],
            "SH201 unknown action 'clean_oders'\n  hint: did you mean 'clean_orders'?\n",
        ),
        (
            ["action", "test", "clean_oders"],
            "SH201 unknown action 'clean_oders'\n  hint: did you mean 'clean_orders'?\n",
        ),
        (["flow", "show", "order"], "SH213 unknown flow 'order'\n  hint: did you mean 'orders'?\n"),
    ],
)
def test_unknown_names(project, capsys, arguments, text):
    assert main(arguments) == 3
    assert capsys.readouterr().err == text


def test_flows_are_listed_and_shown(project, asked):
    document, shown = asked("flow", "list")
    assert document["flows"][0]["tables"] == ["ods.orders", "dwd.orders", "dws.revenue_by_product"]
    assert shown.out.splitlines()[1].split()[0] == "orders"
    document, shown = asked("flow", "show", "orders")
    assert document["steps"][1]["reads"]["orders"]["table"] == "ods.orders"
    assert "dws.revenue_by_product  revenue_by_product  dwd.orders" in shown.out


def test_services_that_do_not_run(project, asked):
    document, shown = asked("services", "status", code=4)
    assert document == {"fluss": None, "services": [], "orphans": []}
    assert "streamhouse services up" in shown.out
    document, shown = asked("services", "down")
    assert document == {"stopped": False}
    assert shown.out == "nothing was running\n"
    assert not (project / ".streamhouse").exists()


@pytest.mark.parametrize("command", ["up", "down", "status"])
def test_an_external_fluss_is_left_alone(project, asked, command):
    (project / "streamhouse.yaml").write_text("fluss: elsewhere:9123\n")
    document, shown = asked("services", command)
    assert document == {"fluss": "elsewhere:9123", "external": True}
    assert "elsewhere:9123" in shown.out


def test_actions_without_examples_need_no_spark(project, asked):
    document, shown = asked("action", "test", "ingest_orders")
    assert (document["passed"], document["failed"]) == (0, 0)
    assert "no examples: ingest_orders" in shown.out
