"""`streamhouse import` of lakes that others own, in Iceberg and Paimon."""

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import ImportRefusedError, StoreError
from streamhouse.jobs.import_tables import ImportRequest, import_tables
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.planner.found_tables import TablePatterns
from streamhouse.project.project import Project
from streamhouse.stores.fluss.store import FlussStore
from tests.other_lakes import IcebergLake, PaimonLake

SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("name", pa.string()), ("placed_at", pa.timestamp("us"))]
)
SEEN = (SeenColumn(name="id", type="bigint", nullable=False), SeenColumn(name="name", type="string"))
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


def test_tables_of_fluss(project, monkeypatch):
    known = {
        "ods.log": Shape(object="ods.log", tier="hot", identity="1", version="1", columns=SEEN),
        "ods.state": Shape(
            object="ods.state", tier="hot", identity="2", version="1", columns=SEEN, primary_key=("id",)
        ),
    }

    def shape(_, name):
        if name == "ods.odd":
            raise StoreError("ods.odd: it has a column of a type that is unknown")
        return known[name]

    monkeypatch.setattr(FlussStore, "names", lambda _: ["ods.log", "ods.odd", "ods.state"])
    monkeypatch.setattr(FlussStore, "shape", shape)
    monkeypatch.setattr(FlussStore, "identity", lambda _, name: name)
    flow, sources = imported(project, "events", "ods.*")
    columns = {"id": "bigint", "name": "string"}
    assert sources == {
        "log": {"connection": "events", "table": "ods.log", "mode": "append", "columns": columns},
        "state": {
            "connection": "events", "table": "ods.state", "mode": "upsert", "primary_key": ["id"], "columns": columns,
        },
    }  # fmt: skip
    assert "# left out: ods.odd: ods.odd: it has a column of a type that is unknown" in flow


@pytest.mark.parametrize(
    ("connection", "patterns", "servers", "message"),
    [
        ("lake", ("sales.none",), "", "'sales.none' matches no table"),
        ("lake", (), "", "there are no tables"),
        ("lake", (), "broker:9092", "'lake' is a lake"),
        ("events", (), "broker:9092", "'events' is a lake"),
    ],
)
def test_what_cannot_be_imported_is_refused(project, connection, patterns, servers, message):
    (project.root / "lake").mkdir()
    with pytest.raises(ImportRefusedError, match=message) as refused:
        imported(project, connection, *patterns, servers=servers)
    assert refused.value.hint
