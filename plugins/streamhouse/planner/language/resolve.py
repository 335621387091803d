"""Choose the table that a wish is about: the base over which all of it has a place, at the least cost."""

from contextlib import suppress
from dataclasses import dataclass

from streamhouse.planner.check_repeats import repeated_sum
from streamhouse.planner.language.draft import Compared, Draft, Figure
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.listed_things import check_conditions_shared, check_listed, check_weighed
from streamhouse.planner.language.mentions import mentions_of, tables_named
from streamhouse.planner.language.narrow_tables import table_with_all_rows
from streamhouse.planner.language.place import NotPlacedError, RefusedError, UnclearError
from streamhouse.planner.language.plain_folds import measure_of_column
from streamhouse.planner.language.scope import ReachableTables
from streamhouse.planner.language.shape import Shaped, shaped
from streamhouse.planner.language.tokens import stems
from streamhouse.planner.language.weaker_names import has_weaker_name
from streamhouse.planner.request import ColumnRef

_PART = 3.0  # what the whole may cost more
_MOST_BASES = 60
_NEAR = 0.4  # costs that differ less mean that both tables are as good
_LIKE = 1.0  # within which words of the wish may choose by descriptions


@dataclass(frozen=True)
class Failed:
    """Why a draft means nothing over one base."""

    base: str
    error: NotPlacedError | UnclearError | RefusedError


def resolved(draft: Draft, lexicon: Lexicon) -> Shaped | Failed:
    """The best reading of a draft, or why there is none."""
    mentions = mentions_of(draft)
    if draft.base in lexicon.catalog.tables:
        with suppress(NotPlacedError, RefusedError):  # "customers from ods.orders" may be rows of another table
            return _over_or_unclear(draft.base, draft, lexicon, mentions)
    found: list[Shaped] = []
    failed: list[tuple[float, Failed]] = []
    for base in dict.fromkeys([*_bases(mentions), *_all_tables(draft, lexicon)]):
        try:
            found.append(_over(base, draft, lexicon, mentions))
        except NotPlacedError as error:
            failed.append((_missing(mentions, lexicon, base), Failed(base, error)))
        except (UnclearError, RefusedError) as error:
            failed.append((_missing(mentions, lexicon, base) - 2, Failed(base, error)))
    if not found:
        if not failed:
            return Failed("", NotPlacedError("", "nothing in it names a table, a column or a value"))
        return min(failed, key=lambda one: (one[0], -_columns_said(one[1], mentions), one[1].base))[1]
    found.sort(key=lambda one: (one.cost, one.bench.base.name))
    whole = _whole_of(found, failed, mentions, lexicon)
    if whole is not None:
        return whole
    return _as_good(found[0], failed, mentions, lexicon) or _decided(
        _all_rows_first(_described_first(found, draft, lexicon), draft), lexicon
    )


def _all_rows_first(found: list[Shaped], draft: Draft) -> list[Shaped]:
    """In place of a table that has only some of the rows of another, first that other, which the wish fits, too."""
    part = found[0].bench.base
    whole = table_with_all_rows(part, draft, found[0])
    shape = next((one for one in found[1:] if one.bench.base.name == whole), None)
    if not whole or shape is None:
        return found
    shape.bench.places.assume(f"all rows of {whole} count, and not only those that {part.name} has")
    return [shape, *(one for one in found if one is not shape)]


def _columns_said(one: Failed, mentions: list[Mention]) -> int:
    """How many words of a wish name columns of the base that cannot meet it: of two bases, the wish is about that."""
    if not isinstance(one.error, RefusedError):
        return 0
    return sum(any(s.table == one.base and s.quality >= WHOLE_NAME for s in m.of_kind("column")) for m in mentions)


def _over_or_unclear(base: str, draft: Draft, lexicon: Lexicon, mentions: list[Mention]) -> Shaped | Failed:
    """A reading over one base, or what is unclear of it.

    Raises:
        NotPlacedError, RefusedError: there is none.
    """
    try:
        return _over(base, draft, lexicon, mentions)
    except UnclearError as error:
        return Failed(base, error)


def _over(base: str, draft: Draft, lexicon: Lexicon, mentions: list[Mention]) -> Shaped:
    """A reading over one base.

    Raises:
        NotPlacedError, UnclearError, RefusedError: there is none.
    """
    shape = shaped(draft, lexicon, base)
    if why := repeated_sum(shape.block):
        raise RefusedError(why)
    check_listed(shape, draft, mentions)
    check_weighed(shape, mentions)
    check_conditions_shared(shape)
    return shape


