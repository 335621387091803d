"""`streamhouse quarantine list` where a table cannot be read."""

import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.errors import StoreError, StoreUnavailableError, TableLostError, TableMissingError
from streamhouse.jobs.quarantine import QuarantineTable
from streamhouse.jobs.query import QueryService

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
