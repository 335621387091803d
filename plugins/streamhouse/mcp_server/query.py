"""Rows by SQL: only of tables that let them out."""

import time

from streamhouse.errors import MissingPackageError
from streamhouse.mcp_server.answers import QueryAnswer
from streamhouse.mcp_server.arguments import QueryArguments
from streamhouse.mcp_server.rows import rows_of
from streamhouse.mcp_server.tool_context import Serving


async def query(serving: Serving, request: QueryArguments) -> QueryAnswer:
    """The first rows of one SELECT.

    Raises:
        QueryRefusedError: it is wrong, or no query.
        NotSharedError: a table that it reads, in whatever way, does not let its rows out.
        ProblemError: the engine cannot answer it.
    """
    begun = time.monotonic()
    tables = await serving.work.run(lambda: readable_tables(serving, request.sql))
    found = await rows_of(serving.asker, request.sql, request.limit)
    return QueryAnswer(result=found, tables=tables, seconds=round(time.monotonic() - begun, 3))


def readable_tables(serving: Serving, sql: str) -> tuple[str, ...]:
    """What a query reads, all of which may be shown.

    The engine parses the same text by the same code, so it reads nothing else. A table that becomes another between
    the two looks has another name.

    Raises:
        MissingPackageError: the engine, which reads queries, is not installed here.
    """
    try:
        from streamhouse.jobs.query import catalog_of
        from streamhouse.query.parse import parse_query
        from streamhouse.query.past import CatalogWithPast, KnownPast, unreadable_of
    except ModuleNotFoundError as error:  # all but queries works where no engine is
        raise MissingPackageError(
            f"the Python package '{error.name}' is not installed", hint="pip install 'streamhouse[engine]'"
        ) from error

    shared = serving.shared()
    # A table whose schema may not be shown is unknown here: errors list columns, and names that come near.
    every = catalog_of(serving.desk.project)
    shown = {name: table for name, table in every.items() if shared.sees(name)}
    catalog = CatalogWithPast(shown, KnownPast(), unreadable_of(every))
    uses = parse_query(sql, catalog).uses
    tables = tuple(dict.fromkeys(use.title.partition("$")[0] for use in uses))
    shared.require_rows(tables)
    return tables
