"""A query as a person typed it: which tables, tiers and columns it reads, or why it is refused. Pure.

Refused here is only what is surely wrong; the rest Spark judges. A wrong query then costs
milliseconds, and no service is started for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, pairwise

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, QueryRefusedError, SqlSyntaxError, did_you_mean
from streamhouse.model.table import Table
from streamhouse.model.types import Layer, Tier
from streamhouse.sql import dialect as sql
from streamhouse.sql.admit import QUERY_FUNCTIONS, Refused, process_words, refused_calls, refused_relations
from streamhouse.sql.dialect import SPARK, place_of
from streamhouse.sql.header import place_in
from streamhouse.sql.last_resort import told_at
from streamhouse.stores.where import Condition
from streamhouse.tiering.columns import needed_columns, table_name
from streamhouse.tiering.conditions import conditions
from streamhouse.tiering.moments import Kind, Moment, moment_of, take_clauses
from streamhouse.tiering.names import take_dots
from streamhouse.tiering.parts import Part, UnknownPartError, View, part_of, parts, shown
from streamhouse.tiering.union import tiers_read
from streamhouse.tiering.written import Written, written

Catalog = Mapping[str, Table]
"""`layer.table` → the table: all that a query may read."""

_ONLY_QUERIES = "write one SELECT statement; data is changed by flows only"
_ASK_CHANGES = "ask layer.table.changes SINCE …; a shell takes $changes in double quotes for a variable of its own"
_TEXT = Location("query")
_STORED = re.compile(rf"\b((?:{'|'.join(Layer)})\.[a-z][a-z0-9_]*?)__v\d+(?=__|\b)")
_QUERY_STARTS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM, TokenType.VALUES})


@dataclass(frozen=True)
class Use:
    """A table as a query names it.

    Attributes:
        name: `layer.table` or `layer.table$part` in lower case, and its moment: one for each thing that is read.
        table: What the catalog holds; its stored name may be another.
        part: What stood after the `$`.
        columns: Those the query needs, in the table's order; empty: it only counts rows.
        moment: When; None: now.
        since: Where the changes begin that are read; None: at the first that is held.
        where: What the query surely asks of its rows; others need not be read.
    """

    name: str
    table: Table
    part: Part
    columns: tuple[str, ...]
    moment: Moment | None = None
    since: Moment | None = None
    where: tuple[Condition, ...] = ()

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that are read, the freshest first."""
        table = self.table
        if self.part.tier is not None:
            return (self.part.tier,)
        if self.part.view in (View.HISTORY, View.STORED):
            return ()
        if self.part.view is View.CHANGES:
            return (table.tiers.target,)
        if self.part.view is View.FILES:
            return tuple(tier for tier in table.tiers.present if tier is not Tier.HOT)
        if self.moment is not None and self.moment.kind is Kind.VERSION:
            return (table.tiers.present[-1],)
        return tiers_read(table)

    @property
    def shown(self) -> Table:
        """The table with the columns of the part that is read."""
        return shown(self.table, self.part)

    @property
    def title(self) -> str:
        """The name that people know, with its part."""
        return self.name.partition("@")[0]


@dataclass(frozen=True)
class Query:
    """A query that may be run.

    Attributes:
        tree: Names tables as the person did, `layer.table@moment` where that is not now.
        text: As typed.
        uses: What is read.
        when: The day and time for which `current_timestamp` stood where a moment was asked for.
        written: The text with the places of names of tables; None: more than these must be written otherwise.
    """

    tree: exp.Query
    text: str
    uses: tuple[Use, ...]
    when: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False)
    written: Written | None = None

    def over(self, views: Mapping[str, str]) -> str:
        """The text for Spark, over views (`Use.name` → a view's name): as typed, but for the names of tables."""
        return self.written.over(views) if self.written is not None else sql.render(self.bound(views))

    def bound(self, views: Mapping[str, str]) -> exp.Query:
        """A copy that reads views (`Use.name` → a view's name) and still finds columns by the table's name."""
        bound = self.tree.copy()
        for node in list(_stored_tables(bound)):
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
            node.set("this", exp.to_identifier(views[table_name(node)]))
            node.set("db", None)
        sql.quote_names(bound)
        return bound


