"""Rows of queries, by the engine's own command in a process of its own that can be stopped."""

import asyncio
from contextlib import suppress

import anyio
from sqlglot import exp

from streamhouse.mcp_server.answers import Sample
from streamhouse.ui.answers import PageQueryAnswer
from streamhouse.ui.problem_data import ProblemError
from streamhouse.ui.query_process import Asker


def selecting(table: str) -> str:
    """A query for the rows of a table."""
    return exp.select("*").from_(exp.to_table(table, dialect="spark")).sql(dialect="spark")


async def rows_of(asker: Asker, sql: str, limit: int) -> Sample:
    """The first rows of a query; who asks must have looked whether they may be shown.

    When the caller is cancelled, the query's process is stopped in order before this returns.

    Raises:
        ProblemError: the engine refuses it, it fails, takes too long or gives too much.
    """
    task = asyncio.create_task(asker.ask(sql, limit, _waits))
    try:
        found = await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True), suppress(asyncio.CancelledError, ProblemError):
            await task
        raise
    return sample(found)


def sample(found: PageQueryAnswer) -> Sample:
    """An answer in the words of ours."""
    return Sample(
        columns=tuple(column.name for column in found.columns),
        types=tuple(column.type for column in found.columns),
        rows=found.rows,
        more=found.more,
    )


async def _waits() -> bool:
    return False
