"""Rows that a participle before them restricts by a time: "delivered jobs", "cancelled shows"."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, default_time
from streamhouse.planner.request import ColumnRef, Condition, Cut


def done_before(bench: Bench, noun: Noun) -> bool:
    """Require the time that a participle directly before the rows names; False: it names none.

    "delivered jobs" are those that have the time; "jobs, delivered" may show it.
    """
    nouns = [*bench.draft.nouns, *(one.noun for one in bench.draft.figures if isinstance(one.noun, Noun))]
    before = any(other.head.start == noun.head.end and bench.places.is_base(other.head) for other in nouns)
    if not before or noun.around or not is_participle(noun.head):
        return False
    found = bench.places.columns(noun, want="time")
    if not found or found[0].of.role or found[0].column.name == bench.base.event_time:
        return False
    bench.places.cost += found[0].cost
    bench.filters.append(Condition(left=bench.places.use(found[0]), operator="is not null"))
    bench.places.note(noun.text, f"{found[0].name} is not empty")
    return True


def leave_out_undone(bench: Bench) -> None:
    """Leave out rows without the time that they are counted by in periods: they are in no period."""
    counted = [one.of for one in bench.measures if one.function == "count" and isinstance(one.of, ColumnRef)]
    periods = [one.of.of for one in bench.dimensions if isinstance(one.of, Cut)]
    if not counted or len(counted) != len(bench.measures) or set(counted) != set(periods) or len(set(counted)) != 1:
        return
    of = counted[0]
    column = bench.places.scope.reaches[of.role].table.column(of.column)
    known = any(isinstance(one, Condition) and one.left == of for one in bench.filters)
    if column.type in TIMES and column != default_time(bench.base) and not known:
        bench.filters.append(Condition(left=of, operator="is not null"))


__all__ = ["done_before", "leave_out_undone"]
