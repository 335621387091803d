"""Parses what people write as SQL: one SELECT for an action, one condition for an expectation.

sqlglot reads many dialects kindly and lets pass what Spark refuses; what people really mistype (a comma
before FROM, templating, a second statement) is refused here, with its place and in plain words.
"""

import re
from collections.abc import Callable
from itertools import zip_longest

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, SqlSyntaxError, StrategyError, UntypedColumnError, did_you_mean
from streamhouse.registry.declared import SIMPLE_TYPES
from streamhouse.sql import dialect
from streamhouse.sql.arity import miscounts
from streamhouse.sql.ctes import LEVELS, NO_RECURSION
from streamhouse.sql.header import place_in
from streamhouse.sql.scopes import is_aggregate

_SCAN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|.""", re.DOTALL)
_NO_COMMA_BEFORE = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT,
    TokenType.UNION, TokenType.R_PAREN, TokenType.COMMA,
}  # fmt: skip
_QUOTES = ("'", '"', "`")
_WRITES = {TokenType.INSERT, TokenType.MERGE, TokenType.UPDATE, TokenType.DELETE, TokenType.CREATE}
_ONE_SELECT = "an action is one SELECT; the flow stores its result"
_WRITTEN_AS = {
    "TABLE": "write SELECT * FROM and the table",
    "FROM": "write SELECT before FROM; what stands behind |> are parts of a SELECT",
    "VALUES": "write SELECT * FROM VALUES …",
}
_DEPTH = ["MAX", "RECURSION", "LEVEL"]
_TEMPLATE_TOKENS = {TokenType.L_BRACE, TokenType.BLOCK_START, TokenType.PARAMETER}


def parse_query(sql: str, at: Location) -> exp.Query:
    """The syntax tree of an action's SQL, which nobody may change.

    Args:
        sql: Without the header.
        at: Where `sql` begins in its file.

    Raises:
        SqlSyntaxError: it is not exactly one SELECT that Spark could read; placed in the file.
        UntypedColumnError: a function has more or fewer arguments than Spark takes.
        StrategyError: a CTE says how deep it recurs.
    """
    tokens = _tokens(sql, at)
    if not tokens:
        raise SqlSyntaxError("there is no SQL here", at=at, hint="after the header, write one SELECT")
    first = tokens[0]
    if first.token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
        otherwise = _WRITTEN_AS.get(first.text.upper(), _ONE_SELECT)
        hint = did_you_mean(first.text.upper(), ("SELECT", "WITH"), otherwise)
        raise SqlSyntaxError(f"the SQL begins with '{first.text}'", at=at, hint=hint)
    _refuse_what_sqlglot_lets_pass(tokens, sql, at)
    for place, token in enumerate(tokens):  # sqlglot does not read it
        if [one.text.upper() for one in tokens[place : place + 3]] == _DEPTH:
            raise StrategyError(NO_RECURSION, at=place_in(sql, token.start, at), hint=LEVELS)
    query = _query(tokens, sql, at)
    for name, problem in miscounts(tokens):
        hint = "compare it with Spark's list of functions"
        raise UntypedColumnError(problem, at=place_in(sql, name.start, at), hint=hint)
    return query


def parse_check(check: str, at: Location) -> exp.Expr:
    """The syntax tree of an expectation's condition, a new one at each call.

    Raises:
        SqlSyntaxError: it is no condition on one row; placed at `at`, whatever follows in it.
    """
    tree = _expression(check, at, dialect.parse_condition, _no_condition)
    if tree.find(exp.Query, exp.AggFunc, exp.Window):
        raise _no_condition(at)
    return tree


def parse_measure(sql: str, at: Location) -> exp.Expr:
    """The syntax tree of an aggregate over the rows of one table, a new one at each call.

    Raises:
        SqlSyntaxError: it is no expression, it has a query or a window in it, it aggregates nothing, or it has a column
            outside of an aggregate; placed at `at`.
    """
    tree = _expression(sql, at, dialect.parse_expression, _no_measure)
    if isinstance(tree, exp.Alias):
        raise SqlSyntaxError("a measure has its name before the SQL", at=at, hint=f"leave out 'AS {tree.alias}'")
    if tree.find(exp.Query, exp.Window):
        raise SqlSyntaxError(
            "a measure has no query and no window in it", at=at, hint="make an action of it, and a measure over that"
        )
    # What stands under an aggregate, or in its FILTER or WITHIN GROUP, is folded.
    outside = tree.walk(prune=lambda node: is_aggregate(node) or isinstance(node, (exp.Filter, exp.WithinGroup)))
    bare = [node for node in outside if isinstance(node, (exp.Column, exp.Star))]
    if bare or not any(is_aggregate(node) for node in tree.walk()):
        raise _no_measure(at)
    return tree


def _expression(
    text: str, at: Location, parse: Callable[[str, Location], exp.Expr], otherwise: Callable[[Location], SqlSyntaxError]
) -> exp.Expr:
    try:
        tokens = _tokens(text, at)
        if not tokens:
            raise otherwise(at)
        _refuse_what_sqlglot_lets_pass(tokens, text, at)
        return parse(text, at)
    except SqlSyntaxError as error:
        if error.__cause__ is None:
            raise otherwise(at) from error
        plain = _plain(error.__cause__, text, at) if isinstance(error.__cause__, ParseError) else error
        raise SqlSyntaxError(plain.message, at=at, hint=plain.hint) from error


def _no_measure(at: Location) -> SqlSyntaxError:
    hint = "fold every column it names, such as 'SUM(amount_cents) / 100' or 'COUNT(*)'"
    return SqlSyntaxError("this is no aggregate over rows", at=at, hint=hint)


def _no_condition(at: Location) -> SqlSyntaxError:
    hint = "compare columns of the output, such as 'amount >= 0'"
    return SqlSyntaxError("this is no condition on one row", at=at, hint=hint)


def placeholder_offsets(sql: str) -> dict[str, int]:
    """Offset of the first `:name` of each name, and of the first `?` under the empty name."""
    offsets: dict[str, int] = {}
    tokens = dialect.tokenize(sql)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type == TokenType.PLACEHOLDER:
            offsets.setdefault("", token.start)
        elif token.token_type == TokenType.COLON and following is not None:
            offsets.setdefault(following.text, token.start)
    return offsets


def _tokens(sql: str, at: Location) -> list[Token]:
    """Tokens without the semicolon that may end the SQL."""
    try:
        tokens = dialect.tokenize(sql)
    except ParseError as error:
        raise _plain(error, sql, at) from error
    except SqlglotError as error:
        offset = _open_quote(sql)
        kind = "comment" if sql[offset] == "/" else "quote"
        raise SqlSyntaxError(f"this {kind} does not end", at=place_in(sql, offset, at), hint="close it") from error
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _refuse_what_sqlglot_lets_pass(tokens: list[Token], sql: str, at: Location) -> None:
    for token, following in zip_longest(tokens, tokens[1:]):
        kind = token.token_type
        if kind == TokenType.SEMICOLON:
            second = place_in(sql, following.start if following else token.start, at)
            raise SqlSyntaxError("a second statement begins here", at=second, hint="an action is one SELECT; make two")
        if kind in _TEMPLATE_TOKENS:
            hint = "actions have no templates: declare a parameter in the header and write :name"
            two = sql[token.start : token.start + 2]
            begin = two if two in ("{{", "{%", "${") else token.text
            raise SqlSyntaxError(f"'{begin}' is no Spark SQL", at=place_in(sql, token.start, at), hint=hint)
        if kind == TokenType.COMMA and (following is None or following.token_type in _NO_COMMA_BEFORE):
            raise SqlSyntaxError("nothing follows this comma", at=place_in(sql, token.start, at), hint="remove it")
        if kind == TokenType.SELECT and (following is None or following.token_type == TokenType.FROM):
            place = place_in(sql, token.start, at)
            raise SqlSyntaxError("this SELECT has no columns", at=place, hint="name them, or write *")


def _query(tokens: list[Token], sql: str, at: Location) -> exp.Query:
    try:
        return dialect.read_alone(sql, at)
    except SqlSyntaxError as error:
        if isinstance(error.__cause__, ParseError) and error.__cause__.errors:
            raise _plain(error.__cause__, sql, at) from error.__cause__
        for token in tokens:
            if token.token_type in _WRITES:
                place = place_in(sql, token.start, at)
                raise SqlSyntaxError(f"'{token.text}' makes this no query", at=place, hint=_ONE_SELECT) from error
        raise


def _plain(error: ParseError, sql: str, at: Location) -> SqlSyntaxError:
    detail = error.errors[0]
    text, near = str(detail["description"]), str(detail.get("highlight") or "")
    line_start = 0
    for _ in range(int(detail["line"]) - 1):
        line_start = sql.find("\n", line_start) + 1
    place = place_in(sql, max(line_start + int(detail["col"]) - len(near), 0), at)
    if "hint" in detail:
        return SqlSyntaxError(text, at=place, hint=detail["hint"])
    message, hint = _plain_words(text, near)
    return SqlSyntaxError(message, at=place, hint=hint)


def _plain_words(text: str, near: str) -> tuple[str, str]:
    """Message and hint for what sqlglot says of the token `near`."""
    if text.startswith("Invalid expression / Unexpected token"):
        return f"'{near}' is not expected here", "a comma, an operator or AS may be missing before it"
    if text.startswith("Expected TYPE"):
        known = did_you_mean(near.lower(), SIMPLE_TYPES) or f"such as {', '.join(SIMPLE_TYPES[:-3])}"
        return f"'{near}' is no Spark SQL type", known
    if expecting := re.match(r"Expecting (\S+)$", text):
        hint = _PIVOTED if expecting[1] == "FOR" else "close what you opened"
        return f"'{expecting[1]}' is missing after '{near}'", hint
    if text.startswith("Expected table name"):
        return f"a table name is missing after '{near}'", "read an input by its name"
    if text.startswith("Expected END"):
        return f"END is missing after {near}", "close the CASE with END"
    if text.startswith("Required keyword"):
        return f"something is missing at '{near}'", "complete it, or remove it"
    said = text.partition(" but got ")[0]
    said = said[:1].lower() + said[1:] if said[1:2].islower() and not said.startswith("Spark") else said
    shown = near if near[:1] in _QUOTES else repr(near)
    return f"{said}, at {shown}" if near else said, "compare it with Spark's SQL reference"


_PIVOTED = "an aggregate of a PIVOT is one call, such as sum(v) AS s; compute with it in a query around the PIVOT"


def _open_quote(sql: str) -> int:
    """Offset of the quote or comment that does not end; 0 when all do."""
    for match in _SCAN.finditer(sql):
        if match.group() in _QUOTES or (match.group() == "/" and sql[match.start() :].startswith("/*")):
            return match.start()
    return 0
