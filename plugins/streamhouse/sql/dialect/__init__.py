"""Spark SQL in and out of syntax trees without a change of meaning.

sqlglot knows some Spark functions too well: it reads `log10(x)` as `LOG(10, x)`, `to_char` as a CAST
and `percentile_cont` as an approximation. Here only functions whose structure the analysis needs are
parsed into classes of their own; every other call keeps its name and arguments as written.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, SqlSyntaxError
from streamhouse.sql.dialect.behind_brackets import (
    with_clauses_inside,
    with_order_by_all,
    without_brackets_of_places,
)
from streamhouse.sql.dialect.chains import balance_chains
from streamhouse.sql.dialect.grammar import check_depth, check_grammar
from streamhouse.sql.dialect.hints import quantified, variant_path
from streamhouse.sql.dialect.literals import MARK, WRITTEN, Literals
from streamhouse.sql.dialect.named_as_types import names_marked, take_marks_off
from streamhouse.sql.dialect.named_as_words import with_names_for_words
from streamhouse.sql.dialect.precedence import with_brackets
from streamhouse.sql.dialect.rendering import rendered
from streamhouse.sql.dialect.spark_grammar import check_spark_grammar
from streamhouse.sql.dialect.tokens import like, read_tokens
from streamhouse.sql.dialect.type_names import other_type
from streamhouse.sql.header import place_in
from streamhouse.sql.last_resort import read_at
from streamhouse.sql.words import words

# sqlglot prints these exactly as Spark reads them.
_STRUCTURAL = words(
    """
    SUM COUNT AVG MEAN MIN MAX COUNT_IF COLLECT_LIST COLLECT_SET STDDEV STDDEV_POP STDDEV_SAMP VARIANCE
    VAR_POP VAR_SAMP BOOL_AND BOOL_OR MEDIAN APPROX_COUNT_DISTINCT ROW_NUMBER RANK DENSE_RANK PERCENT_RANK
    CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE EXPLODE EXPLODE_OUTER POSEXPLODE
    POSEXPLODE_OUTER INLINE COALESCE NULLIF STRUCT EXISTS CAST TRY_CAST EXTRACT TRIM POSITION SUBSTRING
    SUBSTR OVERLAY CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER SESSION_USER FILTER WINDOW OVER IN AND OR NOT
    """
)
E = TypeVar("E", bound=exp.Expr)
_UNIT_FIRST = frozenset({"date_add", "dateadd", "date_diff", "datediff", "timestampadd", "timestampdiff"})


class _Place(dict[str, Any]):
    """Where a node stands in its text; copied at once, where `deepcopy` of a dict takes longer than the node."""

    def __deepcopy__(self, _: dict[int, Any]) -> "_Place":
        return _Place(self)


class _SparkSql(Spark):
    """Spark SQL, in which `orders$lake`, one tier of a table, is a name without backticks."""

    SUPPORTS_ORDER_BY_ALL = False  # see `with_order_by_all`

    class Tokenizer(Spark.Tokenizer):
        VAR_SINGLE_TOKENS: ClassVar[set[str]] = {*Spark.Tokenizer.VAR_SINGLE_TOKENS, "$"}
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']

    def normalize_identifier(self, expression: E) -> E:
        """Lower a name, but that of a struct's field, which is part of its value."""
        if not isinstance(expression, exp.Identifier) or _is_field(expression):
            return expression
        text = expression.this
        if text != (lower := text.lower()):
            expression.set("this", lower)
            expression.meta[WRITTEN] = text
        return expression


def _is_field(name: exp.Identifier) -> bool:
    owner = name.parent
    if isinstance(owner, exp.Alias) and isinstance(owner.parent, exp.Tuple):
        return owner.args["alias"] is name
    return isinstance(owner, (exp.PropertyEQ, exp.ColumnDef)) and owner.this is name


SPARK: Dialect = _SparkSql()
"""For calls of sqlglot, which would make a new one for each name it is given."""

