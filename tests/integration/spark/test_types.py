"""Our types are Spark's types, and our text means to Spark what the person's text meant."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.types import canonical_type
from tests.sql_corpus import LINES, expressions, queries, typed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
PARTS = 30  # expressions in one query: to ask for each alone takes ten times as long
_ROWS = """VALUES
 (1, 10L, 'x,1', 12.50BD, 1.5D, 2.5F, TIMESTAMP'2020-01-01 10:03:04', DATE'2020-01-01',
  TIMESTAMP_NTZ'2020-01-01 10:00:00', array(1, 2), named_struct('x', 1, 'y', named_struct('z', 'q')), map('x', 1),
  true, 3S, X'1f', 5, 1000, array(named_struct('p', 1, 'q', 'w')), 7, '2020', '2020-01-01 00:00:00', map('z', 1)),
 (2, 20L, 'y,2', 100.25BD, 1000D, 0.5F, TIMESTAMP'2020-01-01 11:33:04.5', DATE'2020-02-01',
  TIMESTAMP_NTZ'2020-01-01 11:00:00', array(3, 4), named_struct('x', 2, 'y', named_struct('z', 'r')), map('x', 2),
  false, 4S, X'2f', 6, 2000.5BD, array(named_struct('p', 2, 'q', 'e')), 8, '2021', '2020-01-01 00:00:01', map('w', 1))
"""


def _parts(every: list[str]) -> list[list[str]]:
    return [every[i : i + PARTS] for i in range(0, len(every), PARTS)]


def _selected(part: list[str]) -> str:
    return f"SELECT {', '.join(f'{e} AS v{i}' for i, e in enumerate(part))} FROM lines"


def _steady() -> list[str]:
    """A clock would tick between two runs."""
    return [e for e in expressions() if not any(c in e for c in ("now()", "current_timestamp", "localtimestamp"))]


@pytest.fixture(scope="module")
def views(spark: "SparkSession") -> Iterator["SparkSession"]:
    casts = ", ".join(f"CAST(col{i} AS {kind}) AS {name}" for i, (name, kind) in enumerate(LINES.items(), 1))
    spark.sql(f"SELECT {casts} FROM {_ROWS}").createOrReplaceTempView("lines")
    spark.sql(
        "SELECT * FROM VALUES (1, 5, 'one'), (2, 6, 'two'), (3, 7, 'three') AS p(a, c, name)"
    ).createOrReplaceTempView("p")
    yield spark
    for view in ("lines", "p"):
        spark.catalog.dropTempView(view)


@pytest.mark.parametrize("part", _parts(expressions()), ids=lambda part: part[0][:40])
def test_types_of_expressions(views: "SparkSession", part: list[str]) -> None:
    query, theirs = typed(_selected(part)), views.sql(_selected(part))
    wanted = list(zip(part, _types(theirs), strict=True))
    assert list(zip(part, [(c.name, c.type) for c in query.columns], strict=True)) == wanted
    assert list(zip(part, _types(views.sql(query.sql)), strict=True)) == wanted
    assert _proved(query, theirs) == []


@pytest.mark.parametrize("sql", queries())
def test_types(views: "SparkSession", sql: str) -> None:
    query, theirs = typed(sql), views.sql(sql)
    assert [(c.name, c.type) for c in query.columns] == _types(theirs)
    assert _types(views.sql(query.sql)) == _types(theirs)
    if proved := _proved(query, theirs):
        # Spark leaves out rows without a time before it groups them by windows; its schema does not say so.
        assert "window(" in sql
        assert not any(None in row for row in theirs.select(*proved).collect())


@pytest.mark.parametrize("sql", [*map(_selected, _parts(_steady())), *queries()])
def test_rows(views: "SparkSession", sql: str) -> None:
    assert _rows(views.sql(typed(sql).sql)) == _rows(views.sql(sql))


def test_corpus_is_large() -> None:
    assert len(expressions()) + len(queries()) >= 600


def _proved(query: CheckedQuery, theirs: "DataFrame") -> list[str]:
    """The columns that have no NULL, as we say, and of which Spark says that they may have one."""
    return [c.name for f, c in zip(theirs.schema.fields, query.columns, strict=True) if f.nullable and not c.nullable]


def _types(frame: "DataFrame") -> list[tuple[str, str]]:
    return [(f.name.lower(), canonical_type(f.dataType.simpleString())) for f in frame.schema.fields]


def _rows(frame: "DataFrame") -> list[Any]:
    return sorted(str(row) for row in frame.collect())