def table_names(text: str) -> str:
    """A message about tables as people know them: stores may call a table that was built anew `layer.table__v2`.

    Example:
        >>> table_names("dwd.sales__v2, bucket 1: dwd.sales__v2__quarantine")
        'dwd.sales, bucket 1: dwd.sales__quarantine'
    """
    return _STORED.sub(r"\1", text)


def needed_tiers(query: Query) -> frozenset[Tier]:
    """The tiers that must be up to answer the query; empty when it reads no table."""
    return frozenset(tier for use in query.uses for tier in use.tiers)


def parse_query(text: str, catalog: Catalog, now: datetime | None = None) -> Query:
    """Read a query and check what can be checked without running it.

    Args:
        text: One SELECT-like statement of Spark SQL; a last semicolon is allowed.
        catalog: The tables it may read; names are case-insensitive.
        now: What `current_timestamp()` stands for in `TIMESTAMP AS OF`.

    Raises:
        QueryRefusedError: it does not parse, is no query, or names a table or column there is not.
    """
    with told_at(_TEXT, "the query"):
        return _parse_query(text, catalog, now or datetime.now(UTC))


def _parse_query(text: str, catalog: Catalog, when: datetime) -> Query:
    clauses = take_clauses(text, _tokens(text))
    tree = _parse(clauses.text)
    take_dots(tree)
    _refuse_all_but_tables(tree, text)
    uses: dict[str, Use] = {}
    seen: dict[str, list[exp.Table]] = {}
    stored = list(_stored_tables(tree))
    found_uses = [_look_up(node, catalog, text, when, clauses.epoch, clauses.since) for node in stored]
    as_typed, named = None, {id(part) for node in stored for part in node.parts}
    strange = any("$" in one.name and id(one) not in named for one in tree.find_all(exp.Identifier))
    if tree.find(exp.Qualify) is None and not strange:  # Spark has neither QUALIFY nor `$` in names
        as_typed = written(
            clauses.text, zip(stored, (use.name for use in found_uses), strict=True), _layered_columns(tree)
        )
    _shorten_columns(tree)
    for node, use in zip(stored, found_uses, strict=True):
        _rename(node, use)
        uses[use.name] = use
        seen.setdefault(use.name, []).append(node)
    if clauses.since and not any(use.since for use in uses.values()):
        raise QueryRefusedError("SINCE is for the changes of a table", at=clauses.since.at, hint=_ASK_CHANGES)
    columns = {column.lower() for use in uses.values() for column in use.shown.column_names}
    for word in process_words(tree, columns):
        raise _refusal(word, text)
    found = needed_columns(tree, {name: use.shown for name, use in uses.items()})
    if found.unknown:
        column, known = found.unknown
        raise QueryRefusedError(
            f"unknown column '{sql.render(column)}'",
            at=place_of(column.parts[0], text, _TEXT),
            hint=did_you_mean(column.name.lower(), known, f"columns: {', '.join(known)}"),
        )
    return Query(
        tree,
        text,
        tuple(
            replace(uses[name], columns=found.needed[name], where=conditions(seen[name], uses[name].shown))
            for name in sorted(uses)
        ),
        when,
        as_typed,
    )


def _tokens(text: str) -> list[Token]:
    try:
        return tokenize(text, read=SPARK)
    except TokenError as error:
        raise QueryRefusedError(f"the query does not parse: {str(error).splitlines()[0]}") from error


def _parse(text: str) -> exp.Query:
    # Looked at before parsing: sqlglot takes statements it does not know for commands, and warns.
    _refuse_statement(_tokens(text), text)
    try:
        return sql.parse_query(text, _TEXT)
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


def _refuse_all_but_tables(tree: exp.Query, text: str) -> None:
    """Whatever is neither a table nor computed from its rows."""
    for found in chain(refused_relations(tree), refused_calls(tree, QUERY_FUNCTIONS)):
        raise _refusal(found, text)
    for node in tree.find_all(exp.Placeholder):
        name = f":{node.name}" if node.this else "?"
        raise QueryRefusedError(f"{name} has no value", at=place_of(node, text, _TEXT), hint="write the value itself")


def _refusal(found: Refused, text: str) -> QueryRefusedError:
    return QueryRefusedError(found.message, at=place_of(found.node, text, _TEXT), hint=found.hint)