_PARSER = type(SPARK).parser_class
_OPAQUE = frozenset({*_PARSER.FUNCTIONS, *_PARSER.FUNCTION_PARSERS} - _STRUCTURAL)
_OPERATORS = frozenset({TokenType.DIV, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE})
_BEFORE_VALUE = frozenset(
    getattr(TokenType, name)
    for name in words(
        """
        SEMICOLON SELECT DISTINCT WHERE HAVING QUALIFY ON AND OR COMMA L_PAREN L_BRACKET WHEN THEN ELSE CASE GROUP_BY
        ORDER_BY PARTITION_BY BETWEEN EQ NEQ NULLSAFE_EQ LT LTE GT GTE PLUS DASH STAR SLASH MOD DIV DPIPE PIPE AMP CARET
        TILDE LIKE ILIKE RLIKE ARROW FARROW LIMIT OFFSET
        """
    )
)
_SHORT = 60
_MOST_HANDED_ON = 4096
_handed_on: dict[str, exp.Query] = {}
_WORDS = frozenset(w for words in type(SPARK).tokenizer_class.KEYWORDS for w in words.split())


def tokenize(sql: str) -> list[Token]:
    """The tokens of a text, strings as Spark reads them.

    Raises:
        TokenError: a quote or comment does not end.
        ParseError: a number is none of Spark's, or brackets stand too deep in each other.
    """
    return list(_tokens(sql))


@lru_cache(maxsize=16)  # a text is looked at before it is parsed
def _tokens(sql: str) -> tuple[Token, ...]:
    return tuple(read_tokens(SPARK, sql))


@lru_cache(maxsize=4096)
def _parsed(sql: str) -> exp.Expr:
    try:
        return _read(sql)
    except ParseError as error:
        if ":" in sql and (better := variant_path(tokenize(sql), sql)) is not None:
            raise better from error
        if (better := quantified(tokenize(sql), sql)) is not None:
            raise better from error
        raise


def _read(sql: str, *, is_new: bool = True) -> exp.Expr:
    if is_new and (wrong := other_type(tokenize(sql), sql)) is not None:
        raise wrong
    literals = Literals(with_names_for_words(tokenize(sql)), sql)
    named, marked = names_marked(literals.collapsed())
    read = with_brackets(named, literals.numbers)
    tokens = [
        _as_written(read, place) if following.token_type == TokenType.L_PAREN else token
        for place, (token, following) in enumerate(pairwise([*read, *read[-1:]]))
    ]
    statements = [s for s in SPARK.parser().parse(tokens, sql) if s is not None]
    if len(statements) != 1:
        raise ParseError(
            "no statement",
            [{"description": f"{len(statements)} statements stand here; write one SELECT", "line": 1, "col": 1}],
        )
    root = exp.Paren(this=statements[0])
    nodes = list(root.walk())
    for node in nodes:
        if node._meta is not None:
            node._meta = _Place(node._meta)
    if marked:
        take_marks_off(nodes)
    for call in [node for node in nodes if type(node) is exp.Anonymous]:
        if isinstance(call.this, str):
            name = call.this.removeprefix(MARK)
            if name[:1] == "=" and name != call.this:
                call.replace(literals.nodes[int(name[1:])])
                continue
            call.set("this", name)
            if name.lower() in _UNIT_FIRST and len(call.expressions) == 3:
                unit = call.expressions[0]
                if isinstance(unit, exp.Column) and not unit.table:
                    unit.replace(exp.Var(this=unit.name.upper()))
    with_clauses_inside(nodes)
    without_brackets_of_places(nodes)
    with_order_by_all(nodes)
    tree: exp.Expr = root.this.pop()
    nodes = list(tree.walk())
    check_depth(nodes)
    check_grammar(nodes)
    balance_chains(nodes)
    if is_new and isinstance(tree, (exp.Query, exp.Condition)):
        check_spark_grammar(sql, "query" if isinstance(tree, exp.Query) else "expression")
    return tree


