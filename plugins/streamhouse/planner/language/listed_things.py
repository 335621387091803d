"""Things that are listed once each because rows of another table point to them: "users who bought something"."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import LAST_WORD_ANY_FORM, NEARLY_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.place import NotPlacedError, UnclearError, is_participle
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import VERB_NOUNS
from streamhouse.planner.request import AnyOf, Block, ColumnRef, Condition, Filter
from streamhouse.planner.sql.scope import columns_in

_COUNTS = frozenset({"count", "count distinct"})


def check_listed(found: Shaped, draft: Draft, mentions: list[Mention]) -> None:
    """Do nothing unless things are listed by rows that the wish does not name, or that one row does not decide.

    Raises:
        NotPlacedError: the wish does not name the rows that point to the things.
        UnclearError: a number of single rows is compared, and the sum over all rows of a thing may be meant.
    """
    block = found.block
    if not _lists_others(block, found):
        return
    first = next((noun for noun in draft.nouns if not noun.predicate), None)
    if not _named(found, draft, mentions):
        text = first.text if first is not None else ""
        raise NotPlacedError(text, f"they are no rows of {block.base}, and the wish names none")
    for condition in _conditions(block.filters):
        if condition.operator not in {"<", "<=", ">", ">="} or condition.other is not None:
            continue
        if isinstance(condition.left, ColumnRef) and not condition.left.role:
            column = found.bench.base.column(condition.left.column)
            if is_number(column) and not column.references:
                thing = first.text if first is not None else "each"
                raise UnclearError(
                    f"'{thing}' with {column.name} {condition.operator} {condition.values[0]}: in a single row of "
                    f"{block.base}, or in total?",
                    thing,
                    (f"{thing} with total {column.name.replace('_', ' ')} {condition.operator} {condition.values[0]}",),
                )


def check_weighed(found: Shaped, mentions: list[Mention]) -> None:
    """Do nothing unless a joined number is averaged over rows that the wish does not name: each would count as often.

    Raises:
        NotPlacedError: it is.
    """
    for measure in found.block.measures:
        columns = columns_in(measure.of) if measure.of is not None else ()
        folded = measure.function in {"avg", "median", "stddev", "percentile"}
        joined = bool(columns) and all(column.role for column in columns)
        if folded and joined and not any(found.bench.places.is_base(mention) for mention in mentions):
            raise NotPlacedError(columns[0].column, f"the wish names no rows of {found.block.base}")


def check_conditions_shared(found: Shaped) -> None:
    """Do nothing unless a condition before one figure may hold for the next: "active contracts and their premium".

    Raises:
        UnclearError: it may.
    """
    block = found.block
    compared = {name for one in block.derived for name in (one.of, one.to)} | set(block.hidden)
    shown = [one for one in block.measures if one.name not in compared]
    for at, measure in enumerate(shown):
        after = next((one for one in shown[at + 1 :] if not one.where and one.function not in _COUNTS), None)
        if measure.where and after is not None and not any(one.where for one in shown[:at]):
            raise UnclearError(
                f"does the condition of {measure.name.replace('_', ' ')} hold for {after.name.replace('_', ' ')}, too?",
                after.name.replace("_", " "),
            )


def _lists_others(block: Block, found: Shaped) -> bool:
    """Whether the result has each thing once that rows of the base point to, and no figure."""
    plain = not (block.measures or block.derived or block.inner or block.pick or block.sessions or block.having)
    if not plain or not block.dimensions or found.ranking is not None or found.bench.draft.distinct:
        return False
    reaches = found.bench.places.scope.reaches
    key = set(found.bench.base.primary_key)
    for one in block.dimensions:
        if not isinstance(one.of, ColumnRef):
            return False
        column = reaches[one.of.role].table.column(one.of.column)
        if column.references is None or (not one.of.role and key == {column.name}):
            return False
    return True


def _named(found: Shaped, draft: Draft, mentions: list[Mention]) -> bool:
    base = found.bench.base
    if any(found.bench.places.is_base(mention) for mention in mentions):
        return True
    first = next((noun for noun in draft.nouns if not noun.predicate), None)
    if first is not None and any(s.table == base.name for s in first.head.senses) and not first.head.of_kind("table"):
        return True  # "who drove"
    for mention in mentions:
        for sense in mention.senses:
            if sense.table != base.name or sense.kind != "column" or sense.quality < LAST_WORD_ANY_FORM:
                continue
            own = any(s.kind == "column" and s.table in _listed_tables(found) for s in mention.senses)
            if base.column(sense.column).type in TIMES and is_participle(mention) and not own:
                return True  # "redeemed", where there is a time of it
    meanings = found.bench.places.scope.lexicon.meanings
    nouns = [noun for word in draft.words for noun in VERB_NOUNS.get(stem(word), ())]
    senses = [sense for noun in nouns for sense in meanings(stems(noun))]
    return any(s.kind == "table" and s.table == base.name and s.quality >= NEARLY_NAME for s in senses)


def _listed_tables(found: Shaped) -> set[str]:
    """Tables whose rows the result has once each."""
    reaches, tables = found.bench.places.scope.reaches, set()
    for one in found.block.dimensions:
        if isinstance(one.of, ColumnRef):
            target = reaches[one.of.role].table.column(one.of.column).references
            tables |= {target[0]} if target else set()
    return tables


def _conditions(filters: tuple[Filter, ...]) -> list[Condition]:
    found: list[Condition] = []
    for one in filters:
        if isinstance(one, Condition):
            found.append(one)
        elif isinstance(one, AnyOf):
            found += _conditions(one.of)
    return found
