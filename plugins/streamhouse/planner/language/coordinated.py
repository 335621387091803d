"""Values that "and" joins before one noun: a row of "twin and double rooms" is of one of them."""

from collections.abc import Iterable
from dataclasses import replace

from streamhouse.planner.language.draft import Clause, Draft, Figure, Is, Noun
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.tokens import Token

_JOINS = frozenset({"and", "or", ",", "&"})


def join_values(draft: Draft, tokens: tuple[Token, ...]) -> None:
    """Make one condition of values of one column that stand side by side, whichever noun they were read with.

    A value before the noun of one of several figures stays with that figure.
    """
    if len(draft.figures) > 1:
        return
    if _counted(draft, tokens):
        return
    nouns = [*draft.nouns, *(one.noun for one in draft.figures if isinstance(one.noun, Noun))]
    around = {mention for noun in nouns for mention in noun.around if _is_value(mention)}
    alone = {noun.head for noun in draft.nouns if _is_value(noun.head) and not noun.around and not noun.predicate}
    kept = {value: clause for clause in draft.filters if (value := _only_value(clause)) is not None}
    alone |= set(kept)
    for run in _runs(sorted(around | alone, key=lambda m: m.start), tokens):
        if not around & set(run):
            continue
        draft.filters = [one for one in draft.filters if not any(one is kept.get(value) for value in run)]
        draft.filters.append(Is(tuple(run), phrase=" and ".join(mention.text for mention in run)))
        draft.nouns = [_without(noun, run) for noun in draft.nouns if noun.head not in run]
        draft.figures = [_figure_without(one, run) for one in draft.figures]


def _counted(draft: Draft, tokens: tuple[Token, ...]) -> bool:
    """Whether values are what is counted: "dogs or cats" are rows of either; of "dogs and cats" it is asked."""
    count = draft.figures[0] if draft.figures else None
    noun = count.noun if count is not None and count.function in _COUNTS else None
    if count is None or not isinstance(noun, Noun) or noun.around or not _is_value(noun.head):
        return False
    lists = {clause: _only_values(clause) for clause in draft.filters}
    values = [value for found in lists.values() for value in found]
    run = next(
        (one for one in _runs(sorted([noun.head, *values], key=lambda m: m.start), tokens) if noun.head in one), []
    )
    if not run:
        return False
    draft.filters = [one for one in draft.filters if not set(lists[one]) & set(run)]
    draft.filters.append(Is(tuple(run), phrase=" or ".join(mention.text for mention in run)))
    sense = max(run[0].of_kind("value"), key=lambda one: one.quality)
    column = sense.column
    rows = replace(run[0], senses=(Sense("table", sense.table),))
    draft.figures = [replace(count, noun=Noun(rows))]
    said = " ".join(token.text for token in tokens[run[0].start : run[-1].end]).replace(" ,", ",")
    grouped = any(isinstance(one, Noun) and column in {s.column for s in one.head.senses} for one in draft.groups)
    if "or" not in said.split() and not grouped:
        together = " or ".join(mention.text for mention in run)
        thing = column.replace("_", " ")
        draft.questions.append((f"'{said}': one number for all of them, or one for each?", said,
                                (together, f"{together} per {thing}")))  # fmt: skip
    return True


_COUNTS = frozenset({"count", "number"})


def _only_values(clause: Clause) -> tuple[Mention, ...]:
    """The values of a condition that says no more than that rows have one of them."""
    if not isinstance(clause, Is) or clause.of is not None or clause.negated or clause.operator or clause.said:
        return ()
    found = tuple(value for value in clause.values if isinstance(value, Mention) and _is_value(value))
    return found if len(found) == len(clause.values) else ()


def _is_value(mention: Mention) -> bool:
    return bool(mention.senses) and mention.senses[0].kind == "value"


def _only_value(clause: Clause) -> Mention | None:
    """The value of a condition that says no more than that rows have it."""
    plain = isinstance(clause, Is) and clause.of is None and not (clause.negated or clause.operator)
    value = clause.values[0] if plain and isinstance(clause, Is) and len(clause.values) == 1 else None
    return value if isinstance(value, Mention) and _is_value(value) else None


def _runs(values: list[Mention], tokens: tuple[Token, ...]) -> Iterable[list[Mention]]:
    run: list[Mention] = []
    for mention in values:
        if run and _joined(run[-1], mention, tokens):
            run.append(mention)
            continue
        if len(run) > 1:
            yield run
        run = [mention]
    if len(run) > 1:
        yield run


def _joined(one: Mention, other: Mention, tokens: tuple[Token, ...]) -> bool:
    between = [token.word for token in tokens[one.end : other.start]]
    return 0 < len(between) <= 2 and set(between) <= _JOINS and bool(_columns_of(one) & _columns_of(other))


def _columns_of(mention: Mention) -> set[tuple[str, str]]:
    return {(sense.table, sense.column) for sense in mention.of_kind("value") if sense.quality >= mention.best - 0.06}


def _without(noun: Noun, run: list[Mention]) -> Noun:
    return replace(noun, around=tuple(mention for mention in noun.around if mention not in run))


def _figure_without(figure: Figure, run: list[Mention]) -> Figure:
    return replace(figure, noun=_without(figure.noun, run)) if isinstance(figure.noun, Noun) else figure
