"""From a ranking of a wish to the Ranking of a Request."""

from dataclasses import dataclass, replace

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Best, Figure, Noun, Time
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.grouped import dimension_of
from streamhouse.planner.language.hints import by_age, hinted, size_of_rows
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import entity_of
from streamhouse.planner.language.named_measures import adds_up
from streamhouse.planner.language.place import NotPlacedError, Placed, UnclearError
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import plural, singular, stems
from streamhouse.planner.request import ColumnRef, Cut, Grain, Measure, Ranking

_ORDER = (Grain.MINUTE, Grain.HOUR, Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.QUARTER, Grain.YEAR)


@dataclass
class Listed:
    """What is left of the nouns: numbers, and nouns that are listed or only say what rows are meant."""

    figures: list[Figure]
    nouns: list[Noun]


def ranking_of(bench: Bench, best: Best, listed: Listed) -> tuple[Ranking, Listed]:
    """The ranking that a wish asks for; adds its dimensions and its measure, or ranks rows.

    Raises:
        NotPlacedError, UnclearError: it cannot be placed, or does not say what decides.
    """
    if not (bench.dimensions or bench.draft.figures or listed.figures) and _ranks_rows(bench, best):
        return _rows(bench, best), listed
    for group in best.per:
        dimension_of(bench, group)
    per = tuple(one.name for one in bench.dimensions)
    if best.target is None:
        raise NotPlacedError(best.phrase)
    _no_flag(bench, best)
    _no_column_of_one(best)
    name = _label(bench, best) or dimension_of(bench, best.target)
    if isinstance(best.target, Time):
        per = tuple(one for one in per if one != name)
    per = tuple(one for one in per if one != name)
    by = _by(bench, best, listed)
    bench.places.note(best.phrase, f"{'highest' if best.descending else 'lowest'} {best.count} by {by}")
    return Ranking(by=by, count=best.count, descending=best.descending, per=per, ties=best.ties), listed


def _no_flag(bench: Bench, best: Best) -> None:
    """What is ranked is a thing, and not whether rows are one: "freelancers with the highest fee".

    Raises:
        UnclearError: it is yes or no of rows.
    """
    target = best.target
    if not isinstance(target, Noun) or target.head.of_kind("table"):
        return
    found = bench.places.columns(target)
    if found and found[0].column.type == "boolean":
        things = found[0].reach.table.name.split(".")[1].replace("_", " ")
        raise UnclearError(
            f"'{best.phrase}': which {things} are meant?", best.phrase, (f"{things} that are {target.text}",)
        )


def _no_column_of_one(best: Best) -> None:
    """What is ranked is one thing, and not the groups of a column of it: "the town of the member with the most loans".

    Raises:
        UnclearError: it is a column of one thing.
    """
    target = best.target
    if not isinstance(target, Noun) or target.head.of_kind("table") or not target.head.of_kind("column"):
        return
    for one in target.around:
        word = one.words[-1] if one.words else ""
        named = any(sense.quality >= NEARLY_NAME for sense in one.of_kind("table"))
        if named and one.start > target.head.start and singular(word) == word:
            raise UnclearError(f"'{best.phrase}': one {word}, or a group of {plural(word)}?", best.phrase)


def _by_rows(bench: Bench, best: Best) -> bool:
    """Whether the number of rows decides."""
    if best.by is None or best.by.function == "rows":
        return best.by is not None
    counted = isinstance(best.by.noun, Noun) and bench.places.is_base(best.by.noun.head)
    return counted and best.by.function in {"count", "most", ""}


def _label(bench: Bench, best: Best) -> str | None:
    """What rows of the base are called, where they themselves are counted: the label of "top 3 diagnoses"."""
    if not _by_rows(bench, best) or not isinstance(best.target, Noun) or not bench.places.is_base(best.target.head):
        return None
    entity = stems(entity_of(bench.base))
    labels = [
        c.name
        for c in bench.base.columns
        if c.type == "string" and (c.name in {"label", "name", "title"} or stems(c.name) == (*entity, "name"))
    ]
    if len(labels) != 1:
        raise UnclearError(f"'{best.phrase}': by which column are {best.target.text} told apart?", best.phrase)
    bench.places.contexts(best.target.around)
    bench.places.assume(f"{best.target.text} are told apart by {bench.base.name}.{labels[0]}")
    return bench.dimension(labels[0], ColumnRef(column=labels[0]))


