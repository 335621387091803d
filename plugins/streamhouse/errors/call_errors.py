"""SH8xx: a call of a tool (MCP) is refused: arguments, limits, rows or schemas that may not leave."""

from streamhouse.errors.base import StreamhouseError


class CallError(StreamhouseError):
    """A call of a tool cannot be answered.

    Cause:
        A client of the Model Context Protocol sent a call that the server refuses.

    Example:
        No message has this code. SH801 to SH805 are errors of this kind.

    Remedy:
        See the code of the message.
    """

    code = "SH800"
    exit_code = 3


class ArgumentsError(CallError):
    """The arguments of a call do not fit the schema of its tool.

    Cause:
        A client left out an argument, misspelt one, or sent a value of another type.

    Example:
        SH801 unknown prompt 'desing'
          hint: did you mean 'design'?

    Remedy:
        Send arguments as the tool's `inputSchema` in `tools/list` says.
    """

    code = "SH801"


class CallTooLongError(CallError):
    """A call took longer than the server allows, and was cancelled.

    Cause:
        The query or the plan needs more time than `--timeout` of the server.

    Example:
        SH802 query took longer than 60 s and was given up
          hint: ask for less, or start the server with a longer --timeout

    Remedy:
        Ask for less, or start `streamhouse mcp` with a longer `--timeout`.
    """

    code = "SH802"
    retryable = True


class AnswerTooLargeError(CallError):
    """An answer is larger than the server sends.

    Cause:
        The call asks for many flows, tables or rows at once.

    Example:
        SH803 the answer is larger than 512,000 bytes
          hint: ask for one flow, one table, or less rows

    Remedy:
        Ask for one flow, one table, or fewer rows.
    """

    code = "SH803"


class BusyError(CallError):
    """More calls run and wait than the server allows.

    Cause:
        Several clients, or one client with many calls, use the server at the same time.

    Example:
        SH804 8 calls run or wait already
          hint: wait until one is done, then call again

    Remedy:
        Wait, then call again.
    """

    code = "SH804"
    retryable = True


class NotSharedError(CallError):
    """The rows or the schema of a table may not be given to a language model.

    Cause:
        A table gives out its rows only with `ai: {rows: allowed}`, and hides its schema with
        `ai: {schema: denied}`.

    Example:
        SH805 rows of dwd.sales may not be shown: only tables that say `ai: {rows: allowed}` let them out
          hint: a person can query them: streamhouse query; or write `ai: {rows: allowed}` for the table

    Remedy:
        Let a person run the query, or set `ai: {rows: allowed}` in the flow if rows of this table may be
        seen by the model. docs/mcp.md describes the rules.
    """

    code = "SH805"
