"""Times as texts whose instant is outside the years 1 to 9999: one error in every format, with its place."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.files import open_files

OUTSIDE = {
    "timestamp": ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-02:00", "0000-12-31"],
    "timestamp_ntz": ["0000-12-31T23:59:59"],
    "date": ["0000-12-31"],
}
EDGES = {
    "timestamp": ["0001-01-01T02:00:00+02:00", "9999-12-31T21:59:59-02:00"],
    "timestamp_ntz": ["0001-01-01T00:00:00", "9999-12-31T23:59:59"],
    "date": ["0001-01-01", "9999-12-31"],
}
CASES = [(kind, text) for kind, texts in OUTSIDE.items() for text in texts]


def source(folder, form, kind, texts):
    """Rows whose column `v` has these texts."""
    options = {"columns": {"id": "int", "v": kind}}
    if form == "csv":
        (folder / "a.csv").write_text("id,v\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    elif form == "json":
        rows = [{"id": n, "v": text} for n, text in enumerate(texts)]
        (folder / "a.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif form == "parquet":
        pq.write_table(pa.table({"id": list(range(len(texts))), "v": texts}), folder / "a.parquet")
    else:
        rows = [{"before": None, "after": {"id": n, "v": text}, "op": "c"} for n, text in enumerate(texts)]
        (folder / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return open_cdc({"path": "a.jsonl", "primary_key": ["id"], **options}, folder)
    return open_files({"path": f"a.{form}", **options}, folder)


def read(opened):
    found = opened.read({}, opened.available())
    return found if isinstance(found, pa.Table) else found.upserts


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "cdc"])
@pytest.mark.parametrize(("kind", "text"), CASES)
def test_a_time_that_cannot_be_shown(tmp_path, form, kind, text):
    good = EDGES[kind][0]
    with pytest.raises(SourceError) as refused:
        read(source(tmp_path, form, kind, [good, text]))
    line = {"csv": 3}.get(form, 2)
    assert str(refused.value).startswith(f"a.{'jsonl' if form == 'cdc' else form}:{line}:")
    assert refused.value.hint


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "cdc"])
@pytest.mark.parametrize("kind", EDGES)
def test_the_first_and_the_last_are_read(tmp_path, form, kind):
    rows = read(source(tmp_path, form, kind, EDGES[kind]))
    assert len(rows.column("v").to_pylist()) == 2
