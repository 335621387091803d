"""Tables that have only a part of the rows, or sums of rows: who does not name such a table may mean all rows.

A table of DWS or ADS keeps the conditions of its step out of sight. The average over its rows is the average of sums.
"""

from functools import lru_cache

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.types import Layer
from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Draft, Noun
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.scope import TIMES, name_stems
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.request import ColumnRef, Condition, Question
from streamhouse.sql.dialect import parse_query, render

_OF_SINGLE_ROWS = frozenset({"avg", "min", "max", "median", "stddev"})
_SUMS = (exp.Sum, exp.Count)
_LATE = frozenset(map(stem, ("late", "overdue", "delay", "delayed")))


def narrow_table(wish: AnsweredWish) -> Question | None:
    """The question whether a table without all rows is meant, or one whose rows are sums; None: it is named."""
    base, catalog = wish.base, wish.lexicon.catalog
    if base.layer is Layer.DWD and (whole := table_with_all_rows(base, wish.draft, wish.found)):
        text = f"{base.name} has only some of the rows of {whole}: are these meant?"
        return _question(text, base, wish.draft, whole)
    action = catalog.actions.get(base.action)
    if action is None or _is_named(base, wish.draft, wish.found):
        return None
    if (ended := _only_ended(wish, _never_null(action.sql))) is not None:
        return ended
    conditions, sums = _narrowed_by(action.sql)
    named = next((one for one in base.upstream if one in wish.things and _says(one, base, wish.found)), "")
    if base.layer is Layer.DWD and conditions and named:
        text = f"{base.name} has only rows of {named} where {conditions}: are these meant?"
        return _question(text, base, wish.draft, named)
    if base.layer not in {Layer.DWS, Layer.ADS}:
        return None
    if conditions:
        text = f"{base.name} has only rows where {conditions}, which the wish does not say: is that meant?"
        return _question(text, base, wish.draft)
    for one in wish.block.measures:
        of = one.of
        if one.function in _OF_SINGLE_ROWS and isinstance(of, ColumnRef) and not of.role and of.column in sums:
            text = f"each {of.column} of {base.name} is a sum of rows: is the {one.function} of these sums meant?"
            return _question(text, base, wish.draft)
    return None


def _only_ended(wish: AnsweredWish, never_null: frozenset[str]) -> Question | None:
    """As in "loans more than 10 days late" by the returns, which only have loans that came back."""
    base, tables = wish.base, wish.lexicon.catalog.tables
    whole = tables.get(base.upstream[0]) if len(base.upstream) == 1 else None
    if base.layer is not Layer.DWD or whole is None or whole.name not in wish.things:
        return None
    own = {one.name for one in base.columns} - {one.name for one in whole.columns}
    bounds = [
        one.left for one in wish.block.filters if isinstance(one, Condition) and one.operator in {">", ">=", "<", "<="}
    ]
    late = [one.column for one in bounds if isinstance(one, ColumnRef) and not one.role and one.column in own]
    bound = next(
        (one for one in late if _LATE & set(stems(one))), ""
    )  # what lasted 90 minutes is over, and is not late
    said = {stem(word) for word in wish.draft.words}
    states = [one for one in whole.columns if one.name in never_null and one.type in TIMES and may_be_empty(one)]
    if not bound or not states or any(name_stems(one) & said for one in states):
        return None
    name = states[0].name
    text = f"{base.name} has only rows of {whole.name} with {name}: do those without it count, too?"
    return _question(text, base, wish.draft, whole.name)


def table_with_all_rows(base: CatalogTable, draft: Draft, found: Shaped) -> str:
    """The table that has all rows of which a table has some, and that says all that is read; empty: none has."""
    catalog = found.bench.places.scope.lexicon.catalog
    action = catalog.actions.get(base.action)
    if (
        action is None
        or len(base.upstream) != 1
        or base.upstream[0] not in catalog.tables
        or _is_named(base, draft, found)
    ):
        return ""
    whole = catalog.tables[base.upstream[0]]
    # A row without moves is right and is a row: "moves: empty if the game was not played".
    states = {one.name for one in whole.columns if one.type in TIMES or may_be_empty(one)}
    if not (states - {whole.event_time, *whole.primary_key}) & _never_null(action.sql) or whole.layer is base.layer:
        return ""
    return whole.name if _says(whole.name, base, found) else ""


def _says(whole: str, base: CatalogTable, found: Shaped) -> bool:
    """Whether a table has all columns that an answer reads of another."""
    columns = {one.name for one in found.bench.places.scope.lexicon.catalog.tables[whole].columns}
    text = found.block.model_dump_json()
    return {one.name for one in base.columns if f'"column":"{one.name}"' in text} <= columns


def _question(text: str, base: CatalogTable, draft: Draft, whole: str = "") -> Question:
    figures = [one.noun for one in draft.figures if isinstance(one.noun, Noun)]
    phrase = next((one.text for one in (*figures, *draft.nouns)), "")
    tables = (base.name, whole) if whole else (base.name,)
    return Question(text=text, phrase=phrase, choices=tuple(f"{phrase} of {one}" for one in tables) if phrase else ())


def _is_named(base: CatalogTable, draft: Draft, found: Shaped) -> bool:
    """Whether a wish names a table, or a measure that somebody defined on it.

    A word that names the rows that it is made of better names these: "orders" are no `shipped_orders`.
    """
    if any(one.named is not None for one in found.block.measures):
        return True
    for mention in mentions_of(draft):
        named = {one.table: one.quality for one in reversed(mention.of_kind("table"))}
        whole = max((named.get(one, 0.0) for one in base.upstream), default=0.0)
        if named.get(base.name, 0.0) >= max(ANY_FORM, whole):
            return True
    return False


@lru_cache(maxsize=256)
def _narrowed_by(sql: str) -> tuple[str, frozenset[str]]:
    """The conditions that a query puts on rows, as SQL, and its columns that are sums; without those on NULL."""
    try:
        query = parse_query(sql, Location("action"))
    except StreamhouseError:
        return "something that cannot be read is so", frozenset()
    said = [
        render(part)
        for clause in query.find_all(exp.Where, exp.Having, exp.Qualify)
        for part in _parts(clause.this)
        if not _asks_for_null(part)
    ]
    sums = {one.alias_or_name.lower() for one in query.selects if one.find(*_SUMS) is not None}
    return " and ".join(dict.fromkeys(said)), frozenset(sums)


@lru_cache(maxsize=256)
def _never_null(sql: str) -> frozenset[str]:
    """The columns without which a query leaves rows out."""
    try:
        query = parse_query(sql, Location("action"))
    except StreamhouseError:
        return frozenset()
    parts = (part for clause in query.find_all(exp.Where) for part in _parts(clause.this) if _asks_for_null(part))
    return frozenset(column.name.lower() for part in parts for column in part.find_all(exp.Column))


def _parts(condition: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND joins, each by itself."""
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _asks_for_null(part: exp.Expr) -> bool:
    return isinstance(part, exp.Not) and isinstance(part.this, exp.Is) and isinstance(part.this.expression, exp.Null)
