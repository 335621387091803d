"""Sums that would count a row several times: those of a joined table alone, over rows that point to it."""

from streamhouse.planner.request import Block
from streamhouse.planner.sql.scope import columns_in


def repeated_sum(block: Block) -> str:
    """Why a figure of a block counts rows of a joined table several times, in words; empty: none does.

    Each row of a joined table is there once for each row of the base that points to it, so a sum of its columns alone
    is too high. Inner blocks are looked at, too.
    """
    tables = {join.role: join.table for join in block.joins}
    for measure in block.measures:
        columns = columns_in(measure.of) if measure.of is not None else ()
        if measure.function == "sum" and columns and all(column.role in tables for column in columns):
            name = f"{tables[columns[0].role]}.{columns[0].column}"
            return f"a sum of {name} over rows of {block.base} would count rows several times"
    return repeated_sum(block.inner) if block.inner is not None else ""
