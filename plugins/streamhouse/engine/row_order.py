"""Tells the order of rows by a further column: Spark keeps it in few of the things it does with rows."""

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROW = "__row"
"""Name of that column, whose numbers rise from row to row, not by one."""


def numbered(rows: "DataFrame") -> "DataFrame":
    """The rows with `ROW`, if they have none."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return rows if ROW in rows.columns else rows.withColumn(ROW, F.monotonically_increasing_id())


def in_order(rows: pa.Table) -> pa.Table:
    """Rows that are `numbered` in that order, without the column; others as they are."""
    if ROW not in rows.column_names:
        return rows
    number, rows = rows.column(ROW).to_numpy(), rows.drop_columns([ROW])
    if (number[1:] >= number[:-1]).all():
        return rows
    # take() lacks nested columns of several chunks. Rows that one row gave stay as they are among each other.
    return rows.combine_chunks().take(pa.array(number.argsort(kind="stable")))
