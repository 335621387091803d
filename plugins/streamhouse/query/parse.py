"""A query as a person typed it: which tables, tiers and columns it reads, or why it is refused. Pure.

Refused here is only what is surely wrong; the rest Spark judges. A wrong query then costs
milliseconds, and no service is started for it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, pairwise

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.errors import Location, QueryRefusedError, SqlSyntaxError, did_you_mean
from streamhouse.model.table import Table
from streamhouse.model.types import Layer, Tier
from streamhouse.query.columns import needed_columns, table_name
from streamhouse.query.conditions import conditions
from streamhouse.query.moments import Clauses, Moment, MomentKind, moment_of, take_clauses
from streamhouse.query.names import take_dots
from streamhouse.query.parts import Part, TableView, UnknownPartError, part_of, parts, shown
from streamhouse.query.past import Catalog, KnownPast, TableHistory, past_of, unreadable_of
from streamhouse.query.written import WrittenQuery, written
from streamhouse.sql import dialect as sql
from streamhouse.sql.admit import QUERY_FUNCTIONS, Refused, process_words, refused_calls, refused_relations
from streamhouse.sql.called_again import call_once, calls_again
from streamhouse.sql.dialect import SPARK, place_of
from streamhouse.sql.header import place_in
from streamhouse.sql.last_resort import guard_analysis
from streamhouse.stores.where import RowCondition
from streamhouse.tiering.union import tiers_read

_ONLY_QUERIES = "write one SELECT statement; data is changed by flows only"
_ASK_CHANGES = "ask layer.table.changes SINCE …; a shell takes $changes in double quotes for a variable of its own"
_TEXT = Location("query")
_STORED = re.compile(rf"\b((?:{'|'.join(Layer)})\.[a-z][a-z0-9_]*?)__v\d+(?=__|\b)", re.ASCII)
_QUERY_STARTS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM, TokenType.VALUES})


@dataclass(frozen=True)
class TableUse:
    """A table as a query names it.

    Attributes:
        name: `layer.table` or `layer.table$part` in lower case, and its moment: one for each thing that is read.
        table: What the catalog holds; its stored name may be another.
        part: What stood after the `$`.
        columns: Those the query needs, in the table's order; empty: it only counts rows.
        moment: When; None: now.
        since: Where the changes begin that are read; None: at the first that still exists.
        where: What the query surely asks of its rows; others need not be read.
    """

    name: str
    table: Table
    part: Part
    columns: tuple[str, ...]
    moment: Moment | None = None
    since: Moment | None = None
    where: tuple[RowCondition, ...] = ()

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that are read, the freshest first."""
        table = self.table
        if self.part.tier is not None:
            return (self.part.tier,)
        if self.part.view in (TableView.HISTORY, TableView.STORED):
            return ()
        if self.part.view is TableView.CHANGES:
            return (table.tiers.target,)
        if self.part.view is TableView.FILES:
            return tuple(tier for tier in table.tiers.present if tier is not Tier.HOT)
        if self.moment is not None and self.moment.kind is MomentKind.VERSION:
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
    uses: tuple[TableUse, ...]
    when: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False)
    written: WrittenQuery | None = None

    def over(self, views: Mapping[str, str]) -> str:
        """The text for Spark, over views (`TableUse.name` → a view's name): as typed, but for the names of tables."""
        return self.written.over(views) if self.written is not None else sql.render(self.bound(views))

    def bound(self, views: Mapping[str, str]) -> exp.Query:
        """A copy that reads views (`TableUse.name` → a view's name) and still finds columns by the table's name."""
        bound = self.tree.copy()
        for node in list(_stored_tables(bound)):
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
            node.set("this", exp.to_identifier(views[table_name(node)]))
            node.set("db", None)
        call_once(bound)
        sql.quote_names(bound)
        return bound


def table_names(text: str) -> str:
    """A message about tables as people know them: stores may call a table that was rebuilt `layer.table__v2`.

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
        catalog: The tables it may read; names are case-insensitive. A `CatalogWithPast` knows their older versions.
        now: What `current_timestamp()` stands for in `TIMESTAMP AS OF`.

    Raises:
        QueryRefusedError: it does not parse, is no query, or names a table or column there is not.
        RowsLostError: no version of a table is stored that has the moment that is asked for.
    """
    with guard_analysis(_TEXT, "the query"):
        return _parse_query(text, catalog, now or datetime.now(UTC))


