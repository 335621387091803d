"""`streamhouse quarantine list` where a table cannot be read."""

import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.errors import StoreError, StoreUnavailableError, TableLostError, TableMissingError
from streamhouse.jobs.quarantine import QuarantineTable
from streamhouse.jobs.query import QueryService
from streamhouse.project.project import Project
from tests.two_flows import HOW, apply_both, spoil_plan

TABLE = QuarantineTable("ods.orders__dead_letters", "dead_letters", "orders", "orders")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreError("a file of it is damaged"), 5),
        (TableLostError("it is gone"), 5),
        (TableMissingError("it is not made yet"), 0),
        (StoreUnavailableError("no Fluss is running"), 0),
    ],
)
def test_a_table_that_is_lost_or_damaged_ends_with_the_code_of_its_store(tmp_path, monkeypatch, capsys, error, code):
    def ask(*_, **__):
        raise error

    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("streamhouse.jobs.quarantine.quarantine_tables", lambda _: [TABLE])
    monkeypatch.setattr(QueryService, "ask", ask)
    assert main(["quarantine", "list"]) == code
    assert error.message in " ".join(capsys.readouterr().out.split())
    assert main(["quarantine", "list", "--json"]) == code
    [table] = json.loads(capsys.readouterr().out)["tables"]
    assert (table["rows"], table["problem"], table["is_lost"]) == (None, error.message, code == 5)


def letters_of(plan):
    return QuarantineTable(f"ods.{plan.flow}__dead_letters", "dead_letters", plan.flow, plan.flow)


@pytest.mark.parametrize("how", HOW)
def test_the_plan_of_a_flow_that_cannot_be_read_hides_no_table_of_another(tmp_path, monkeypatch, capsys, how):
    def ask(*_, **__):
        raise TableMissingError("it is not made yet")

    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(QueryService, "ask", ask)
    monkeypatch.setattr("streamhouse.jobs.quarantine.quarantine_tables", lambda plans: list(map(letters_of, plans)))
    project = Project.at(tmp_path)
    apply_both(project)
    assert main(["quarantine", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {one["flow"] for one in document["tables"]} == {"orders", "others"}
    assert document["lost"] == []
    spoil_plan(project, how)
    assert main(["quarantine", "list"]) == 6
    assert f"orders: SH504 {HOW[how]}" in " ".join(capsys.readouterr().out.split())
    assert main(["quarantine", "list", "--json"]) == 6
    document = json.loads(capsys.readouterr().out)
    assert {one["flow"] for one in document["tables"]} == {"others"}
    assert [one["flow"] for one in document["lost"]] == ["orders"]
    assert main(["quarantine", "show", "ods.orders__dead_letters"]) == 6
    assert HOW[how] in " ".join(capsys.readouterr().err.split())