def _described_first(found: list[Shaped], draft: Draft, lexicon: Lexicon) -> list[Shaped]:
    """Of readings that are as good, first the one whose columns the wish describes: "kWh *used*" and not billed."""
    best = found[0]
    if best.bench.base.name in tables_named(mentions_of(draft), WHOLE_NAME) and _counts_rows(best):
        return found  # "number of games" of games, and not the number of them that something else is described with
    near = [one for one in found if one.cost - best.cost < _LIKE]
    near = [one for one in near if one is best or not _related(best.bench.base.name, one.bench.base.name, lexicon)]
    if len(near) < 2:
        return found
    said = {stem for word in draft.words if word not in _COMMON for stem in stems(word)}
    scores = [len(said & _description_stems(one)) for one in near]
    if scores.count(max(scores)) != 1:
        return found
    chosen = near[scores.index(max(scores))]
    others = [one for one in found if one not in near]
    rest = [one for one in near if one is not chosen]
    return [chosen, *others] if max(scores) > sorted(scores)[-2] else [chosen, *rest, *others]


def _counts_rows(one: Shaped) -> bool:
    measures = one.block.measures
    return bool(measures) and all(measure.function == "count" and measure.of is None for measure in measures)


_COMMON = frozenset("the a an of in for per by and or each every to is are was were how many much what which".split())


def _description_stems(one: Shaped) -> set[str]:
    """Stems of what is written of the numbers that a reading computes with."""
    text = "".join(measure.model_dump_json() for measure in one.block.measures)
    columns = [column for column in one.bench.base.columns if f'"{column.name}"' in text]
    return {stem for column in columns for stem in stems(column.description)}


def _whole_of(
    found: list[Shaped], failed: list[tuple[float, Failed]], mentions: list[Mention], lexicon: Lexicon
) -> Shaped | Failed | None:
    """In place of a table that is made of rows of another, that other, where the wish names it and not the part."""
    best = found[0].bench.base.name
    key = lexicon.catalog.tables[best].primary_key
    keys = [one for one in lexicon.keys.get(best, []) if one.columns == key and one.to in _above(best, lexicon)]
    for one in keys:
        if _named(mentions, one.to) < ANY_FORM or _named(mentions, best) >= _named(mentions, one.to):
            continue
        for shape in found[1:]:
            if shape.bench.base.name == one.to and shape.cost - found[0].cost < _PART:
                return shape
        for _, other in failed:
            if other.base == one.to and (isinstance(other.error, UnclearError) or _has(one.to, other.error, mentions)):
                return other
    return None


def _has(table: str, error: NotPlacedError | RefusedError, mentions: list[Mention]) -> bool:
    """Whether a table has what found no place: the wish is about it then, and not about a part of its rows."""
    if not isinstance(error, NotPlacedError):
        return False
    said = [mention for mention in mentions if mention.text == error.phrase]
    return any(s.table == table and s.quality >= ANY_FORM for mention in said for s in mention.senses)


def _named(mentions: list[Mention], table: str) -> float:
    """How well a wish names a table, or a measure or state of it that no other has."""
    return max((s.quality for m in mentions for s in m.of_kind("table", "measure") if s.table == table), default=0.0)


def _decided(found: list[Shaped], lexicon: Lexicon) -> Shaped | Failed:
    best = found[0]
    for other in found[1:]:
        near = _LIKE if _same_name(best, other) else _NEAR
        if has_weaker_name(best, other):
            continue
        if other.cost - best.cost < near and not _related(best.bench.base.name, other.bench.base.name, lexicon):
            common = _common(found, best, other, lexicon)
            if common is not None:
                return common
            names = (best.bench.base.name, other.bench.base.name)
            return Failed(best.bench.base.name, _which(_phrase(best, other), names))
    return best


def _as_good(
    best: Shaped, failed: list[tuple[float, Failed]], mentions: list[Mention], lexicon: Lexicon
) -> Failed | None:
    """A question, where a number of another table has the name as well, and only how it is folded is open.

    As in "weight per month", where a measure adds up the weight of one table, and another table has a weight, too.
    """
    base = best.bench.base.name
    for _, other in failed:
        said = [one for one in mentions if isinstance(other.error, UnclearError) and one.text == other.error.phrase]
        if not said or _related(base, other.base, lexicon):
            continue
        is_named = any(sense.table == base for sense in said[0].of_kind("measure"))
        near = _column_quality(said[0], other.base) - _column_quality(said[0], base)
        lacks = _missing(mentions, lexicon, other.base) - _missing(mentions, lexicon, base)
        if _measures_column(best, said[0]) and not is_named and near >= 0 and lacks <= 0:
            return Failed(base, _which(said[0].text, (base, other.base)))
        if _takes_weaker(best, said[0], other.base) and lacks <= 0:
            return other
    return None