def _parse_query(text: str, catalog: Catalog, when: datetime) -> Query:
    clauses = take_clauses(text, _tokens(text), when)
    tree = _parse(clauses.text)
    take_dots(tree)
    _refuse_all_but_tables(tree, text)
    stored = list(_stored_tables(tree))
    _refuse_moments_of_others(tree, stored, text)
    named = [_named(node, catalog, text, when, clauses) for node in stored]
    pairs = list(zip(stored, _uses(named, past_of(catalog), clauses, text), strict=True))
    as_typed = _as_typed(clauses.text, tree, pairs)
    _shorten_columns(tree)
    for node, use in pairs:
        _rename(node, use)
    if clauses.epoch and not stored:
        raise QueryRefusedError(
            "AS OF EPOCH is for tables, and the query reads none", at=clauses.epoch.at, hint="leave it out"
        )
    if clauses.since and not any(use.since for _, use in pairs):
        raise QueryRefusedError("SINCE is for the changes of a table", at=clauses.since.at, hint=_ASK_CHANGES)
    columns = {column.lower() for _, use in pairs for column in use.shown.column_names}
    for word in process_words(tree, columns):
        raise _refusal(word, text)
    return Query(tree, text, _with_columns(tree, text, pairs), when, as_typed)


def _as_typed(text: str, tree: exp.Query, pairs: Sequence[tuple[exp.Table, TableUse]]) -> WrittenQuery | None:
    """What Spark may read as it was typed; None: it has QUALIFY, `$` in names, or what Spark fails at."""
    named = {id(part) for node, _ in pairs for part in node.parts}
    strange = any("$" in one.name and id(one) not in named for one in tree.find_all(exp.Identifier))
    fails = tree.find(exp.Window) is not None and calls_again(tree)
    if strange or fails or tree.find(exp.Qualify) is not None:
        return None
    return written(text, ((node, use.name) for node, use in pairs), _layered_columns(tree))


