"""What is not looked at is named: a lake in an object store has no checksums of ours."""

from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import lost_tables
from streamhouse.services.layout import ServicesFolder

KEEP = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
FLOW = """\
flow: f
sources: {orders: {files: {path: data/*.csv, columns: {id: int}}}}
steps:
  - {use: keep, reads: {rows: orders}, writes: ods.far}
tables: {ods.far: {tiers: {warm: 30d}}}
"""


def test_a_lake_in_an_object_store_is_said_to_have_no_checksums(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    for name, text in {
        "actions/keep.sql": KEEP,
        "flows/f.yaml": FLOW,
        "data/a.csv": "id\n1\n",
        "streamhouse.yaml": "warm: {warehouse: 's3://lake/warm'}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (ServicesFolder.of(tmp_path).data / "something").mkdir(parents=True)
    assert "no checksums" in lost_tables(Project.at(tmp_path), None).unseen[Tier.WARM]
