"""Marks the order of rows, and the row that each was made of, in further columns: few operations of Spark keep them."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from streamhouse.stores.base import UNPLACED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ROW = "__row"
"""Name of that column, whose numbers rise from row to row, not by one."""

BESIDE = "__beside"
"""Name of a column that gives the order of rows with one `ROW`, which one row gave, wherever Spark puts them."""

ORIGIN = "__origin"
"""Name of a column with a number for each row of an input, which the rows that are made of it have too."""


def numbered(rows: "DataFrame") -> "DataFrame":
    """The rows with `ROW`, if they have none."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return rows if ROW in rows.columns else rows.withColumn(ROW, F.monotonically_increasing_id())


def marked(rows: "DataFrame", names: Collection[str]) -> "DataFrame":
    """The rows with some of `ROW` and `ORIGIN`. A `ROW` that they have stays: of rows that one row gave it is one."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    rows = numbered(rows) if ROW in names else rows
    return rows.withColumn(ORIGIN, F.monotonically_increasing_id()) if ORIGIN in names else rows


def apart(rows: "DataFrame") -> "DataFrame":
    """The rows, `numbered`, with `BESIDE`, so that Spark may move each by itself."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return numbered(rows).withColumn(BESIDE, F.monotonically_increasing_id())


def unplaced() -> "Column":
    """Whether the place of a row was lost, as the files of a lake were written together: see `OrderedStore`."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return F.col(ROW).between(UNPLACED.start, UNPLACED.stop - 1)


def without_places(rows: "DataFrame") -> "DataFrame":
    """The rows with a `ROW` that says that their order is not known."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return rows.withColumn(ROW, F.lit(UNPLACED.start) + F.monotonically_increasing_id())


def in_order(rows: pa.Table) -> pa.Table:
    """Rows that are `numbered`, or `apart`, in that order, without its columns; others as they are."""
    order_columns = [rows.column(name).to_numpy() for name in (BESIDE, ROW) if name in rows.column_names]
    if ROW not in rows.column_names:
        return rows
    rows, number = rows.drop_columns([name for name in (BESIDE, ROW) if name in rows.column_names]), order_columns[-1]
    if len(order_columns) == 1 and (number[1:] >= number[:-1]).all():
        return rows
    # take() lacks nested columns of several chunks. Rows that one row gave stay as they are among each other.
    return rows.combine_chunks().take(pa.array(np.lexsort(order_columns)))
