"""Hints of Spark: those of joins stay, those that change the parts of a result alone are dropped."""

import pytest

from streamhouse.errors import Location, StreamhouseError
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql import dialect
from tests.spark_verdicts import checked

AT = Location("a.sql")
HINTS = {
    "REPARTITION(3, k)": "",
    "REPARTITION_BY_RANGE(v)": "",
    "REBALANCE": "",
    "COALESCE(2)": "",
    "REPARTITION(3, k), BROADCAST(u)": "/*+ BROADCAST(u) */ ",
    "MERGE(u), COALESCE(1)": "/*+ MERGE(u) */ ",
}


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_that_changes_no_row_is_taken(hint):
    text = f"SELECT /*+ {hint} */ t.id FROM t JOIN u ON u.id = t.id"
    wanted = f"SELECT {HINTS[hint]}t.id FROM t JOIN u ON u.id = t.id"
    assert parse_query(text, AT).sql("spark") == wanted
    assert dialect.parse_query(text, AT).sql("spark") == wanted
    assert [column.name for column in checked(text).columns] == ["id"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT * FROM TABLE t", "write the name of the table alone"),
        ("SELECT * FROM TABLE(t)", "write the name of the table alone"),
        ("TABLE t", "write SELECT * FROM and the table"),
        ("FROM t SELECT id", "write SELECT before FROM"),
        ("FROM t |> WHERE v > 1", "write SELECT before FROM"),
        ("VALUES 1, 2", "write SELECT * FROM VALUES"),
        ("SELECT id FROM nope", "the action has no inputs"),
    ],
)
def test_other_ways_to_name_a_table_have_a_remedy(text, hint):
    with pytest.raises(StreamhouseError) as refused:
        checked(text)
    assert hint in (refused.value.hint or "")
