"""Periods that meet a condition, counted: "how many days had more than 60 calls"."""

from streamhouse.planner.language.bench import Bench, build_block
from streamhouse.planner.language.condition_rules import read_periods_meeting_rule
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.request import Block, Measure

_COUNTED = ("how many", "the number of", "number of", "count the", "count of")


def read_counted_periods_rule(reader: Reader) -> bool:
    """Read "number of days" where a condition on each day's figure follows."""
    start, draft = reader.at, reader.draft
    if start > 1 or not reader.take(*_COUNTED):
        return False
    before = (len(draft.groups), len(draft.filters))
    if not read_periods_meeting_rule(reader) or (len(draft.groups), len(draft.filters)) == before:
        reader.at = start
        return False
    draft.counts_groups = True
    return True


def count_of_groups(bench: Bench) -> Block | None:
    """The block that counts the periods of a wish that asks how many they are; None: it asks for no such count."""
    only = len(bench.dimensions) == 1 and bench.having and not bench.derived
    if not bench.draft.counts_groups or not only:
        return None
    name = bench.dimensions[0].name
    bench.places.note(f"how many {name}s", f"count of {name} groups")
    return Block(inner=build_block(bench), measures=(Measure(name=f"{name}_count"),))
