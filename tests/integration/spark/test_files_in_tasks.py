"""Files as people have them, compressed or written in odd ways, through Spark's tasks into tables."""

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.engine.rows_source import spread_changes
from streamhouse.jobs.infer_source import infer_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import PlannedSource
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, deep("the rules of files are those of tests/unit/ingest; here tasks read them")]

FLOW = "packed"
SPARK = {
    "separator": "sep",
    "date_format": "dateFormat",
    "timestamp_format": "timestampFormat",
    "null_value": "nullValue",
    "multi_line": "multiLine",
}


def zstd(data: bytes) -> bytes:
    made = pa.BufferOutputStream()
    with pa.CompressedOutputStream(made, "zstd") as packed:
        packed.write(data)
    return made.getvalue().to_pybytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress}
ROWS = [{"id": number, "name": f"ø {number}", "amount": number / 4} for number in range(25_000)]
"""More than one task reads: a share has 10,000."""
PACKED = {
    "csv": "id,name,amount\n" + "".join(f'{row["id"]},"{row["name"]}",{row["amount"]}\n' for row in ROWS),
    "json": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS),
}
GERMAN = {"separator": ";", "decimal": ",", "date_format": "dd.MM.yyyy"}
ODD: dict[str, tuple[bytes, dict[str, Any]]] = {
    "bank": (
        'Tag;Empfänger;Zweck;Betrag\n31.01.2026;Müller;"Miete; Januar";-1050,00\n01.02.2026;Korn;;3,20\n'.encode(
            "latin-1"
        ),
        GERMAN | {"encoding": "latin-1"},
    ),
    "bom": ('\ufeffstop_id,name,lat\nS1,"Main St, North",59.911491\n0023,Skøyen,59.9\n'.encode(), {}),
    "doubled": (b'id,note\n1,"says ""no"""\n2,"x, y"\n', {"escape": '"'}),
    "lines": (b'id,note\n1,"ok\n\nsee me"\n2,"a\r\nb"\n', {"multi_line": True}),
    "dates": (
        b"d,t\n1/31/2026,1/31/2026 1:30 PM\n12/1/2025,12/1/2025 11:05 AM\n",
        {"date_format": "M/d/yyyy", "timestamp_format": "M/d/yyyy h:mm a"},
    ),
    "variants": (b"##file\n#CHROM\tPOS\n1\t10177\nX\t5\n", {"separator": "\t", "comment": "#", "header": False}),
    "words": (b"id,v,w\n1,NULL,N/A\n2,5,\\N\n3,NULL,x\n", {"null_value": "NULL"}),
    "excel": ("id\tname\r\n1\tÅse\r\n2\t\r\n".encode("utf-16"), {"encoding": "utf-16", "separator": "\t"}),
    "sizes": (b"zip|ean|v\n01234|0012345678905|1.5E+02\n98765|4012345678901|1e-7\n", {"separator": "|"}),
}


def inferred(root: Path, file: str, options: dict[str, Any]) -> dict[str, str]:
    written = tuple(
        f"{name}={json.dumps(value) if isinstance(value, bool) else value}" for name, value in options.items()
    )
    found = infer_source(Project(root, Settings()), f"data/{file}", None, None, written, edits=False).found
    assert all(column.type for column in found.columns), found
    return {column.name: str(column.type) for column in found.columns}


def by_spark(spark: "SparkSession", file: Path, columns: dict[str, str], options: dict[str, Any]) -> list[Any]:
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    reader = spark.read.schema(schema).option("mode", "FAILFAST")
    if file.suffix == ".json":
        return rows_of(reader.json(str(file)).toArrow())
    named = {SPARK.get(name, name): value for name, value in options.items() if name != "decimal"}
    if options.get("decimal") == ",":
        named["locale"] = "de-DE"
    if options.get("encoding") == "latin-1":
        named["encoding"] = "iso-8859-1"  # Spark knows it by this name alone
    if options.get("encoding") == "utf-16":
        named["multiLine"] = True
    return rows_of(reader.options(**({"header": True} | named)).csv(str(file)).toArrow())


def rows_of(table: pa.Table) -> list[Any]:
    return sorted(tuple(str(value) for value in row.values()) for row in table.to_pylist())


@pytest.fixture
def in_tasks(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Source → the most tasks that read it in one epoch; filled while a flow runs."""
    found: dict[str, int] = {}

    def noted(session: "SparkSession", origin: PlannedSource, *given: Any) -> "DataFrame":
        frame = spread_changes(session, origin, *given)
        found[origin.name] = max(found.get(origin.name, 0), frame.rdd.getNumPartitions())
        return frame

    monkeypatch.setattr("streamhouse.engine.epoch.spread_changes", noted)
    return found


def test_each_file_is_read_in_tasks_as_spark_reads_it(
    spark: "SparkSession", tmp_path: Path, in_tasks: dict[str, int]
) -> None:
    files: dict[str, tuple[str, dict[str, Any], str]] = {}  # source → its file, its options, the file that Spark reads
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for kind, text in PACKED.items():
        for ending, pack in PACKERS.items():
            name = f"{kind}{ending.replace('.', '_')}"
            files[name] = f"{name}.{kind}{ending}", {}, f"{kind}.{kind}"
            (tmp_path / "data" / files[name][0]).write_bytes(pack(text.encode()))
    for name, (data, options) in ODD.items():
        files[name] = f"{name}.csv", options, f"{name}.csv"
        (tmp_path / "data" / files[name][0]).write_bytes(data)
    columns = {name: inferred(tmp_path, file, options) for name, (file, options, _) in files.items()}
    sources = {
        name: {"files": {"path": f"data/{file}", "columns": columns[name], **options}}
        for name, (file, options, _) in files.items()
    }
    flow = {
        "flow": FLOW,
        "local_epoch_rows": 1,
        "sources": sources,
        "steps": [{"use": "keep", "reads": {"given": name}, "writes": f"ods.{name}"} for name in files],
        "tables": {f"ods.{name}": {"tiers": {"warm": "forever"}} for name in files},
    }
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(json.dumps(flow))
    action = "/* ---\naction: keep\nstep: ingest\ninputs: {given: {}}\n--- */\nSELECT * FROM given\n"
    (tmp_path / "actions" / "keep.sql").write_text(action)
    project = Project(tmp_path, Settings())
    plan, stores = plan_of(project, FLOW), open_stores(project, spark, None, [Tier.WARM])
    try:
        with project.state() as state:
            meter = Meter(plan, lambda _: None, once=True)
            carry(Open(project, spark, "", stores, state), plan, meter, once=True)
        stored = {name: stores[Tier.WARM].read_state(plan.tables[f"ods.{name}"]) for name in files}
    finally:
        for store in stores.values():
            store.close()
    assert in_tasks.keys() == files.keys()
    if spark.sparkContext.defaultParallelism > 1:
        assert all(tasks > 1 for name, tasks in in_tasks.items() if name.startswith(("csv", "json"))), in_tasks
    wrong = {}
    for name, (_, options, judged) in files.items():
        mine = rows_of(stored[name].select([column.lower() for column in columns[name]]))
        theirs = by_spark(spark, tmp_path / "data" / judged, columns[name], options)
        if mine != theirs:
            wrong[name] = columns[name], mine[:5], theirs[:5]
    assert not wrong
