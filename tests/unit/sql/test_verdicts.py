"""What Spark takes is taken with its types, or refused for a reason; what Spark refuses is refused; nothing crashes."""

import re

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from tests.golden import Golden
from tests.spark_verdicts import FOLDER, checked, recorded, shown, statements
from tests.tables import each

pytestmark = pytest.mark.proof

ODD = ("SH000", "SH220", "in each other")
"""What says that a fault is ours."""


@each("sql", statements())
def test_as_spark(sql: str) -> None:
    theirs = recorded()[sql].columns
    try:
        query = checked(sql)
    except (StreamhouseError, DefinitionErrors) as error:
        text = str(error)
        assert not any(word in text for word in ODD), text
        assert re.match(r"a\.sql:\d+:\d+: SH\d{3} ", text), text
        assert "hint: " in text, text
        return
    assert theirs, f"Spark refuses it, and it is taken: {query.sql}"
    assert shown(query) == theirs


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
        if recorded()[sql].columns:
            try:
                checked(sql)
            except (StreamhouseError, DefinitionErrors) as error:
                lines += [sql, *(f"  {line}" for line in str(error).splitlines()[:2])]
    golden("\n".join(lines) + "\n", FOLDER / "refused_here.txt")
