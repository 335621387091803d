"""What is listed of rows, and what nouns beside figures say."""

from dataclasses import dataclass, replace

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.conversion import shown_in
from streamhouse.planner.language.done_rows import done_before
from streamhouse.planner.language.draft import Figure, Noun
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.grouped import dimension_name
from streamhouse.planner.language.levels import LAST_WORD, NAME, NEARLY_NAME
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.named_measures import adds_up, named_measure
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.language.scope import TIMES, is_number, key_column
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.request import (
    ColumnRef,
    Dimension,
)


@dataclass
class Columns:
    """Columns of listed rows; `is_specified` also when all are."""

    columns: tuple[Dimension, ...]
    is_specified: bool


def listed_columns(bench: Bench, nouns: list[Noun], grouped: bool, entity: bool) -> Columns:
    """What is listed of rows; beside numbers, nouns only say which rows are meant, or show more of a group.

    Raises:
        NotPlacedError: a noun is no part of the rows.
    """
    places = bench.places
    if grouped or entity or bench.measures:
        for noun in nouns:
            beside(bench, noun)
        return Columns((), True)
    if _asks_values(bench, nouns):
        return _values_once(bench, nouns)
    columns: list[Dimension] = []
    whole = bool((bench.draft.alert or bench.draft.openers[:1] == ["whose"]) and not nouns and bench.filters)
    whole = whole or _rows_in_value(bench) or _rows_are_called(bench)
    if whole and bench.draft.openers[:1] == ["whose"]:
        places.note("whose", f"rows of {bench.base.name}")
    if bench.draft.best is not None and bench.draft.best.by is None and not bench.measures:
        whole = True
    distant = []
    for noun in nouns:
        if noun.predicate:
            _predicate(bench, noun)
            continue
        if places.is_base(noun.head) and not _names_column(bench, noun, nouns):
            whole = whole or noun is nouns[0] or not (_asks_things(bench, nouns) or _whose(bench, nouns[0], noun))
            places.take_base(noun.head)
            places.contexts(noun.around)
            continue
        if noun.head.of_kind("value") and noun.head.senses[0].kind == "value":
            places.context(noun.head)
            continue
        if _only_restricts(bench, noun):
            places.contexts(noun.mentions)
            continue
        if noun.linked and any(places.is_base(other.head) for other in nouns if other is not noun):
            places.context(noun.head)
            places.contexts(noun.around)
            continue
        if done_before(bench, noun):
            continue
        if not noun.listed and any(places.is_base(other.head) for other in nouns if other is not noun):
            _says_of_rows(bench, noun)
            continue
        if bench.draft.said[max(noun.head.start - 1, 0)] in _RELATIVE and noun.head.start:
            raise NotPlacedError(noun.text, "it says what things do, and not what is shown of them")
        placed = places.column(_as_column(bench, noun, nouns))
        if placed.of.role and not any(places.is_base(other.head) for other in nouns):
            places.cost += 1.0
        own = not placed.of.role and placed.column.name == key_column(bench.base)
        if not own and noun.head.of_kind("table") and noun.head.of_kind("table")[0].quality >= NEARLY_NAME:
            distant.append(placed)
            places.cost += 1.5
        name = unique_name(dimension_name(placed), columns)
        columns.append(Dimension(name=name, of=shown_in(places.use(placed), placed, noun.unit)))
        places.note(noun.text, placed.name)
    return _settled(bench, nouns, columns, whole, distant=len(distant))


_RELATIVE = frozenset({"who", "that"})


def _as_column(bench: Bench, noun: Noun, nouns: list[Noun]) -> Noun:
    """A noun among shown columns as the column of that name, though things are called so, too: "title, author"."""
    name = "_".join(noun.head.words)
    senses = tuple(s for s in noun.head.of_kind("column") if s.quality >= NAME and s.column == name)
    several = len(nouns) > 1 or bench.draft.best is not None
    if not senses or not noun.head.of_kind("table") or not several or not noun.listed:
        return noun
    if not any(sense.table in bench.places.scope.by_table for sense in senses):
        return noun
    return replace(noun, head=replace(noun.head, senses=senses))


