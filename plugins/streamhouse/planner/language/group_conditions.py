"""Conditions on groups: the thing whose groups they are, and groups that are counted."""

from streamhouse.planner.language.bench import Bench, build_block
from streamhouse.planner.language.conditions import add_conditions, leftover_filters
from streamhouse.planner.language.draft import Clause, Compared, Figure, Noun
from streamhouse.planner.language.grouped import dimension_of
from streamhouse.planner.language.having import having_of, same_noun
from streamhouse.planner.language.listing import beside
from streamhouse.planner.language.nobody import leave_out_nobody
from streamhouse.planner.language.ranked import Listed
from streamhouse.planner.request import Block, Measure


def entity_of_groups(bench: Bench, listed: Listed, having: list[Compared]) -> bool:
    """Conditions on groups without groups: the wish names the thing whose groups they are."""
    for at, noun in enumerate(listed.nouns):
        if bench.places.columns(noun, want="key") and not same_noun(noun, having[0]):
            del listed.nouns[at]
            dimension_of(bench, noun)
            return True
    return False


def counted_groups(bench: Bench, figures: list[Figure], having: list[Compared], clauses: list[Clause]) -> Block | None:
    """As in "Number of stores with more than 100 sales": groups that meet a condition, counted."""
    if not having or len(figures) != 1 or bench.draft.groups or bench.draft.best is not None or figures[0].near:
        return None
    one = figures[0]
    if (
        one.function not in {"count", "count distinct"}
        or not isinstance(one.noun, Noun)
        or same_noun(one.noun, having[0])
    ):
        return None
    name = dimension_of(bench, one.noun)
    for noun in bench.draft.nouns:
        beside(bench, noun)
    add_conditions(bench, clauses)
    for compared in having:
        bench.having.append(having_of(bench, compared))
    bench.filters += [f for f in leftover_filters(bench) if f not in bench.filters]
    leave_out_nobody(bench, ())
    bench.places.note(one.phrase, f"count of {name} groups")
    return Block(inner=build_block(bench), measures=(Measure(name=f"{name}_count"),))
