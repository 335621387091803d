"""Columns of things before the things: "names and ages of the editors who are older than 25".

Such a wish is read as a list of the things, and of each row only these columns are shown.
"""

from dataclasses import dataclass, replace

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Draft, Noun
from streamhouse.planner.language.grouped import dimension_name
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.listed_behind import columns_behind
from streamhouse.planner.language.listing import OWN_TEXTS, Columns, unique_name
from streamhouse.planner.language.place import NotPlacedError
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, singular
from streamhouse.planner.language.words import ARTICLES_OF_ALL
from streamhouse.planner.request import ColumnRef, Dimension

_OPENERS = (
    *(f"{asked} {being}".split() for asked in ("what", "which", "who") for being in ("is", "are", "was", "were")),
    *(
        f"{verb} {me}".split()
        for verb in ("list", "show", "give", "find", "return", "get", "display", "print", "tell", "report", "output")
        for me in ("me", "us", "")
    ),
)
_BETWEEN = frozenset({",", "and", "&"})
_BEFORE_THINGS = frozenset({"of", "for", "from"})
_STOPS = frozenset(
    """, ; . ? ! of in on at by from to with without that which who whose where when per each every and or for under
    different distinct unique number count""".split()
)
_COUNTS = frozenset({"number", "count", "amount", "sum", "total", "average"})  # "number of flights" counts them
_DENIED = frozenset({"not", "never", "no", "without", "nobody", "none", "neither", "nor"})
_FARTHEST = 4  # words between "of" and the things: "of the 3 least expensive books"


@dataclass(frozen=True)
class Apart:
    """A wish as a list of things, and the columns shown of them; `keyed`: beside what tells the things apart."""

    tokens: tuple[Token, ...]
    shown: tuple[Mention, ...]
    keyed: bool


def with_columns_apart(tokens: tuple[Token, ...], lexicon: Lexicon) -> Apart | None:
    """The wish as a list of things, and the columns shown of them; None: it neither begins nor ends with columns."""
    before = _columns_before(tokens, lexicon)
    rest, shown = before or (tokens, ())
    things = _first_things(rest, lexicon)
    behind = columns_behind(rest, things, lexicon) if things else None
    if behind is not None:
        end, more = behind
        return Apart(rest[:end], (*shown, *more), keyed=before is None)
    return Apart(*before, keyed=False) if before is not None else None


def _first_things(tokens: tuple[Token, ...], lexicon: Lexicon) -> list[str]:
    """The tables that the first of the things of a wish may be."""
    for at in range(len(tokens)):
        found = lexicon.mention(tokens, at)
        named = found.of_kind("table") if found is not None else ()
        senses = [sense for sense in named if sense.quality >= NEARLY_NAME]
        if senses:
            return list(dict.fromkeys(sense.table for sense in senses))
    return []


def _columns_before(
    tokens: tuple[Token, ...], lexicon: Lexicon
) -> tuple[tuple[Token, ...], tuple[Mention, ...]] | None:
    begin = _opener(tokens)
    at, shown = begin, []
    while True:
        at = _skip(tokens, at, ARTICLES_OF_ALL)
        found = lexicon.mention(tokens, at) if at < len(tokens) else None
        if found is None or not any(sense.quality >= NEARLY_NAME for sense in found.of_kind("column")):
            return None
        shown.append(found)
        at = found.end
        if at < len(tokens) and tokens[at].word in _BETWEEN:
            at = _skip(tokens, at, _BETWEEN)
            continue
        break
    counted = shown[-1].words[-1] in _COUNTS
    if at >= len(tokens) or tokens[at].word not in _BEFORE_THINGS or counted:
        return None
    things = _things(tokens, at + 1, lexicon)
    if things is None:
        return None
    tables = [sense.table for sense in things.of_kind("table") if sense.quality >= NEARLY_NAME]
    own = [_own(one, tables) for one in shown]
    columns = [one for one in own if one is not None]
    if len(columns) < len(own) or not _lists(tokens, begin, things, columns, lexicon):
        return None
    first = tokens[at]
    opener = replace(first, text="list", word="list", stem="list", kind="word", value=None)
    return (opener, *tokens[at + 1 :]), tuple(columns)


def _opener(tokens: tuple[Token, ...]) -> int:
    begin = int(bool(tokens) and tokens[0].word == "please")
    words = [token.word for token in tokens[begin : begin + 3]]
    for opener in _OPENERS:
        if words[: len(opener)] == opener:
            return begin + len(opener)
    return 0


