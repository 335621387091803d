"""A query as a person typed it: which tables, tiers and columns it reads, or why it is refused. Pure.

Refused here is only what is surely wrong; the rest Spark judges. A wrong query then costs
milliseconds, and no service is started for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, QueryRefusedError, SqlSyntaxError, did_you_mean
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.sql import dialect as sql
from streamhouse.sql.dialect import SPARK, place_of
from streamhouse.sql.header import place_in
from streamhouse.tiering.columns import needed_columns, table_name
from streamhouse.tiering.union import tiers_read

Catalog = Mapping[str, Table]
"""`layer.table` → the table: all that a query may read."""

LAKE = "lake"  # `orders$lake`: the tier that keeps rows longest
_ONLY_QUERIES = "write one SELECT statement; data is changed by flows only"
_TEXT = Location("query")
_QUERY_STARTS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM, TokenType.VALUES})
_RUNS_CODE = frozenset({"reflect", "try_reflect", "java_method"})


@dataclass(frozen=True)
class Use:
    """A table as a query names it.

    Attributes:
        name: `layer.table` or `layer.table$part` in lower case: one for each thing that is read.
        table: What the catalog holds; its stored name may be another.
        part: `hot`, `warm`, `cold` or `lake`, which stood after the `$`; None: the union of all tiers.
        columns: Those the query needs, in the table's order; empty: it only counts rows.
    """

    name: str
    table: Table
    part: str | None
    columns: tuple[str, ...]

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that are read, the freshest first."""
        if self.part is None:
            return tiers_read(self.table)
        return (self.table.tiers.present[-1] if self.part == LAKE else Tier(self.part),)


@dataclass(frozen=True)
class Query:
    """A query that may be run; `tree` names tables as the person did."""

    tree: exp.Query
    text: str
    uses: tuple[Use, ...]

    def bound(self, views: Mapping[str, str]) -> exp.Query:
        """A copy that reads views (`Use.name` → a view's name) and still finds columns by the table's name."""
        bound = self.tree.copy()
        stored = list(_stored_tables(bound))
        names = {table_name(node) for node in stored}
        for column in bound.find_all(exp.Column):
            if ".".join(part.name for part in column.parts[:2]).lower() in names:
                column.set("catalog" if column.catalog else "db", None)  # dwd.orders.amount → orders.amount
        for node in stored:
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
            node.set("this", exp.to_identifier(views[table_name(node)]))
            node.set("db", None)
        sql.quote_names(bound)
        return bound


def needed_tiers(query: Query) -> frozenset[Tier]:
    """The tiers that must be up to answer the query; empty when it reads no table."""
    return frozenset(tier for use in query.uses for tier in use.tiers)


def parse_query(text: str, catalog: Catalog) -> Query:
    """Read a query and check what can be checked without running it.

    Args:
        text: One SELECT-like statement of Spark SQL; a last semicolon is allowed.
        catalog: The tables it may read; names are case-insensitive.

    Raises:
        QueryRefusedError: it does not parse, is no query, or names a table or column there is not.
    """
    tree = _parse(text)
    _refuse_code(tree, text)
    parts: dict[str, tuple[Table, str | None]] = {}
    for node in _stored_tables(tree):
        parts[table_name(node)] = _look_up(node, catalog, text)
    found = needed_columns(tree, {name: table for name, (table, _) in parts.items()})
    if found.unknown:
        column, known = found.unknown
        raise QueryRefusedError(
            f"unknown column '{sql.render(column)}'",
            at=place_of(column.parts[0], text, _TEXT),
            hint=did_you_mean(column.name.lower(), known, f"columns: {', '.join(known)}"),
        )
    return Query(tree, text, tuple(Use(name, *parts[name], found.needed[name]) for name in sorted(parts)))


def _parse(text: str) -> exp.Query:
    try:
        # Looked at before parsing: sqlglot takes statements it does not know for commands, and warns.
        _refuse_statement(tokenize(text, read=SPARK), text)
        return sql.parse_query(text, _TEXT)
    except TokenError as error:
        raise QueryRefusedError(f"the query does not parse: {str(error).splitlines()[0]}") from error
    except SqlSyntaxError as error:
        raise QueryRefusedError(f"the query does not parse: {error.message}", at=error.at) from error


def _refuse_statement(tokens: list[Token], text: str) -> None:
    if not tokens:
        raise QueryRefusedError("the query is empty", hint=_ONLY_QUERIES)
    if tokens[0].token_type not in _QUERY_STARTS:
        raise QueryRefusedError(
            f"{tokens[0].text.upper()} is no query", at=place_in(text, tokens[0].start, _TEXT), hint=_ONLY_QUERIES
        )
    ends = [token for token, after in pairwise(tokens) if token.token_type == TokenType.SEMICOLON != after.token_type]
    if ends:
        raise QueryRefusedError("more than one statement", at=place_in(text, ends[0].start, _TEXT), hint=_ONLY_QUERIES)


def _refuse_code(tree: exp.Query, text: str) -> None:
    for node in tree.walk():
        if isinstance(node, exp.QueryTransform | exp.Into | exp.DML | exp.DDL) and not isinstance(node, exp.Query):
            raise QueryRefusedError(
                "a query may not run a program or write", at=place_of(node, text, _TEXT), hint=_ONLY_QUERIES
            )
        if isinstance(node, exp.Anonymous) and node.name.lower() in _RUNS_CODE:
            raise QueryRefusedError(
                f"{node.name.lower()} runs code, which a query may not", at=place_of(node, text, _TEXT)
            )
        if isinstance(node, exp.Table) and (node.args.get("version") or node.args.get("when")):
            raise QueryRefusedError(
                "a query reads tables as they are now",
                at=place_of(node, text, _TEXT),
                hint="drop VERSION or TIMESTAMP AS OF",
            )


def _stored_tables(tree: exp.Query) -> Iterator[exp.Table]:
    """The nodes that name a table of the catalog; CTEs, table functions and hints name none."""
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier) or node.find_ancestor(exp.Hint):
            continue
        if node.db or not _is_cte(node):
            yield node


def _is_cte(node: exp.Table) -> bool:
    outer = node.parent
    while outer is not None:
        with_ = outer.args.get("with_")
        if with_ is not None and any(cte.alias.lower() == node.name.lower() for cte in with_.expressions):
            return True
        outer = outer.parent
    return False


def _look_up(node: exp.Table, catalog: Catalog, text: str) -> tuple[Table, str | None]:
    name, _, part = table_name(node).partition("$")
    if name not in catalog:
        known = sorted(catalog)
        same = [full for full in known if full.split(".")[1] == name.split(".")[-1]]
        hint = f"did you mean '{same[0]}'?" if same else did_you_mean(name, known, _listed(known))
        raise QueryRefusedError(f"unknown table '{name}'", at=place_of(node.parts[0], text, _TEXT), hint=hint)
    table = catalog[name]
    parts = [tier.value for tier in table.tiers.present] + ([LAKE] if len(table.tiers.present) > 1 else [])
    if part and part not in parts:
        raise QueryRefusedError(
            f"'{name}' has no part '${part}'",
            at=place_of(node.parts[-1], text, _TEXT),
            hint=f"it has {', '.join(f'{name}${known}' for known in parts)}",
        )
    return table, part or None


def _listed(names: list[str]) -> str:
    return f"tables: {', '.join(names)}" if names else "no flow has been run yet: streamhouse run FLOW"