def _says_of_rows(bench: Bench, noun: Noun) -> None:
    """Place what is said of rows and not shown of them: "overdue" of "loans overdue", where that is yes or no.

    Raises:
        NotPlacedError: it is no such thing.
    """
    if noun.head.of_kind("table"):  # "tickets from free customers"
        bench.places.context(noun.head)
        bench.places.contexts(noun.around)
        return
    found = [one for one in bench.places.columns(noun) if one.column.type == "boolean"]
    if not found or not noun.head.of_kind("value"):
        raise NotPlacedError(noun.text, "the wish does not say what is wanted of it")
    bench.places.leftover.append(noun.head)
    bench.places.contexts(noun.around)


def _settled(bench: Bench, nouns: list[Noun], columns: list[Dimension], whole: bool, *, distant: int) -> Columns:
    """What is shown in the end: rows, columns of rows, or each thing once."""
    places = bench.places
    if distant and distant != len(columns) and not whole:
        raise NotPlacedError(nouns[0].text, f"they are no rows of {bench.base.name}")
    if distant and not whole:
        bench.dimensions += columns
        places.assume("each is listed once")
        return Columns((), True)
    if columns and not whole and all(_points(bench, one) for one in columns):
        bench.dimensions += columns
        places.assume("each is listed once")
        return Columns((), True)
    if len(columns) == 1 and not whole and _says_deed(bench, nouns):
        raise NotPlacedError(nouns[0].text, "it says what was done, and not what is wanted")
    if len(columns) == 1 and not whole and _sorts(bench, columns[0]):
        bench.dimensions += columns
        places.assume("each value is listed once")
        return Columns((), True)
    if columns and not whole and not _listed_on_purpose(bench, columns):
        raise UnclearError(
            f"'{nouns[0].text}': the total, the average, or each one?",
            nouns[0].text,
            (f"total {nouns[0].text}", f"average {nouns[0].text}", f"list {nouns[0].text}"),
        )
    if whole and columns:
        for key in reversed(bench.base.primary_key):
            if all(one.of != ColumnRef(column=key) for one in columns):
                columns.insert(0, Dimension(name=key, of=ColumnRef(column=key)))
    if whole:
        places.note(bench.base.name, f"rows of {bench.base.name}")
    return Columns(tuple(columns), whole or bool(columns))


def _says_deed(bench: Bench, nouns: list[Noun]) -> bool:
    """Whether the only column is a verb for what the rows do: "electric cars entering by app"."""
    shown = [noun for noun in nouns if not noun.predicate and not noun.head.of_kind("value", "table")]
    word = shown[0].head.words[-1] if len(shown) == 1 and shown[0].head.words else ""
    return not bench.draft.listing and word.endswith("ing") and bool(bench.places.columns(shown[0], want="time"))


def _rows_in_value(bench: Bench) -> bool:
    """Whether the rows of the base are named within a value: "twin rooms", where that is a kind of room."""
    lexicon = bench.places.scope.lexicon
    for mention in mentions_of(bench.draft.filters):
        if len(mention.words) > 1 and any(s.table == bench.base.name for s in mention.of_kind("value")):
            last = lexicon.meanings((stem(mention.words[-1]),))
            if any(s.kind == "table" and s.table == bench.base.name and s.quality >= LAST_WORD for s in last):
                return True
    return False


def _asks_things(bench: Bench, nouns: list[Noun]) -> bool:
    """Whether a wish asks which things there are that rows of the base point to: "which books did children borrow"."""
    first = next((noun for noun in nouns if not noun.predicate), None)
    return bench.draft.openers[:1] == ["which"] and first is not None and not bench.places.is_base(first.head)