def _as_written(tokens: Sequence[Token], place: int) -> Token:
    """The token before a bracket, as what the parser is to take it for."""
    token = tokens[place]
    before = tokens[place - 1].token_type if place else TokenType.SEMICOLON
    if token.token_type in (TokenType.ANY, TokenType.SOME):
        # Behind LIKE it begins a list; elsewhere it is the aggregate.
        listed = before in (TokenType.LIKE, TokenType.ILIKE)
        return token if listed else like(token, TokenType.VAR, MARK + token.text)
    if token.token_type in _OPERATORS and _ends_operand(tokens, place - 1):
        return token
    # `GROUP BY window(…)`: sqlglot takes the word for the WINDOW clause.
    opaque = token.token_type == TokenType.WINDOW
    if not opaque:
        opaque = token.token_type in _PARSER.FUNC_TOKENS and token.text.upper() in _OPAQUE
    return like(token, TokenType.VAR, MARK + token.text) if opaque else token


def _ends_operand(tokens: Sequence[Token], place: int) -> bool:
    """Whether a value may end at a place, so that what follows is an operator: `a DIV (b)`, `a NOT LIKE (b)`."""
    while place >= 0 and tokens[place].token_type == TokenType.NOT:
        place -= 1
    return place >= 0 and tokens[place].token_type not in _BEFORE_VALUE


def parse_query(sql: str, at: Location) -> exp.Query:
    """The tree of one SELECT (with CTEs and set operations), for the caller to change.

    Args:
        sql: Spark SQL.
        at: The place of its first character in a file.

    Raises:
        SqlSyntaxError: it does not parse, or is no query.
    """
    handed = _handed_on.pop(sql, None)
    return handed if handed is not None else _query(_parsed, sql, at).copy()


def read_alone(sql: str, at: Location) -> exp.Query:
    """As `parse_query`, for a first look at a text; who is done with the tree, unchanged, may hand it on.

    Raises:
        SqlSyntaxError: as it does.
    """
    return _query(_parsed.__wrapped__, sql, at)


def parse_again(sql: str, at: Location) -> exp.Query:
    """As `parse_query`, of the text of a plan: it was compiled, so Spark's grammar is not asked again. Kept nowhere.

    Raises:
        SqlSyntaxError: as it does.
    """
    return _query(partial(_read, is_new=False), sql, at)


def hand_on(sql: str, tree: exp.Query) -> None:
    """Give the tree to the next call that parses the text, which saves a copy.

    Args:
        sql: The text.
        tree: What `read_alone` gave for it; the caller looks at it no more.
    """
    if tree.parent is None:
        while len(_handed_on) >= _MOST_HANDED_ON and (oldest := next(iter(_handed_on), None)) is not None:
            _handed_on.pop(oldest, None)
        _handed_on[sql] = tree


def _query(parsed: Callable[[str], exp.Expr], sql: str, at: Location) -> exp.Query:
    try:
        with read_at(at, "the SQL"):
            tree = parsed(sql)
    except SqlglotError as error:
        raise syntax_error(error, sql, at) from error
    query = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    if not isinstance(query, (exp.Select, exp.SetOperation)):
        raise SqlSyntaxError(
            f"the SQL is no query but {tree.key.upper()}",
            at=at,
            hint="an action holds one SELECT; the flow says where it goes",
        )
    _drop_partitionings(query)
    return query


def _drop_partitionings(query: exp.Query) -> None:
    """Drop hints such as REPARTITION(3, k), which change no row: the engine makes the parts of a result."""
    for hint in list(query.find_all(exp.Hint)):
        joins = [one for one in hint.expressions if isinstance(one, exp.JoinHint)]
        if joins:
            hint.set("expressions", joins)
        else:
            hint.pop()


