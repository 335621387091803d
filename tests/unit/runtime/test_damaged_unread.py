"""A damaged file of rows that a flow has not read: `trigger` sees it, as it looks for rows that are gone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from streamhouse.cli.main import main
from streamhouse.errors import StoreUnavailableError
from streamhouse.orchestrator.approval_text import lost_texts
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore
from tests.damage import DAMAGES, damaged
from tests.unit.runtime.test_damaged_lakes import COLUMNS, KEEP

COPY = f"/* ---\naction: copy\nstep: clean\ninputs: {{rows: {COLUMNS}}}\n--- */\nSELECT id, v FROM rows\n"
FLOWS = {
    "f": f"""\
flow: f
sources: {{orders: {{files: {{path: data/*.csv, columns: {COLUMNS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.read}}
tables: {{ods.read: {{tiers: {{warm: 30d}}}}}}
""",
    "g": """\
flow: g
steps:
  - {use: copy, reads: {rows: ods.read}, writes: dwd.copied}
tables: {dwd.copied: {tiers: {warm: 30d}}}
""",
}
EPOCHS = 3


@pytest.fixture
def project(tmp_path, monkeypatch):
    """`g` has read the first of three commits of `f`."""
    files = {"actions/keep.sql": KEEP, "actions/copy.sql": COPY, "data/a.csv": "id,v\n1,2\n", "streamhouse.yaml": ""}
    for name, text in (files | {f"flows/{name}.yaml": text for name, text in FLOWS.items()}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    project = Project.at(tmp_path)
    with project.state() as state:
        store = PaimonStore(project.warm, project.state_dir / "locks", ledger=state.stored_tables)
        for flow, plan in desired_plans(project).items():
            state.save_plan(plan)
            lease = state.acquire(flow, this_owner(), timedelta(minutes=1), datetime.now(UTC))
            [segment] = plan.segments
            [table] = segment.tables.values()
            store.create(table)
            read = {} if flow == "f" else {"ods.read": {"snapshot": 1}}
            for epoch in range(EPOCHS if flow == "f" else 1):
                state.begin_epoch(lease, segment.name, epoch, epoch, datetime.now(UTC))
                if flow == "f":
                    rows = pa.Table.from_pylist([{"id": epoch, "v": 1}], arrow_schema(table.columns))
                    store.write(table, Changes(rows), WriteContext(f"{flow}/{segment.name}", epoch))
                record = EpochRecord(flow, segment.name, epoch, epoch, 1, 1, read, read, {table.name: store.end(table)})
                state.finish_epoch(lease, record)
            state.release(lease)
    assert main(["trigger", "--once"]) == 0
    return project


def snapshot(project, number):
    return Path(project.warm) / "ods.db" / "read" / "snapshot" / f"snapshot-{number}"


@pytest.mark.parametrize("how", DAMAGES)
def test_trigger_names_a_table_whose_rows_cannot_be_read_and_ends_with_6(project, capsys, how):
    capsys.readouterr()
    with damaged(snapshot(project, 2), how):
        assert main(["trigger", "--once"]) == 6
        named = capsys.readouterr().out.split("\n  ")[0].splitlines()[0]
        assert named.startswith("g: SH400 ")
        assert main(["trigger", "--once", "--json"]) == 6
        document = json.loads(capsys.readouterr().out)
        [lost] = document["lost"]
        assert (lost["flow"], lost["kind"], lost["tier"], lost["tables"]) == ("g", "unreadable", "warm", ["ods.read"])
        assert lost["hint"].endswith("streamhouse restore g --from-sources")
        assert "SH400" in lost_texts(document)[0]
        assert main(["trigger", "--once", "f"]) == 0, "of another flow nothing is lost"
    assert main(["trigger", "--once"]) == 0


def test_a_store_that_is_away_is_no_loss(project, capsys, monkeypatch):
    def away(*_):
        raise StoreUnavailableError("it is away")

    monkeypatch.setattr(PaimonStore, "advance", away)
    assert main(["trigger", "--once"]) == 0
    assert "not looked at: ods.read (it is away)" in capsys.readouterr().out