def _whose(bench: Bench, first: Noun, rows: Noun) -> bool:
    """Whether rows only say whose values are wanted: "cities our donors live in"."""
    plain = not (first.predicate or first.around or rows.listed) and first.head.is_plural
    if not plain or first.head.senses[0].kind != "column" or bench.places.is_base(first.head):
        return False
    found = bench.places.columns(first)
    return bool(found) and found[0].column.type == "string" and found[0].column.name not in bench.base.primary_key


def _rows_are_called(bench: Bench) -> bool:
    """Whether the wish begins with a value that people of the base are called by: "seniors that joined in 2024"."""
    subject = bench.draft.subject
    if subject is None or not subject.is_plural or not bench.filters:
        return False
    found = bench.places.values(subject)
    return bool(found) and not found[0].of.role


def _asks_values(bench: Bench, nouns: list[Noun]) -> bool:
    """Whether a wish asks which values there are: "which countries do our guests come from"."""
    if not nouns or bench.draft.openers[:1] not in (["which"], ["what"]) or bench.draft.best is not None:
        return False
    first = nouns[0]
    if first.predicate or first.around or first.head.start > 2 or not first.head.is_plural:
        return False
    if first.head.senses[0].kind != "column" or bench.places.is_base(first.head):
        return False
    found = bench.places.columns(first)
    return bool(found) and found[0].column.name not in found[0].reach.table.primary_key


def _values_once(bench: Bench, nouns: list[Noun]) -> Columns:
    placed = bench.places.column(nouns[0])
    bench.places.cost += 1.0 if placed.of.role else 0.0
    for noun in nouns[1:]:
        beside(bench, noun)
    bench.dimension(dimension_name(placed), bench.places.use(placed))
    bench.places.note(nouns[0].text, placed.name)
    bench.places.assume("each value is listed once")
    return Columns((), True)


def _names_column(bench: Bench, noun: Noun, nouns: list[Noun]) -> bool:
    key = key_column(bench.base)
    exact = any(
        s.kind == "column" and s.table == bench.base.name and s.quality >= NAME and s.column != key
        for s in noun.head.senses
    )
    others = [m for other in nouns for m in other.mentions if m is not noun.head]
    if exact and any(bench.places.is_base(mention) for mention in others):
        return True
    return any(
        s.kind == "column" and s.table == bench.base.name and s.quality > 0.96 for s in noun.head.senses
    ) and not any(s.kind == "table" and s.table == bench.base.name and s.quality >= NAME for s in noun.head.senses)


def _only_restricts(bench: Bench, noun: Noun) -> bool:
    """Whether a column stands there with its value: "with faulty quality"."""
    columns = {(s.table, s.column) for s in noun.head.of_kind("column")}
    return any(
        (s.table, s.column) in columns and s.table in bench.places.scope.by_table
        for mention in noun.around
        for s in mention.of_kind("value")
    )


def _listed_on_purpose(bench: Bench, columns: list[Dimension]) -> bool:
    """Whether somebody wants each value of numbers, and not a figure of them."""
    if bench.draft.listing:
        return True
    if len(columns) == 1 and _is_bare_time(bench, columns[0]):
        return False  # "ticket sales" are no list of times
    return not all(
        isinstance(one.of, ColumnRef)
        and not one.of.role
        and is_number(bench.base.column(one.of.column))
        and one.of.column not in bench.base.primary_key
        for one in columns
    )


_TIME_WORDS = frozenset({"date", "dates", "time", "times", "day", "days", "moment", "moments", "when"})


def _is_bare_time(bench: Bench, shown: Dimension) -> bool:
    """Whether the only column is a time that no word calls a time."""
    of = shown.of
    if not isinstance(of, ColumnRef) or _TIME_WORDS & set(bench.draft.words):
        return False
    return bench.places.scope.reaches[of.role].table.column(of.column).type in TIMES