def _skip(tokens: tuple[Token, ...], at: int, words: frozenset[str]) -> int:
    while at < len(tokens) and tokens[at].word in words:
        at += 1
    return at


def _things(tokens: tuple[Token, ...], start: int, lexicon: Lexicon) -> Mention | None:
    """The first word behind "of" that names a table, where only adjectives and numbers stand before it."""
    for at in range(start, min(start + _FARTHEST + 1, len(tokens))):
        if tokens[at].word in _STOPS and not (at == start and tokens[at].word in {"each", "every"}):
            return None
        found = lexicon.mention(tokens, at)
        if found is not None and any(sense.quality >= NEARLY_NAME for sense in found.of_kind("table")):
            return found
    return None


def _own(shown: Mention, tables: list[str]) -> Mention | None:
    """What words before "of" mean as columns of the things; None: they may be a figure, or name no column of them."""
    senses = tuple(s for s in shown.of_kind("column") if s.table in tables and s.quality >= NEARLY_NAME)
    figures = any(s.table in tables and s.quality >= NEARLY_NAME for s in shown.of_kind("measure"))
    exact = [sense for sense in senses if sense.quality == max(one.quality for one in senses)]
    if figures or not exact or len({one.column for one in exact}) != 1:
        return None
    return replace(shown, senses=tuple(exact))


def _lists(tokens: tuple[Token, ...], begin: int, things: Mention, columns: list[Mention], lexicon: Lexicon) -> bool:
    """Whether values are listed and not added up: of one thing, or with a text or a key, or on demand."""
    word = things.words[-1]
    if len(columns) == 1 and all(token.kind == "symbol" for token in tokens[things.end :]) and _several(columns[0]):
        return False  # "districts of our branches": each district once
    if singular(word) == word or (
        begin and {token.word for token in tokens[:2]} & {"list", "show", "display", "print", "find", "return"}
    ):
        return True
    catalog = lexicon.catalog.tables
    for one in columns:
        table = catalog[one.senses[0].table]
        column = table.column(one.senses[0].column)
        if not is_number(column) or column.references or column.name in table.primary_key:
            return True
    return False


def _several(shown: Mention) -> bool:
    """Whether words before "of" are a plural that calls no things by their names: "districts", but not "titles"."""
    word = shown.words[-1]
    return singular(word) != word and not set(shown.senses[0].column.split("_")) & OWN_TEXTS


def show_columns(bench: Bench, draft: Draft, listed: Columns) -> Columns:
    """The columns of a result whose wish begins with them.

    Raises:
        NotPlacedError: the result has no row for each of the things that they are of.
    """
    if not draft.shown:
        return listed
    bench.shows = True
    base, tables = bench.base, {sense.table for one in draft.shown for sense in one.senses}
    if not (bench.dimensions or bench.measures or bench.derived):
        keys = base.primary_key if draft.keyed else ()
        columns = [Dimension(name=key, of=ColumnRef(column=key)) for key in keys]
        for one in draft.shown:
            own = next((sense.column for sense in one.senses if sense.table == base.name), None)
            if own is None:
                raise NotPlacedError(one.text, f"the rows are of {base.name}")
            if all(known.of != ColumnRef(column=own) for known in columns):
                columns.append(Dimension(name=unique_name(own, columns), of=ColumnRef(column=own)))
            bench.places.note(one.text, f"{base.name}.{own}")
            if own in keys:
                bench.places.assume(f"'{one.text}' is {base.name}.{own}")
        return Columns(tuple(columns), True)
    denied = base.name not in tables and bool(_DENIED & set(draft.words))
    if denied or not any(_is_thing(bench, one, tables) for one in bench.dimensions):
        raise NotPlacedError(draft.shown[0].text, "there is no row for each of the things that it is of")
    for one in draft.shown:
        placed = bench.places.column(Noun(one))
        bench.dimension(dimension_name(placed), bench.places.use(placed))
        bench.places.note(one.text, placed.name)
    return listed


def _is_thing(bench: Bench, one: Dimension, tables: set[str]) -> bool:
    """Whether a group is one of the things whose columns are shown."""
    if not isinstance(one.of, ColumnRef):
        return False
    table = bench.places.scope.reaches[one.of.role].table
    column = table.column(one.of.column)
    own = table.name in tables and table.primary_key == (column.name,)
    return own or (column.references is not None and column.references[0] in tables)
