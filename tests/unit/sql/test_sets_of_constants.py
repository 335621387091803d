"""UNION, INTERSECT and EXCEPT with rows that no table has."""

from tests.spark_verdicts import checked
from tests.tables import each


@each(
    "sql",
    [
        "SELECT id FROM t EXCEPT ALL SELECT id FROM u UNION SELECT 9 INTERSECT SELECT 9",
        "SELECT id FROM t UNION (SELECT 9 AS id INTERSECT SELECT 9)",
        "SELECT id FROM t EXCEPT SELECT 9 INTERSECT SELECT 8",
    ],
)
def test_a_set_operation_of_constants_alone_is_no_crash(sql: str) -> None:
    """`INTERSECT` of rows that no table has was an AssertionError."""
    checked(sql)
