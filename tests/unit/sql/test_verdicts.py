"""What Spark takes is taken with its types, or refused for a reason; what Spark refuses is refused; nothing crashes."""

import re
from functools import cache
from typing import NamedTuple

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from tests.golden import Golden
from tests.spark_verdicts import FOLDER, checked, recorded, shown, statements
from tests.tables import each

pytestmark = pytest.mark.proof

ODD = ("SH000", "SH220", "in each other")
"""What says that a fault is ours."""


class Verdict(NamedTuple):
    """Ours of a statement.

    Attributes:
        refusal: Why it is refused; empty: it is taken.
        columns: Those of its result, as `shown` gives them.
        sql: As it is understood.
    """

    refusal: str
    columns: tuple[str, ...] = ()
    sql: str = ""


@cache
def ours(sql: str) -> Verdict:
    try:
        query = checked(sql)
    except (StreamhouseError, DefinitionErrors) as error:
        return Verdict(str(error))
    return Verdict("", shown(query), query.sql)


@each("sql", statements())
def test_as_spark(sql: str) -> None:
    theirs, found = recorded()[sql].columns, ours(sql)
    if text := found.refusal:
        assert not any(word in text for word in ODD), text
        assert re.match(r"a\.sql:\d+:\d+: SH\d{3} ", text), text
        assert "hint: " in text, text
        return
    assert theirs, f"Spark refuses it, and it is taken: {found.sql}"
    assert found.columns == theirs


@each(
    "sql",
    [
        "SELECT v + 1 AS q, explode(array(q)) AS e FROM t",
        "SELECT v AS q, explode_outer(array(v, q)) AS e FROM t",
        "SELECT arr AS q, explode(q) AS e FROM t",
        "SELECT v + 1 AS q, stack(2, q, v) AS e FROM t",
    ],
)
def test_output_columns_in_what_makes_rows(sql: str) -> None:
    """Spark ends with an internal error, which is no verdict of `spark.txt`."""
    with pytest.raises(StreamhouseError, match=r"'q' is an output column, which .* does not see"):
        checked(sql)


def test_what_spark_takes_and_an_action_does_not(golden: Golden) -> None:
    lines = []
    for sql in statements():
        if recorded()[sql].columns and (text := ours(sql).refusal):
            lines += [sql, *(f"  {line}" for line in text.splitlines()[:2])]
    golden("\n".join(lines) + "\n", FOLDER / "refused_here.txt")
