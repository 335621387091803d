"""Ready actions over tables of a user: what is written compiles, is incremental, and says what is missing."""

import json
from datetime import UTC, datetime

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.compiler import compile_flow
from streamhouse.errors import ArgumentsError
from streamhouse.model.flow import Flow, Read, Step
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import Strategy
from streamhouse.planner.ready_actions import READY, ReadyRequest, text_of
from streamhouse.registry.read_action import read_action
from streamhouse.registry.registry import Registry
from tests.ready import WANTED, columns, ready_action
from tests.small_duckdb import SmallDuckDB

STRATEGIES = {
    "cdc_apply": Strategy.RECOMPUTE,
    "scd2": Strategy.RECOMPUTE,
    "deduplicate_latest": Strategy.RECOMPUTE,
    "sessionize": Strategy.RECOMPUTE,
    "flatten_json": Strategy.MAP,
    "mask_personal_data": Strategy.MAP,
    "unpivot": Strategy.RECOMPUTE,
    "hourly_rollup": Strategy.MERGE,
}


@pytest.mark.parametrize("name", READY)
def test_each_is_incremental(name):
    action = ready_action(name)
    table = Table(name="ods.given", columns=WANTED[name].columns, tiers=Tiers(hot="forever"))
    writes = f"{action.step.layer}.{name}"
    flow = Flow(flow="ready", steps=(Step(use=name, reads={"rows": Read(table="ods.given")}, writes=writes),))
    (step,) = compile_flow(flow, Registry([action]), {}, {"ods.given": table}).steps
    assert step.strategy is STRATEGIES[name], step.reason
    assert [notice.message for notice in step.notices] == [], "what we write ourselves asks a person nothing"
    assert action.examples


@pytest.mark.parametrize("name", READY)
def test_what_is_missing_is_named(name):
    with pytest.raises(ArgumentsError, match=f"{name} needs --"):
        text_of(READY[name], name, ReadyRequest(columns({"id": "bigint"})))


def test_a_column_that_the_table_lacks():
    wanted = ReadyRequest(columns({"customer_id": "bigint", "at": "timestamp"}), ("custmer_id",), "at")
    with pytest.raises(ArgumentsError, match="no column 'custmer_id'") as refused:
        text_of(READY["scd2"], "history", wanted)
    assert "customer_id" in refused.value.hint


def test_history_needs_a_time():
    wanted = ReadyRequest(columns({"id": "bigint", "n": "int"}), ("id",), "n")
    with pytest.raises(ArgumentsError, match="--order n is int"):
        text_of(READY["scd2"], "history", wanted)


SEQUENCED = {
    "id": "bigint not null",
    "at": "timestamp not null",
    "nr": "bigint not null",
    "op": "string",
    "name": "string",
}


@pytest.mark.parametrize("order", [1, -1])
def test_a_sequence_says_which_change_of_one_time_is_newer(order):
    database, noon = SmallDuckDB(), datetime(2026, 1, 1, 12, tzinfo=UTC)
    changes = [("c", "z"), ("u", "a"), ("d", None), ("c", "m")]
    rows = [{"id": 1, "at": noon, "nr": nr, "op": op, "name": name} for nr, (op, name) in enumerate(changes)][::order]
    database.put("rows", rows, columns(SEQUENCED))

    def answer(name, op):
        wanted = ReadyRequest(columns(SEQUENCED), ("id",), "at", op=op, sequence="nr")
        return database.answer(read_action(text_of(READY[name], name, wanted), f"{name}.sql").action.sql).to_pylist()

    version = {"id": 1, "name": "m", "valid_from": noon, "valid_to": None, "is_current": True}
    assert answer("scd2", "op") == [version]
    assert answer("cdc_apply", "op") == [{"id": 1, "at": noon, "nr": 3, "name": "m"}]
    assert answer("deduplicate_latest", "") == [{"id": 1, "at": noon, "nr": 3, "op": "c", "name": "m"}]


def test_a_sequence_is_of_changes_alone():
    wanted = ReadyRequest(columns(SEQUENCED), ("id",), "at", sequence="nr")
    with pytest.raises(ArgumentsError, match="sessionize has no --sequence"):
        text_of(READY["sessionize"], "sessions", wanted)


@pytest.mark.parametrize("name", ["cdc_apply", "scd2", "deduplicate_latest"])
def test_with_a_sequence_each_is_incremental_and_asks_nothing(name):
    wanted = ReadyRequest(columns(SEQUENCED), ("id",), "at", op="" if "latest" in name else "op", sequence="nr")
    action = read_action(text_of(READY[name], name, wanted), f"{name}.sql").action
    table = Table(name="ods.given", columns=columns(SEQUENCED), tiers=Tiers(hot="forever"))
    flow = Flow(flow="ready", steps=(Step(use=name, reads={"rows": Read(table="ods.given")}, writes=f"dwd.{name}"),))
    (step,) = compile_flow(flow, Registry([action]), {}, {"ods.given": table}).steps
    assert step.strategy is Strategy.RECOMPUTE, step.reason
    assert [notice.message for notice in step.notices] == []


def test_add_writes_an_action_that_compiles(tmp_path, capsys):
    write_project(tmp_path)
    words = ["--input", "dwd.orders", "--key", "product", "--order", "ordered_at", "--column", "quantity"]
    assert main(["action", "add", "hourly_rollup", *words, "--project", str(tmp_path), "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["file"] == "actions/aggregate/hourly_rollup_orders.sql"
    flow = tmp_path / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("steps:", f"steps:\n  {done['step']}"))
    assert main(["validate", "--project", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["action", "add", "hourly_rollup", *words, "--project", str(tmp_path)]) != 0
    assert "--name" in capsys.readouterr().err


def test_add_writes_nothing_behind_a_link(tmp_path, capsys):
    write_project(tmp_path)
    outside = tmp_path.parent / "outside_of_the_project"
    outside.mkdir()
    (tmp_path / "actions" / "aggregate").symlink_to(outside)
    words = ["--input", "dwd.orders", "--key", "product", "--order", "ordered_at", "--column", "quantity"]
    assert main(["action", "add", "hourly_rollup", *words, "--project", str(tmp_path)]) == 4
    assert "SH710 actions/aggregate is a link" in capsys.readouterr().err
    assert list(outside.iterdir()) == []
