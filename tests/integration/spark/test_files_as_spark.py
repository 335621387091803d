"""Files are read as Spark reads them, or refused with their place and a remedy; Spark itself says how it reads them."""

import bz2
import gzip
import json
import math
import os
import random
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from tests.chance import drawn_seed
from tests.gate.levels import deep
from tests.json_values import VALUES
from tests.patience import SOAKING
from tests.random_json import JsonFile
from tests.random_parquet import ParquetFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

SEED = drawn_seed(29)
NUMBER = int(os.environ.get("STREAMHOUSE_FILES", 2_000 if SOAKING else 100))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(6 * 3600 if SOAKING else 1800),
    deep("random files judged by Spark; tests/unit/ingest has what Spark says of named ones"),
]


def by_spark(
    spark: "SparkSession", file: Path, columns: dict[str, str], *, multi_line: bool = False
) -> "list[Any] | str":
    """The rows; a text: why Spark refuses the file."""
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    reader = spark.read.schema(schema).option("mode", "FAILFAST").option("multiLine", multi_line)
    try:
        rows = (reader.json if ".json" in file.suffixes else reader.parquet)(str(file)).toArrow()
    except Exception as error:  # noqa: BLE001  py4j's and Spark's own, of many classes
        return str(error).splitlines()[0]
    return _plain(rows)


def by_us(file: Path, columns: dict[str, str]) -> "list[Any] | str":
    """The rows; a text: the error."""
    source = open_files({"path": file.name, "columns": columns}, file.parent)
    try:
        return _plain(source.read({}, source.available()))
    except SourceError as refused:
        error = refused
    assert error.at is not None, error
    assert error.at.file == file.name, error
    assert error.hint, error
    return str(error)


def _plain(rows: "pa.Table") -> list[Any]:
    import pyarrow as pa

    names = rows.column_names
    arrays = [_numbers(rows.column(name).combine_chunks()) for name in names]
    return [_comparable(row) for row in pa.table(arrays, names=names).to_pylist()]


def _numbers(values: "pa.Array") -> "pa.Array":
    """Times as numbers: Python has no years before 1."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    if pa.types.is_date(kind):
        return values.cast(pa.int32())
    return values


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {name: _comparable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(inner) for inner in value]
    return value


def compare(spark: "SparkSession", file: Path, columns: dict[str, str]) -> tuple[bool, bool]:
    """Whether Spark reads a file, and whether we do; what both read is equal."""
    ours, theirs = by_us(file, columns), by_spark(spark, file, columns)
    if isinstance(theirs, str) and not isinstance(ours, str) and ".json" in file.suffixes:
        theirs = by_spark(spark, file, columns, multi_line=True)  # for which we need no option
    shown = f"{columns}\n{file.read_bytes()!r}\nours: {ours}\nSpark's: {theirs}"
    assert isinstance(ours, str) or ours == theirs, shown
    return not isinstance(theirs, str), not isinstance(ours, str)


def test_compressed_files(spark: "SparkSession", tmp_path: Path) -> None:
    """Spark's own files of each form, and those of others: several parts, cut, and with more behind."""
    rows = spark.range(1000).selectExpr("id", "concat('ø', id) AS name").coalesce(1)
    columns = {"id": "bigint", "name": "string"}
    read = set()
    for form in ("gzip", "bzip2", "deflate", "lz4", "snappy"):
        rows.write.json(str(tmp_path / form), compression=form)
        (written,) = (tmp_path / form).glob("part-*")
        file = written.rename(tmp_path / f"{form}.json{written.suffix}")
        both = compare(spark, file, columns)
        read |= {form} if all(both) else set()
    assert read == {"gzip", "bzip2", "deflate"}
    for name, pack in {"x.json.gz": gzip.compress, "x.json.bz2": bz2.compress}.items():
        part = pack(b'{"id":1,"name":"a"}\n')
        for number, data in enumerate((part + part, part + pack(b"") + part, part[:-9], part + b'{"id":2}\n')):
            (tmp_path / f"{number}{name}").write_bytes(data)
            compare(spark, tmp_path / f"{number}{name}", columns)