def _takes_weaker(best: Shaped, mention: Mention, other: str) -> bool:
    """Whether a reading computes with a number whose name only resembles what another table calls so.

    As in "which engine used the most water", where engines have a water tank, and their trips say the water used.
    """
    base = best.bench.base
    summed = {one.of.column for one in best.block.measures if isinstance(one.of, ColumnRef) and not one.of.role}
    taken = [s.quality for s in mention.of_kind("column") if s.table == base.name and s.column in summed]
    return bool(taken) and max(taken) < ANY_FORM and _column_quality(mention, other) >= WHOLE_NAME


def _measures_column(best: Shaped, mention: Mention) -> bool:
    """Whether a reading takes a measure of its table for a column that a mention names."""
    base = best.bench.base
    named = {one.named for one in best.block.measures if one.named}
    return any(measure_of_column(base, s.column) in named for s in mention.of_kind("column") if s.table == base.name)


def _column_quality(mention: Mention, table: str) -> float:
    return max((sense.quality for sense in mention.of_kind("column") if sense.table == table), default=0.0)


def _which(words: str, names: tuple[str, str]) -> UnclearError:
    """The question of which table words are about; each choice leaves the words, and says the table."""
    return UnclearError(
        f"'{words}' may be about {names[0]} or {names[1]}: which one?",
        words,
        names if words in names else tuple(f"{words} from {name}" for name in names),
    )


def _same_name(one: Shaped, other: Shaped) -> bool:
    """Whether both compute with columns of one name that are not the same numbers."""
    return bool(_summed(one)) and _summed(one) == _summed(other) and one.bench.draft is other.bench.draft


def _summed(one: Shaped) -> list[str]:
    """Names of the columns that a reading adds up or averages."""
    found = [m.of.column for m in one.block.measures if isinstance(m.of, ColumnRef) and m.function in {"sum", "avg"}]
    return sorted(found)


def _common(found: list[Shaped], one: Shaped, other: Shaped, lexicon: Lexicon) -> Shaped | None:
    """A reading over a table that both are made of, and so has all rows of each."""
    shared = _above(one.bench.base.name, lexicon) & _above(other.bench.base.name, lexicon)
    above = [shape for shape in found if shape.bench.base.name in shared and shape.cost - one.cost < 1.5]
    if not above:
        return None
    above[0].bench.places.assume(f"all rows of {above[0].bench.base.name} count")
    return above[0]


def _phrase(one: Shaped, other: Shaped) -> str:
    known = {(r.phrase, r.became) for r in other.bench.places.readings}
    for reading in one.bench.places.readings:
        if (reading.phrase, reading.became) not in known and reading.phrase:
            return reading.phrase
    return one.bench.base.name


def _related(one: str, other: str, lexicon: Lexicon) -> bool:
    """Whether one table is made of the other, so that they say the same things."""
    return one in _above(other, lexicon) or other in _above(one, lexicon)


def _above(table: str, lexicon: Lexicon) -> set[str]:
    visited: set[str] = set()
    pending = [table]
    while pending:
        for upper in lexicon.catalog.tables[pending.pop()].upstream:
            if upper in lexicon.catalog.tables and upper not in visited:
                visited.add(upper)
                pending.append(upper)
    return visited


def _bases(mentions: list[Mention]) -> list[str]:
    """Tables that something in the wish names, those with the most first."""
    scores: dict[str, float] = {}
    for mention in mentions:
        best: dict[str, float] = {}
        for sense in mention.senses:
            if sense.kind == "state":
                continue
            best[sense.table] = max(best.get(sense.table, 0.0), sense.quality)
        for table, quality in best.items():
            scores[table] = scores.get(table, 0.0) + quality
    return sorted(scores, key=lambda name: (-scores[name], name))[:_MOST_BASES]


def _all_tables(draft: Draft, lexicon: Lexicon) -> list[str]:
    """All tables, for a wish that names its number by the unit alone: a table that it does not name may have it."""
    figures = [*draft.figures, *(one.left for one in draft.filters if isinstance(one, Compared))]
    if not any(isinstance(one, Figure) and one.function == "implied" for one in figures):
        return []
    return sorted(lexicon.catalog.tables)[:_MOST_BASES]


def _missing(mentions: list[Mention], lexicon: Lexicon, base: str) -> float:
    """How much of a wish a base and what it reaches lack."""
    scope = ReachableTables(lexicon, lexicon.catalog.tables[base])
    lacking = 0.0
    for mention in mentions:
        best = max((s.quality for s in mention.senses if s.table in scope.by_table), default=0.0)
        lacking += 1 - best
    return lacking + (0.5 if base.startswith("ads") else 0.0)


__all__ = ["Failed", "mentions_of", "resolved"]
