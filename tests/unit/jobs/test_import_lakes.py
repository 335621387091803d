"""`streamhouse import` of lakes that others own, in Iceberg and Paimon."""

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import ImportRefusedError
from streamhouse.jobs.import_tables import ImportRequest, import_tables
from streamhouse.planner.found_tables import TablePatterns
from streamhouse.project.project import Project
from tests.other_lakes import IcebergLake, PaimonLake

SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("name", pa.string()), ("placed_at", pa.timestamp("us"))]
)
CONNECTIONS = {
    "lake": {"kind": "iceberg", "warehouse": "lake"},
    "crm": {"kind": "paimon", "warehouse": "crm"},
    "events": {"kind": "fluss", "servers": "localhost:9123"},
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": CONNECTIONS}))
    return Project.at(tmp_path)


def imported(project, connection, *patterns, servers=""):
    wanted = ImportRequest(connection, TablePatterns(patterns), "f", servers=servers)
    flow = import_tables(project, wanted).files[-1].after
    return flow, {name: one["table"] for name, one in yaml.safe_load(flow)["sources"].items()}


def test_tables_of_iceberg(project):
    lake = IcebergLake(project.root / "lake")
    lake.create("sales.orders", SCHEMA)
    lake.create("sales.times", pa.schema([("id", pa.int64()), ("at", pa.time64("us"))]))
    lake.create("hr.people", SCHEMA)
    with lake.table("hr.people").update_schema() as change:
        change.set_identifier_fields("id")
        change.update_column("name", doc="as in the passport")
    lake.publish("hr.people")
    flow, sources = imported(project, "lake")
    columns = {"id": "bigint", "name": "string", "placed_at": "timestamp_ntz"}
    assert sources["orders"] == {"connection": "lake", "table": "sales.orders", "mode": "append", "columns": columns}
    assert sources["people"] == {
        "connection": "lake", "table": "hr.people", "mode": "snapshot_diff", "primary_key": ["id"], "columns": columns,
    }  # fmt: skip
    assert sources["times"]["columns"] == {"id": "bigint"}
    assert "# left out: at (time): Spark does not have the type" in flow
    assert "as in the passport" in flow
    assert list(imported(project, "lake", "hr.*")[1]) == ["people"]


def test_tables_of_paimon(project):
    lake = PaimonLake(project.root / "crm")
    lake.create("crm.events", SCHEMA)
    lake.create("crm.customers", SCHEMA, ("id",))
    lake.create("crm.firsts", SCHEMA, ("id",), merge_engine="first-row")
    _, sources = imported(project, "crm")
    assert {name: (one["mode"], one.get("primary_key")) for name, one in sources.items()} == {
        "customers": ("upsert", ["id"]),
        "events": ("append", None),
        "firsts": ("snapshot_diff", ["id"]),
    }


@pytest.mark.parametrize(
    ("connection", "patterns", "servers", "message"),
    [
        ("lake", ("sales.none",), "", "'sales.none' matches no table"),
        ("lake", (), "", "there are no tables"),
        ("lake", (), "broker:9092", "'lake' is a lake"),
        ("events", (), "", "'events' is a Fluss cluster, whose tables are not listed"),
    ],
)
def test_what_cannot_be_imported_is_refused(project, connection, patterns, servers, message):
    (project.root / "lake").mkdir()
    with pytest.raises(ImportRefusedError, match=message) as refused:
        imported(project, connection, *patterns, servers=servers)
    assert refused.value.hint