def _stored_tables(tree: exp.Query) -> Iterator[exp.Table]:
    """The nodes that name a table of the catalog; CTEs, table functions and hints name none."""
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier) or node.find_ancestor(exp.Hint):
            continue
        if node.db or not _is_cte(node):
            yield node


def _is_cte(node: exp.Table) -> bool:
    """Whether a name is one that WITH gives: around it, or before it in the same WITH."""
    inner: exp.Expr = node
    while (outer := inner.parent) is not None:
        with_ = outer if isinstance(outer, exp.With) else outer.args.get("with_")
        if with_ is not None and inner is not with_:
            given = with_.expressions
            if isinstance(inner, exp.CTE):  # itself, only where it is recursive
                given = given[: given.index(inner) + bool(with_.args.get("recursive"))]
            if any(cte.alias.lower() == node.name.lower() for cte in given):
                return True
        inner = outer
    return False


def _look_up(
    node: exp.Table, catalog: Catalog, text: str, now: datetime, epoch: Moment | None, since: Moment | None
) -> Use:
    name, dollar, suffix = table_name(node).partition("$")
    if name not in catalog:
        known = sorted(catalog)
        same = [full for full in known if full.split(".")[1] == name.split(".")[-1]]
        hint = f"did you mean '{same[0]}'?" if same else did_you_mean(name, known, _listed(known))
        raise QueryRefusedError(f"unknown table '{name}'", at=place_of(node.parts[0], text, _TEXT), hint=hint)
    table = catalog[name]
    if dollar and not suffix:
        raise QueryRefusedError(
            f"'{name}$' names no part of the table",
            at=place_of(node.parts[-1], text, _TEXT),
            hint=f"write {name}, or one of {', '.join(f'{name}.{one}' for one in parts(table) if '$' not in one)}",
        )
    try:
        part = part_of(table, name, suffix)
    except UnknownPartError as error:
        raise QueryRefusedError(str(error), at=place_of(node.parts[-1], text, _TEXT), hint=error.hint) from error
    moment = moment_of(node, text, now)
    if moment is None and part.view in (None, View.CHANGES):
        moment = epoch
    title = f"{name}${suffix}" if suffix else name
    if moment is not None:
        _refuse_moment(table, title, part, moment)
        title = f"{title}@{moment.kind}_{moment.value}"
    return Use(title, table, part, (), moment, since if part.view is View.CHANGES else None)


def _refuse_moment(table: Table, title: str, part: Part, moment: Moment) -> None:
    target = table.tiers.target
    if part.view is not None and part.view is not View.CHANGES:
        raise QueryRefusedError(
            f"'{title}' is a list as of now", at=moment.at, hint="filter it: WHERE snapshot <= 3, WHERE epoch <= 12"
        )
    if moment.kind is Kind.EPOCH and part.tier not in (None, target):
        raise QueryRefusedError(
            f"epochs are of the {target} tier, which the flow writes, and not of '{title}'",
            at=moment.at,
            hint="ask for VERSION AS OF or TIMESTAMP AS OF, or for the table without $",
        )
    of = target if part.view is View.CHANGES else part.tier or table.tiers.present[-1]
    if moment.kind is Kind.VERSION and of is Tier.HOT:
        raise QueryRefusedError(
            f"'{title}' has no versions: they are snapshots of a lake, and its tier is hot",
            at=moment.at,
            hint="ask for TIMESTAMP AS OF or AS OF EPOCH",
        )


def _layered_columns(tree: exp.Query) -> list[exp.Column]:
    """Columns that name their table with its layer: `dwd.orders.amount`."""
    names = {table_name(node) for node in _stored_tables(tree)}
    return [c for c in tree.find_all(exp.Column) if ".".join(part.name for part in c.parts[:2]).lower() in names]


def _shorten_columns(tree: exp.Query) -> None:
    """dwd.orders.amount → orders.amount: nothing but aliases is then needed to find columns."""
    for column in _layered_columns(tree):
        column.set("catalog" if column.catalog else "db", None)


def _rename(node: exp.Table, use: Use) -> None:
    if use.moment is None:
        return
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
    node.this.set("this", use.name.split(".", 1)[1])
    node.set("version", None)


def _listed(names: list[str]) -> str:
    return f"tables: {', '.join(names)}" if names else "no flow has been run yet: streamhouse run FLOW"