def _with_columns(tree: exp.Query, text: str, pairs: Sequence[tuple[exp.Table, TableUse]]) -> tuple[TableUse, ...]:
    """Each thing that is read, with the columns and the rows of it that the query needs."""
    uses = {use.name: use for _, use in pairs}
    found = needed_columns(tree, {name: use.shown for name, use in uses.items()})
    if found.unknown:
        column, known = found.unknown
        raise QueryRefusedError(
            f"unknown column '{sql.render(column)}'",
            at=place_of(column.parts[0], text, _TEXT),
            hint=did_you_mean(column.name.lower(), known, f"columns: {', '.join(known)}"),
        )
    nodes_by_name = {name: [node for node, use in pairs if use.name == name] for name in uses}
    return tuple(
        replace(uses[name], columns=found.needed[name], where=conditions(nodes_by_name[name], uses[name].shown))
        for name in sorted(uses)
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
        message = f"the query does not parse: {error.message}"
        raise QueryRefusedError(message, at=error.at, hint=error.hint) from error


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
    for found in chain(refused_relations(tree.walk()), refused_calls(tree.walk(), QUERY_FUNCTIONS)):
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
            ctes = with_.expressions
            if isinstance(inner, exp.CTE):  # itself, only where it is recursive
                ctes = ctes[: ctes.index(inner) + bool(with_.args.get("recursive"))]
            if any(cte.alias.lower() == node.name.lower() for cte in ctes):
                return True
        inner = outer
    return False


@dataclass(frozen=True)
class _Named:
    """A place of the query that names a table, with what is asked of it."""

    node: exp.Table
    table: Table
    name: str
    said: str
    moment: Moment | None
    since: Moment | None


def _named(node: exp.Table, catalog: Catalog, text: str, now: datetime, clauses: Clauses) -> _Named:
    name, dollar, suffix = table_name(node).partition("$")
    if name not in catalog:
        raise _unknown_table(name, catalog, place_of(node.parts[0], text, _TEXT))
    said = f"{dollar}{suffix}"
    part = _part(catalog[name], name, said, place_of(node.parts[-1], text, _TEXT))
    moment = moment_of(node, text, now)
    if moment is None and part.view in (None, TableView.CHANGES):
        moment = clauses.epoch
    if moment is not None:
        _refuse_moment(catalog[name], _title(name, said), part, moment)
    return _Named(node, catalog[name], name, said, moment, clauses.since if part.view is TableView.CHANGES else None)


def _uses(named: Sequence[_Named], past: KnownPast, clauses: Clauses, text: str) -> Iterator[TableUse]:
    """What is read at each place, each table in the version to which its moment belongs."""
    epoch, since = ((m if m and m.kind is MomentKind.EPOCH else None) for m in (clauses.epoch, clauses.since))
    ends = past.epoch_names((one.name for one in named if one.moment and one.moment.kind is MomentKind.EPOCH), epoch)
    starts = past.epoch_names((one.name for one in named if one.since), since)
    for one in named:
        title, history = _title(one.name, one.said), past.history(one.name, one.table)
        table = _version(history, one.table, one.moment, ends, title)
        if one.since is not None and _version(history, one.table, one.since, starts, title).name != table.name:
            raise history.apart(one.since, one.moment, title)
        part = _part(table, one.name, one.said, place_of(one.node.parts[-1], text, _TEXT))
        if one.moment is not None:
            _refuse_moment(table, title, part, one.moment)
        name = title if one.moment is None else f"{title}@{one.moment.suffix}"
        yield TableUse(name, table, part, (), one.moment, one.since)


def _version(
    history: TableHistory, table: Table, moment: Moment | None, of_epoch: Mapping[str, Iterable[str]], title: str
) -> Table:
    if moment is None:
        return table
    if moment.kind is not MomentKind.EPOCH:
        return history.at(moment, title)
    return history.of_epoch(of_epoch[history.name], moment, title) if of_epoch else table


def _title(name: str, said: str) -> str:
    return f"{name}{said}" if len(said) > 1 else name


def _refuse_moments_of_others(tree: exp.Query, stored: Sequence[exp.Table], text: str) -> None:
    """A moment behind the name of anything but a table, which nothing would look at."""
    tables = {id(node) for node in stored}
    for node in tree.walk():
        if id(node) not in tables and any(node.args.get(key) is not None for key in ("version", "when")):
            raise QueryRefusedError(
                "only a table has moments; this is none",
                at=place_of(node, text, _TEXT),
                hint="write the moment behind the name of each table that is read",
            )


def _refuse_moment(table: Table, title: str, part: Part, moment: Moment) -> None:
    target = table.tiers.target
    if part.view is not None and part.view is not TableView.CHANGES:
        raise QueryRefusedError(
            f"'{title}' is a list as of now", at=moment.at, hint="filter it: WHERE snapshot <= 3, WHERE epoch <= 12"
        )
    if moment.kind is MomentKind.EPOCH and part.tier not in (None, target):
        raise QueryRefusedError(
            f"epochs are of the {target} tier, which the flow writes, and not of '{title}'",
            at=moment.at,
            hint="ask for VERSION AS OF or TIMESTAMP AS OF, or for the table without $",
        )
    of = target if part.view is TableView.CHANGES else part.tier or table.tiers.present[-1]
    if moment.kind is MomentKind.VERSION and of is Tier.HOT:
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


def _rename(node: exp.Table, use: TableUse) -> None:
    if use.moment is None:
        return
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
    node.this.set("this", use.name.split(".", 1)[1])
    node.set("version", None)


def _listed(names: list[str]) -> str:
    if names:
        return f"tables: {', '.join(names)}"
    return "no flow has been run yet: streamhouse run FLOW; or the state store is gone: streamhouse status"


def _unknown_table(name: str, catalog: Catalog, at: Location) -> QueryRefusedError:
    for flow, error in unreadable_of(catalog).items():
        text = f"table '{name}' is not known, and neither are those of {flow}: {error.message}"
        return QueryRefusedError(text, at=at, hint=error.hint)
    known = sorted(catalog)
    same = [full for full in known if full.split(".")[1] == name.rsplit(".", maxsplit=1)[-1]]
    hint = f"did you mean '{same[0]}'?" if same else did_you_mean(name, known, _listed(known))
    return QueryRefusedError(f"unknown table '{name}'", at=at, hint=hint)


def _part(table: Table, name: str, said: str, at: Location) -> Part:
    """The part that is named behind a table, with its `$`; nothing: all of it."""
    if said == "$":
        listed = ", ".join(f"{name}.{one}" for one in parts(table) if "$" not in one)
        hint = f"write {name}, or one of {listed}"
        raise QueryRefusedError(f"'{name}$' names no part of the table", at=at, hint=hint)
    try:
        return part_of(table, name, said.removeprefix("$"))
    except UnknownPartError as error:
        raise QueryRefusedError(str(error), at=at, hint=error.hint) from error
