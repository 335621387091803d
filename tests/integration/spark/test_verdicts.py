"""What Spark says of statements in the shapes of its reference, and of the examples of all its functions."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from sqlglot import exp

from streamhouse.errors import DefinitionErrors, StreamhouseError
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql import functions
from streamhouse.sql.refused import NOT_OF_VALUES
from streamhouse.sql.refused import REFUSED as REFUSED_FUNCTIONS
from streamhouse.sql.schema import analyse
from streamhouse.sql.types import canonical_type
from tests.gate.levels import deep
from tests.golden import Golden
from tests.spark_functions import names
from tests.spark_verdicts import AT, FOLDER, REFUSED, ROWS, TABLES, checked, statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1800),
    deep("asks Spark about each statement again; tests/unit/sql/test_verdicts.py has what it said"),
]
_CLOCKS = ("current_date", "current_timestamp", "now()")
_EXAMPLES = re.compile(r"Examples:\n(.*?)(?:\n\s*(?:Note|Since|Group|Deprecated):|\Z)", re.DOTALL)
_MANY = ("explode", "inline", "stack(", "json_tuple")


@pytest.fixture(scope="module")
def views(spark: "SparkSession") -> "SparkSession":
    session = spark.newSession()
    for name, types in TABLES.items():
        casts = ", ".join(
            f"parse_json(col{i}) AS {column}" if kind == "variant" else f"CAST(col{i} AS {kind}) AS {column}"
            for i, (column, kind) in enumerate(types.items(), 1)
        )
        session.sql(f"SELECT {casts} FROM {ROWS[name]}").createOrReplaceTempView(name)
    return session


def _columns(frame: "DataFrame") -> list[str]:
    return [f"{f.name.lower()} {_type(f.dataType.simpleString())}" for f in frame.schema.fields]


def _type(text: str) -> str:
    try:
        return canonical_type(text)
    except ValueError:
        return text


def said(session: "SparkSession", sql: str) -> str:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return "; ".join(_columns(session.sql(sql)))
    except (PySparkException, Py4JJavaError):  # it lacks the text of one of its own errors
        return REFUSED


def test_what_spark_says(views: "SparkSession", golden: Golden) -> None:
    lines = [line for sql in statements() for line in (sql, f"  {said(views, sql)}")]
    golden("\n".join(lines) + "\n", FOLDER / "spark.txt")


def _rows(session: "SparkSession", sql: str) -> list[str]:
    """The rows in an order of their own, or the error that they end with."""
    from pyspark.errors import PySparkException

    try:
        return sorted(str(tuple(row)) for row in session.sql(sql).collect())
    except PySparkException as error:
        return [str(error.getCondition())]


@pytest.mark.parametrize("sql", [sql for sql in statements() if "LIMIT" not in sql])
def test_rows(views: "SparkSession", sql: str) -> None:
    try:
        ours = checked(sql).sql
    except (StreamhouseError, DefinitionErrors):
        return
    if not any(clock in sql for clock in _CLOCKS):
        assert _rows(views, ours) == _rows(views, sql)


def examples(session: "SparkSession") -> Iterator[tuple[str, str]]:
    """Function → each example that Spark's own description of it has."""
    for name in _registered(session):
        text = "\n".join(row[0] for row in session.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect())
        found = _EXAMPLES.search(text)
        for sql in re.findall(r"^\s*> (SELECT.*?);\s*$", found[1] if found else "", re.DOTALL | re.MULTILINE):
            yield name, " ".join(sql.split())


def _types_of(sql: str) -> list[str]:
    """As an action would have it; columns without a name get one."""
    query = parse_query(sql, AT).copy()
    for i, item in enumerate(query.selects):
        many = any(name in item.sql("spark").lower() for name in _MANY)
        if not isinstance(item, (exp.Alias, exp.Aliases, exp.Column, exp.Star)) and not many:
            item.replace(exp.alias_(item.copy(), f"z{i}"))
    return [column.type for column in analyse(query, {}, sql, AT).columns]


def test_examples_of_functions_have_the_types_of_spark(views: "SparkSession") -> None:
    from pyspark.errors import PySparkException

    wrong, taken = [], set()
    for name, sql in examples(views):
        try:
            ours = _types_of(sql)
        except (StreamhouseError, DefinitionErrors):
            continue
        try:
            theirs = [_type(f.dataType.simpleString()) for f in views.sql(sql).schema.fields]
        except PySparkException as error:
            wrong.append(f"{sql}: Spark refuses it: {error}")
            continue
        taken.add(name)
        if ours != theirs:
            wrong.append(f"{sql}: {ours}, and for Spark {theirs}")
    assert wrong == []
    assert len(taken) >= 350


def _registered(session: "SparkSession") -> list[str]:
    """The functions of a session, from which those that do more than compute are gone."""
    return sorted(row[0] for row in session.sql("SHOW FUNCTIONS").collect())


def test_the_list_of_functions(views: "SparkSession") -> None:
    registered = set(_registered(views))
    assert registered - set(names()) == set()
    assert set(names()) - registered <= NOT_OF_VALUES


def test_aggregates_are_those_of_spark(views: "SparkSession") -> None:
    """A function that folds rows and is not known to do so would pass for one of a single row."""
    catalog = views._jsparkSession.sessionState().catalog()
    groups = {name: str(catalog.lookupFunctionInfo(_identifier(views, name)).getGroup()) for name in _registered(views)}
    folds = {name for name, group in groups.items() if group == "agg_funcs"} - REFUSED_FUNCTIONS.keys()
    makes = {name for name, group in groups.items() if group == "generator_funcs"} - REFUSED_FUNCTIONS.keys()
    assert folds - functions.AGGREGATES == set()
    assert makes - functions.GENERATORS == set()


def _identifier(session: "SparkSession", name: str) -> Any:
    jvm: Any = session._jvm
    return jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name)
