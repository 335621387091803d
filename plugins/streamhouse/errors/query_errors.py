"""SH6xx: a query that a person typed is wrong."""

from streamhouse.errors.base import StreamhouseError


class QueryError(StreamhouseError):
    """A query cannot be answered now.

    Cause:
        The page answers a limited number of queries at the same time.

    Example:
        SH600 2 queries run already
          hint: wait until one is done

    Remedy:
        Wait, then send the query again.
    """

    code = "SH600"
    exit_code = 3


class QueryRefusedError(QueryError):
    """The SQL of a query is wrong, names an unknown table or column, or would change data.

    Cause:
        A query is one SELECT over tables of the project. Statements that write, files, and functions that
        reach outside the tables are refused.

    Example:
        query:1:8: SH601 unknown column 'amunt'
          hint: did you mean 'amount'?

    Remedy:
        Correct the SQL at the line and column of the message. docs/query.md has the names that a query
        can use.
    """

    code = "SH601"


class QueryFailedError(QueryError):
    """The query is well formed and fails while it runs.

    Cause:
        A row cannot be computed (a cast, a division by zero), the result is too large, or Spark ended.

    Example:
        SH602 the query fails: [DIVIDE_BY_ZERO] Division by zero

    Remedy:
        Filter such rows, use TRY_CAST or `try_divide`, or add a LIMIT.
    """

    code = "SH602"