def parse_condition(text: str, at: Location) -> exp.Expr:
    """The tree of a condition on columns, a copy for the caller to change.

    Raises:
        SqlSyntaxError: it does not parse, or is no expression.
    """
    tree = _part(text, at, "the condition")
    if not isinstance(tree, exp.Condition):
        raise SqlSyntaxError(f"'{text}' is no condition", at=at, hint="write a comparison, such as amount >= 0")
    return tree.copy()


def parse_expression(text: str, at: Location) -> exp.Expr:
    """The tree of a value over columns, such as an aggregate, a copy for the caller to change.

    Raises:
        SqlSyntaxError: it does not parse, or is a query.
    """
    tree = _part(text, at, "the expression")
    if isinstance(tree, (exp.Query, exp.Subquery, exp.Command)):
        raise SqlSyntaxError(f"'{text}' is no value", at=at, hint="write an aggregate, such as SUM(amount)")
    return tree.copy()


def _part(text: str, at: Location, what: str) -> exp.Expr:
    """The tree of a part of a query that stands in a file alone, so that an error is at the place of all of it."""
    try:
        with read_at(at, what):
            return _parsed(text)
    except SqlglotError as error:
        raise SqlSyntaxError(syntax_error(error, text, at).message, at=at) from error


def syntax_error(error: SqlglotError, sql: str, at: Location) -> SqlSyntaxError:
    """What sqlglot found wrong, at its place in the file that holds `sql`."""
    details = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    message = (details.get("description") or "a quote is not closed").partition(" but got <")[0]
    line, word, hint = details.get("line"), details.get("highlight") or "", details.get("hint")
    if not line:
        return SqlSyntaxError(message, at=at)
    lines = sql.split("\n")
    # sqlglot counts to the end of the word it stopped at.
    column = max(0, details["col"] - max(1, len(word)))
    offset = sum(len(text) + 1 for text in lines[: line - 1]) + min(column, len(lines[line - 1]))
    near = f" near '{word}'" if word.strip() and hint is None else ""
    return SqlSyntaxError(f"{message.rstrip('.')}{near}", at=place_in(sql, offset, at), hint=hint)


def render(tree: exp.Expr) -> str:
    """Canonical Spark SQL: one spelling for a tree."""
    return rendered(tree, SPARK, as_written=False)


def short(node: exp.Expr) -> str:
    """The text of a part of a query for a message, cut off where it is long."""
    text = render(node.unalias())
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."


def render_written(tree: exp.Expr) -> str:
    """As `render`, for Spark: names that are part of values have the case they were written in."""
    return rendered(tree, SPARK, as_written=True)


def quote_names(tree: exp.Expr) -> None:
    """Put names into backticks where Spark or sqlglot needs it, and nowhere else; changes the tree."""
    quote_found(tree.walk())


def quote_found(nodes: Iterable[exp.Expr]) -> None:
    """As `quote_names`, of some nodes alone."""
    for name in nodes:
        if type(name) is not exp.Identifier:
            continue
        text = name.this
        plain = text.isascii() and text.isidentifier() and text.upper() not in _WORDS
        name.set("quoted", not plain)


def place_of(node: exp.Expr, sql: str, at: Location) -> Location:
    """Where a part of a parsed query begins in its file; `at` when the tree does not tell."""
    starts = [start for part in node.walk() if (start := part.meta_get("start")) is not None]
    return place_in(sql, min(starts), at) if starts else at


def forget_place(node: exp.Expr) -> None:
    """Forget where a node stands in its text, which takes time in each copy."""
    known = node._meta
    if known is None:
        return
    if "start" in known:
        for key in ("line", "col", "start", "end"):
            known.pop(key, None)
    if not known:
        node._meta = None  # which no copy takes along; an empty one takes as long as a full one


def render_lines(tree: exp.Expr) -> str:
    """As `render`, a clause on each line, as people write queries."""
    return rendered(tree, SPARK, as_written=False, lines=True)
