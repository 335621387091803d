"""Random files of delimited text: what we read is what Spark reads, and all else is refused with a remedy."""

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from tests.chance import drawn_seed
from tests.csv_files import RandomCsv, random_csv
from tests.gate.levels import deep
from tests.patience import SOAKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = drawn_seed(29)
NUMBER = int(os.environ.get("STREAMHOUSE_CSV_FILES", 2000 if SOAKING else 50))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(6 * 3600 if SOAKING else 1800),
    deep("random files judged by Spark; tests/unit/ingest/test_csv.py has the rules by name"),
]
Rows = list[tuple[Any, ...]]


def test_what_we_read_is_what_spark_reads(spark: "SparkSession", tmp_path: Path) -> None:
    read = refused = 0
    for number in range(NUMBER):
        made = random_csv(random.Random(f"{SEED}.{number}"))
        wrong, is_read = _difference(spark, made, tmp_path / f"{number}.csv")
        assert not wrong, f"STREAMHOUSE_SEED={SEED}, file {number}: {wrong}\n{made.options}\n{made.data[:2000]!r}"
        read, refused = read + is_read, refused + (not is_read)
    assert read > NUMBER // 4, f"only {read} files were read"
    assert refused > NUMBER // 8, f"only {refused} files were refused"


def _difference(spark: "SparkSession", made: RandomCsv, path: Path) -> tuple[str, bool]:
    """What is wrong, empty: nothing; and whether we read the file."""
    path.write_bytes(made.data)
    kinds = [type_ for _, type_ in made.schema]
    mine = [
        next(place for place, (name, _) in enumerate(made.schema) if name.lower() == column.lower())
        for column in made.options["columns"]
    ]

    def theirs(mode: str, **other: Any) -> Rows | None:
        schema = ", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds))
        reader = spark.read.options(**(made.spark | other)).option("mode", mode)
        try:
            table = reader.schema(schema).csv(str(path)).toArrow()
        except Exception as error:
            if "MALFORMED" in str(error) or "FAILED_READ_FILE" in str(error):
                return None
            raise
        return _rows(table.select(mine))

    accepted = [theirs("FAILFAST")]
    # Where values go over line ends, a quote that nothing closes takes the rest of the file in Spark, one line here.
    dropped = None if made.spark["multiLine"] else theirs("DROPMALFORMED")
    if "multi_line" not in made.options and not made.spark["multiLine"] and accepted[0] is None:
        accepted.append(theirs("FAILFAST", multiLine=True))
        dropped = None
    ours = _ours(made, path, {})
    split = _ours(made, path, {"on_bad_rows": "dead_letter"})
    if isinstance(split, list) and dropped is not None and not _in_order(split, dropped):
        return f"rows beside dead letters: {split}, and Spark has {dropped}", True
    if isinstance(ours, str):
        return ours, False
    if split != ours:
        return f"with dead letters {split}, without {ours}", True
    return ("" if ours in accepted else f"ours {ours}, Spark's {accepted}"), True


def _ours(made: RandomCsv, path: Path, more: dict[str, Any]) -> Rows | str:
    """The rows; empty: it was refused as it should; else what is wrong with the refusal."""
    try:
        source = open_files({"path": path.name, **made.options, **more}, path.parent)
        return _rows(source.read({}, source.available()))
    except SourceError as error:
        return "" if error.hint and error.at is not None and error.at.file == path.name else f"no remedy: {error}"


def _rows(table: pa.Table) -> Rows:
    """The rows as values that can be compared: NaN is a text, and times are numbers."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            number = pa.int64() if pa.types.is_timestamp(column.type) else pa.int32()
            column = column.cast(number)
        columns.append([repr(v) if isinstance(v, float) else v for v in column.to_pylist()])
    return list(zip(*columns, strict=True))


def _in_order(some: Rows, others: Rows) -> bool:
    remaining = iter(others)
    return all(any(row == other for other in remaining) for row in some)
