"""From a draft to a block over one base."""

from dataclasses import dataclass

from streamhouse.planner.language.bare_figures import bare_figures, rows_of_subject
from streamhouse.planner.language.bench import Bench, build_block
from streamhouse.planner.language.conditions import add_conditions, layer_cost, leftover_filters
from streamhouse.planner.language.contradictions import contradiction
from streamhouse.planner.language.counted_periods import count_of_groups
from streamhouse.planner.language.done_rows import leave_out_undone
from streamhouse.planner.language.draft import Draft, Figure, Group, Noun
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.flagged_rows import rows_of_flags
from streamhouse.planner.language.group_conditions import counted_groups, entity_of_groups
from streamhouse.planner.language.grouped import dimension_of
from streamhouse.planner.language.having import having_of, split_clauses
from streamhouse.planner.language.levels import NAME_OR_DEED, NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.listing import listed_columns
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.named_time import named_time
from streamhouse.planner.language.nested import nested_block, nested_or_not
from streamhouse.planner.language.nobody import leave_out_nobody, leave_out_unnamed
from streamhouse.planner.language.place import NotPlacedError, PlaceFinder, RefusedError
from streamhouse.planner.language.present_time import leave_out_ended
from streamhouse.planner.language.quotients import divided_by_group
from streamhouse.planner.language.ranked import ranking_of
from streamhouse.planner.language.row_checks import check_finer_rows, check_row_groups
from streamhouse.planner.language.scope import ReachableTables
from streamhouse.planner.language.shown_columns import show_columns
from streamhouse.planner.language.special import picked, sessions
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.windows import derived_number
from streamhouse.planner.language.words import VERB_NOUNS, is_past_form
from streamhouse.planner.request import Block, ColumnRef, Dimension, Ranking


@dataclass(frozen=True)
class Shaped:
    """A block, and what it cost to read the wish so."""

    block: Block
    ranking: Ranking | None
    bench: Bench
    cost: float


def shaped(draft: Draft, lexicon: Lexicon, base: str) -> Shaped:
    """The block that a draft means over one base.

    Raises:
        NotPlacedError, UnclearError, RefusedError: it means none.
    """
    table = lexicon.catalog.tables[base]
    draft = divided_by_group(Bench(draft, PlaceFinder(ReachableTables(lexicon, table), tuple(draft.cues))), draft)
    bench = Bench(draft, PlaceFinder(ReachableTables(lexicon, table), tuple(draft.cues)))
    bench.places.cost += layer_cost(base)
    if draft.sessions is not None:
        block = sessions(bench)
        ranking = None
    else:
        block, ranking = _block(bench)
    if draft.shown and not bench.shows:
        raise NotPlacedError(draft.shown[0].text, "the result has no row for each of the things that it is of")
    bench.places.cost += _less_named(draft, lexicon, base)
    why = contradiction(block)
    if why:
        raise RefusedError(why)
    return Shaped(block, ranking, bench, bench.places.cost)


def _less_named(draft: Draft, lexicon: Lexicon, base: str) -> float:
    """What a base costs more where the wish names another table exactly that it only is a part of."""
    cost = 0.0
    for mention in mentions_of(draft):
        own = max((s.quality for s in mention.of_kind("table") if s.table == base), default=0.0)
        exact = any(s.quality >= NAME_OR_DEED and s.table != base for s in mention.of_kind("table"))
        if exact and 0 < own < 0.97:
            cost += (1 - own) * 10
    for word in draft.words:
        done = {s.table for noun in VERB_NOUNS.get(stem(word), ()) for s in lexicon.meanings(stems(noun))
                if s.kind == "table" and s.quality >= NEARLY_NAME}  # fmt: skip
        if done and base not in done and is_past_form(word):
            cost += 1.5  # "books borrowed" are no holds
    return cost