def _by(bench: Bench, best: Best, listed: Listed) -> str:
    if best.by is not None:
        _no_amount_meant(bench, best.by)
        return measured(bench, replace(best.by, window=""))
    figures = [*bench.draft.figures, *listed.figures]
    if len(figures) == 1 and not figures[0].window:
        return measured(bench, figures[0])
    if best.hint == "rows":
        if not _says_rows(bench, best):
            raise UnclearError(
                f"'{best.phrase}': by the number of what?",
                best.phrase,
                tuple(f"{best.phrase} by number of {word}" for word in ("rows",)),
            )
        bench.places.assume(f"'{best.phrase}' goes by the number of rows of {bench.base.name}")
        return bench.measure(Measure(name="row_count"))
    size = _size(bench, best)
    if size is not None:
        return size
    raise UnclearError(f"'{best.phrase}': by which figure?", best.phrase, _figures(bench, best))


def _size(bench: Bench, best: Best) -> str | None:
    """The measure that "the 3 largest invoices of each client" go by, where each row is one and has one amount."""
    named = isinstance(best.target, Noun) and bench.places.is_base(best.target.head)
    column = size_of_rows(bench, best.hint, best.phrase) if named and len(bench.base.primary_key) == 1 else None
    if column is None:
        return None
    bench.places.assume(f"'{best.phrase}' goes by {bench.base.name}.{column.name}")
    return bench.measure(Measure(name=column.name, function="sum", of=ColumnRef(column=column.name), unit=column.unit))


def _no_amount_meant(bench: Bench, by: Figure) -> None:
    """A verb with "the most" and no figure, over rows that have amounts: how often, or how much?

    Raises:
        UnclearError: as for "which learner paid the most".
    """
    if by.function != "rows" or by.phrase.split()[-1:] not in (["most"], ["least"], ["fewest"]):
        return
    amounts = [column for column in bench.base.columns if is_quantity(column) and adds_up(column)]
    if amounts:
        name = amounts[0].name.removesuffix("_cents").replace("_", " ")
        raise UnclearError(
            f"'{by.phrase}': by the number of rows of {bench.base.name}, or by {bench.base.name}.{amounts[0].name}?",
            by.phrase,
            (f"with the highest total {name}",),
        )


def _says_rows(bench: Bench, best: Best) -> bool:
    """Whether something else in the wish names the rows to count; "of tickets" behind what is ranked does, too."""
    target = best.target
    if isinstance(target, Noun):
        around = [one for one in target.around if any(s.quality >= NEARLY_NAME for s in one.of_kind("table"))]
        words = target.head.words
        named = "of" in words and stems(words[-1])[-1] in stems(entity_of(bench.base))
        if named or any(bench.places.is_base(one) for one in around):
            return True
    return any(bench.places.is_base(noun.head) for noun in bench.draft.nouns)


def _figures(bench: Bench, best: Best) -> tuple[str, ...]:
    return tuple(f"{best.phrase} by {name.replace('_', ' ')}" for name in bench.base.measures)[:4]


def _ranks_rows(bench: Bench, best: Best) -> bool:
    """Whether rows of the base themselves are ranked: "the 3 longest rides"."""
    return (
        isinstance(best.target, Noun)
        and best.by is None
        and best.hint != "rows"
        and bench.places.is_base(best.target.head)
    )


def _rows(bench: Bench, best: Best) -> Ranking:
    """Rows themselves, by a column; of each group, where it is one of the base's columns."""
    assert isinstance(best.target, Noun)
    per: list[str] = []
    for group in best.per:
        if not isinstance(group, Noun):
            raise NotPlacedError(best.phrase, "the best rows of each period cannot be listed; say which figure decides")
        placed = bench.places.column(group)
        per.append(_group_of_rows(bench, placed))
    bench.places.contexts(best.target.around)
    bench.places.take_base(best.target.head)
    placed = hinted(bench, best.hint, best.phrase, days=True)
    descending = best.descending != by_age(placed, best.hint)
    bench.places.note(best.phrase, f"{'highest' if descending else 'lowest'} {best.count} by {placed.name}")
    return Ranking(by=placed.column.name, count=best.count, descending=descending, per=tuple(per), ties=best.ties)


def _group_of_rows(bench: Bench, placed: Placed) -> str:
    """The column that rows are ranked within; one of another table is shown beside them."""
    name = placed.column.name
    if placed.of.role:
        own = {column.name for column in bench.base.columns}
        name = f"{placed.of.role}_{name}" if name in own else name
        bench.beside[name] = bench.places.use(placed)
    return name


__all__ = ["Cut", "Figure"]