def test_lists_and_objects_over_lines(spark: "SparkSession", tmp_path: Path) -> None:
    two = [{"n": 1, "note": 'a "b", [c]'}, {"n": 2, "note": "it's {so}"}]
    texts = [
        json.dumps(two),
        json.dumps(two, indent=2),
        json.dumps(two, indent=2).replace("\n", "\r\n"),
        "\ufeff" + json.dumps(two, indent=2),
        "\n".join(json.dumps([one]) for one in two),
        json.dumps(two[0]) + "\n" + json.dumps(two[1:]) + "\n[]",
        json.dumps(two[0] | {"note": {"x": [1, 2.50]}}, indent=2),
        "[\n]",
    ]
    for number, text in enumerate(texts):
        file = tmp_path / f"{number}.json"
        file.write_text(text)
        assert compare(spark, file, {"n": "int", "note": "string"})[1], text


@pytest.mark.parametrize("kind", VALUES)
def test_each_value_into_each_type(spark: "SparkSession", tmp_path: Path, kind: str) -> None:
    """Every form that a value of JSON has, in a column of each type: a line each."""
    lines = [f'{{"n": {number}, "a": {value} , "z": 1}}' for number, value in enumerate(VALUES[kind])]
    (tmp_path / "a.json").write_text("\n".join(lines))
    options = {"path": "a.json", "columns": {"n": "int", "a": kind}, "on_bad_rows": {"action": "dead_letter"}}
    source = open_files(options, tmp_path)
    rows = {row["n"]: row["a"] for row in _plain(source.read({}, source.available()))}
    schema = f"n int, a {kind}, bad string"
    reader = spark.read.schema(schema).option("columnNameOfCorruptRecord", "bad")
    theirs = _plain(reader.json(str(tmp_path / "a.json")).toArrow())
    assert len(theirs) == len(lines)
    read = [(number, row["a"]) for number, row in enumerate(theirs) if row["bad"] is None]
    odd = [(VALUES[kind][n], rows[n], answer) for n, answer in read if n in rows and rows[n] != answer]
    assert not odd, f"value, ours, Spark's: {odd}"
    more = [VALUES[kind][n] for n in rows.keys() - dict(read).keys()]
    assert not more, f"read by us alone: {more}"
    print(kind, "read by Spark alone:", [VALUES[kind][n][:60] for n in dict(read).keys() - rows.keys()])  # noqa: T201


def test_random_json(spark: "SparkSession", tmp_path: Path) -> None:
    chance = random.Random(SEED)
    read: list[tuple[bool, bool]] = []
    for number in range(NUMBER):
        made = JsonFile(chance, mess=chance.choice((0, 0, 0.3, 1)))
        file = tmp_path / f"{number}.json"
        file.write_bytes(made.data)
        read.append(compare(spark, file, made.columns))
    both, spark_alone = read.count((True, True)), read.count((True, False))
    assert both > 3 * spark_alone, f"{both} read by both, {spark_alone} by Spark alone"


def test_random_parquet(spark: "SparkSession", tmp_path: Path) -> None:
    """What both read is equal. We read more than Spark: types as others where nothing is lost."""
    chance = random.Random(SEED)
    both, spark_alone, odd = 0, [], []
    for number in range(NUMBER):
        made = ParquetFile(chance, mess=chance.choice((0, 0, 0.3)))
        file = tmp_path / f"{number}.parquet"
        file.write_bytes(made.data)
        ours, theirs = by_us(file, made.columns), by_spark(spark, file, made.columns)
        if isinstance(theirs, str):
            continue
        if isinstance(ours, str):
            spark_alone.append(f"{made.columns}: {ours}")
        elif ours != theirs:
            odd.append(f"{number} {made.columns}\nours:    {ours}\nSpark's: {theirs}")
        both += ours == theirs
    assert not odd, "\n".join(odd)
    assert both > NUMBER / 2, spark_alone