def _block(bench: Bench) -> tuple[Block, Ranking | None]:
    draft = bench.draft
    if draft.pick is not None:
        return picked(bench), None
    figures = [nested_or_not(bench, one) for one in draft.figures]
    if any(one.inner for one in figures):
        return nested_block(bench, figures)
    bench.places.time = named_time(bench)
    having, clauses = split_clauses(bench, draft.filters)
    listed = bare_figures(bench, bench.draft.nouns, figures, having)
    if not (figures or listed.figures):
        listed.figures += rows_of_subject(bench)
    counted = counted_groups(bench, figures, having, clauses)
    if counted:
        return counted, None
    things = bool(having and not figures and draft.best is None) and entity_of_groups(bench, listed, having)
    _group_once(bench, draft.groups)
    for one in figures:
        for group in one.near:
            dimension_of(bench, group)
    entity = bool(having and bench.dimensions)
    if having and not bench.dimensions and draft.best is None:
        raise NotPlacedError(having[0].phrase, "it compares groups, and no groups are asked for")
    ranking = None
    if draft.best is not None:
        ranking, listed = ranking_of(bench, draft.best, listed)
    for one in (*figures, *listed.figures):
        _number(bench, one, [*figures, *listed.figures])
    add_conditions(bench, clauses)
    leave_out_ended(bench)
    leave_out_undone(bench)
    for compared in having:
        bench.having.append(having_of(bench, compared))
    columns = listed_columns(
        bench, listed.nouns, bool(bench.measures or bench.derived or (bench.dimensions and not entity)), entity
    )
    bench.filters += [one for one in leftover_filters(bench) if one not in bench.filters]
    columns = show_columns(bench, draft, rows_of_flags(bench, columns))
    if not (bench.measures or bench.derived or bench.dimensions) and not columns.is_specified:
        raise NotPlacedError(draft.unread[0] if draft.unread else "", "the wish does not say what is wanted")
    if bench.dimensions and not (bench.measures or bench.derived or draft.distinct or not draft.groups):
        raise NotPlacedError("", "the wish does not say which figure is wanted of each group")
    check_row_groups(bench)
    check_finer_rows(bench)
    block = count_of_groups(bench)
    if draft.counts_groups and block is None:
        raise NotPlacedError("", "how many periods meet it can only be counted of one condition on each")
    if block is not None:
        return block, None
    if ranking is not None or things or not (draft.groups or any(one.near for one in figures)):
        leave_out_nobody(bench, ranking.per if ranking is not None else ())
    if ranking is not None:
        leave_out_unnamed(bench, ranking.per)
    return build_block(bench, _with_ranked(bench, columns.columns, ranking)), ranking


def _group_once(bench: Bench, groups: list[Group]) -> None:
    """Group by what a wish names.

    Raises:
        NotPlacedError: two different words of it mean one group, so that one of them is lost.
    """
    words: dict[str, tuple[str, ...]] = {}
    for group in groups:
        name = dimension_of(bench, group)
        if not isinstance(group, Noun) or not group.head.words:
            continue
        said = stems(group.head.words[-1])
        if words.setdefault(name, said) != said:
            raise NotPlacedError(group.text, "the rows are already grouped so")


def _with_ranked(bench: Bench, columns: tuple[Dimension, ...], ranking: Ranking | None) -> tuple[Dimension, ...]:
    """Shown columns of ranked rows, with the column that they are ranked by."""
    if ranking is None or not (columns or bench.beside) or bench.measures:
        return columns
    if not columns:
        columns = tuple(Dimension(name=one.name, of=ColumnRef(column=one.name)) for one in bench.base.columns)
    shown = {one.name for one in columns}
    more = [name for name in (ranking.by, *ranking.per) if name not in shown]
    return (*columns, *(Dimension(name=name, of=bench.beside.get(name, ColumnRef(column=name))) for name in more))


def _number(bench: Bench, one: Figure, all_figures: list[Figure]) -> None:
    if one.window:
        # An average of several periods is read beside the figure of each.
        shown = one.window == "moving" or any(not other.window and other.noun == one.noun for other in all_figures)
        shown = shown or _also_alone(bench, one)
        derived_number(bench, one, shown=shown)
    else:
        measured(bench, one)


def _also_alone(bench: Bench, one: Figure) -> bool:
    """Whether a wish names a number alone, too: "arrivals per week and running total of arrivals"."""
    if not isinstance(one.noun, Noun) or one.window not in {"running", "change"}:
        return False
    head = one.noun.head
    return any(
        noun.head.words == head.words and noun.head.start < head.start and not (noun.predicate or noun.around)
        for noun in bench.draft.nouns
    )