def unique_name(name: str, columns: list[Dimension]) -> str:
    """A name that no column has yet."""
    taken = {one.name for one in columns}
    number, found = 2, name
    while found in taken:
        number, found = number + 1, f"{name}_{number}"
    return found


def _predicate(bench: Bench, noun: Noun) -> None:
    """A verb or an adjective of another noun: a value, something done, or what the rows are."""
    bench.places.context(noun.head)
    bench.places.contexts(noun.around)


def _points(bench: Bench, shown: Dimension) -> bool:
    """Whether a column only names a thing that rows point to, so that many rows show the same."""
    of = shown.of
    if not isinstance(of, ColumnRef):
        return False
    reach = bench.places.scope.reaches[of.role]
    return bool(reach.table.column(of.column).references) and of.column not in bench.base.primary_key


OWN_TEXTS = frozenset({"name", "title", "label", "email", "mail", "phone", "address", "comment", "note", "notes",
                        "text", "description", "url"})  # fmt: skip


def _sorts(bench: Bench, shown: Dimension) -> bool:
    """Whether a text says of which sort rows are, so that many rows show the same: "rooms used on Fridays"."""
    of = shown.of
    if not isinstance(of, ColumnRef):
        return False
    table = bench.places.scope.reaches[of.role].table
    column = table.column(of.column)
    if column.type != "string" or column.name in table.primary_key:
        return False
    return bool(of.role) or not set(column.name.split("_")) & OWN_TEXTS


def _before_rows(bench: Bench, noun: Noun) -> bool:
    """Whether a measure's name stands like an adjective before the rows: "unpaid invoices"."""
    nouns = [*bench.draft.nouns, *(one.noun for one in bench.draft.figures if isinstance(one.noun, Noun))]
    return any(other.head.start == noun.head.end and bench.places.is_base(other.head) for other in nouns)


def _adds(bench: Bench, noun: Noun) -> bool:
    """Whether a noun beside figures of groups is one more figure, which people add up."""
    if not bench.draft.figures or any(one.window for one in bench.draft.figures) or noun.head.of_kind("table", "value"):
        return False
    found = bench.places.columns(noun, want="number")
    return bool(found) and not found[0].of.role and found[0].cost <= 1.0 and adds_up(found[0].column)


_ONE_OF = (("a",), ("an",))
_CLOSE = 0.75  # columns whose costs differ less are as likely meant


def beside(bench: Bench, noun: Noun) -> None:
    """Place a noun beside figures: it says which rows are meant, or is one more figure.

    Raises:
        NotPlacedError: it is neither.
    """
    places = bench.places
    if noun.predicate:
        _predicate(bench, noun)
        return
    if places.is_base(noun.head):
        places.take_base(noun.head)
        places.contexts(noun.around)
        return
    if noun.head.of_kind("value") and places.values(noun.head):
        places.context(noun.head)
        return
    if named_measure(bench, noun):
        if _before_rows(bench, noun):
            raise NotPlacedError(noun.text, f"it says which {bench.base.name} are meant, and is no figure there")
        if bench.draft.said[noun.start - 1 : noun.start] in _ONE_OF:
            raise NotPlacedError(noun.text, "it is one thing, and no figure")  # "clubs that booked a lane"
        if noun.linked or any(one.window in {"share", "ratio"} for one in bench.draft.figures):
            raise NotPlacedError(noun.text)
        measured(bench, Figure("", noun, phrase=noun.text))
        return
    if bench.dimensions and not noun.linked and _adds(bench, noun):
        measured(bench, Figure("", noun, unit=noun.unit, phrase=noun.text))
        return
    said = {one.of for one in bench.measures} | {one.of for one in bench.dimensions}
    found = places.columns(noun)
    if not noun.around and found and all(one.of in said for one in found if one.cost - found[0].cost < _CLOSE):
        return
    places.context(noun.head)
    places.contexts(noun.around)
