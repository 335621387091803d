"""Rows that a wish names by what is said of them alone: "paintings on loan", "late and missing complaints"."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.listing import Columns
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.request import ColumnRef, Condition, Dimension


def rows_of_flags(bench: Bench, listed: Columns) -> Columns:
    """What is listed; columns that only repeat a condition, or are yes or no, say which rows are wanted.

    Raises:
        NotPlacedError: they are columns of another table, so that the rows are not those of the base.
    """
    if not listed.columns or bench.measures or bench.dimensions or "whether" in bench.draft.words:
        return listed
    columns = _without_had(bench, listed.columns)
    keys = [ColumnRef(column=key) for key in bench.base.primary_key]
    if all(_is_flag(bench, one) or one.of in keys for one in columns) and not bench.draft.listing and _called(bench):
        columns = tuple(one for one in columns if one.of not in keys)  # "brakes in a hurry" are all columns of these
    flags = [one for one in columns if _is_flag(bench, one)]
    shown_flags = [one for one in columns if one.of in _bound(bench) and not bench.draft.listing]
    if any(one not in flags and one not in shown_flags for one in columns):
        said = [one for one in flags if _says_which(bench, one)]
        for one in said:
            _require(bench, one)
        if said:
            columns = _with_key(bench, tuple(one for one in columns if one not in said))
        _not_behind_with(bench, [one for one in flags if one not in said])
        return Columns(columns, True)
    if any(isinstance(one.of, ColumnRef) and one.of.role for one in columns):
        raise NotPlacedError(bench.draft.nouns[0].text, f"it does not say which rows of {bench.base.name} are wanted")
    for one in flags:
        _require(bench, one)
    bench.places.note(bench.base.name, f"rows of {bench.base.name}")
    return Columns((), True)


def _called(bench: Bench) -> bool:
    """Whether no word names the rows themselves or their key."""
    return not any(
        sense.table == bench.base.name and (sense.kind == "table" or sense.column in bench.base.primary_key)
        for noun in bench.draft.nouns
        for sense in noun.head.senses
    )


def _says_which(bench: Bench, flag: Dimension) -> bool:
    """Whether a flag stands beside the rows and says which are meant: "paintings on loan, with the date"."""
    of = flag.of
    for noun in bench.draft.nouns:
        if not isinstance(of, ColumnRef) or not any(s.column == of.column for s in noun.head.of_kind("column")):
            continue
        if any(one.end == noun.head.start and one.of_kind("value", "table") for one in noun.around):
            return True
        if any(one.start == noun.head.end and one.of_kind("value", "table") for one in mentions_of(bench.draft)):
            return True  # "native trees and shrubs, with name and height"
    return False


def _with_key(bench: Bench, columns: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The columns with the key of the rows before them."""
    shown = [one.of for one in columns]
    lacking = [key for key in bench.base.primary_key if ColumnRef(column=key) not in shown]
    return (*(Dimension(name=key, of=ColumnRef(column=key)) for key in lacking), *columns)


def _not_behind_with(bench: Bench, flags: list[Dimension]) -> None:
    """Do nothing where what is yes or no is shown on purpose.

    Raises:
        UnclearError: it stands behind "with", beside other columns: "garages with charging points and barrier".
    """
    said = f" {' '.join(bench.draft.words)} "
    plain = " with " in said and not any(f" with {word} " in said for word in ("the", "their", "its"))
    nouns = [
        noun for noun in bench.draft.nouns if any(_is_called(bench, one, " ".join(noun.head.words)) for one in flags)
    ]
    if plain and nouns and not bench.draft.listing:
        text = nouns[0].text
        raise UnclearError(
            f"'{text}': must it be so, or is it to be shown?", text, (f"that have {text}", f"show {text}")
        )


def _without_had(bench: Bench, columns: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The columns without what rows have: "students with the reduced fee", where that is yes or no."""
    said = f" {' '.join(bench.draft.words)} "
    texts = [text for noun in bench.draft.nouns if f" with the {(text := ' '.join(noun.head.words))} " in said]
    had = [one for one in columns if _is_flag(bench, one) and any(_is_called(bench, one, text) for text in texts)]
    for one in had:
        _require(bench, one)
    rest = tuple(one for one in columns if one not in had)
    keys = [ColumnRef(column=key) for key in bench.base.primary_key]
    return () if had and all(one.of in keys for one in rest) else rest


def _is_called(bench: Bench, shown: Dimension, text: str) -> bool:
    """Whether words of the wish are a name of a shown column."""
    of = shown.of
    mentions = [noun.head for noun in bench.draft.nouns if " ".join(noun.head.words) == text]
    return isinstance(of, ColumnRef) and any(s.column == of.column for m in mentions for s in m.of_kind("column"))


def _require(bench: Bench, flag: Dimension) -> None:
    """Add the condition that a column of yes or no is yes."""
    of = flag.of
    if flag.of in _bound(bench) or not isinstance(of, ColumnRef):
        return
    bench.filters.append(Condition(left=of, operator="=", values=(True,)))
    bench.places.note(flag.name.replace("_", " "), f"{of.column} is true")


def _is_flag(bench: Bench, shown: Dimension) -> bool:
    of = shown.of
    if not isinstance(of, ColumnRef):
        return False
    return bench.places.scope.reaches[of.role].table.column(of.column).type == "boolean"


def _bound(bench: Bench) -> list[object]:
    """What conditions already say the value of."""
    return [one.left for one in bench.filters if isinstance(one, Condition) and one.operator in {"=", "in"}]
