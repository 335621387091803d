"""Which steps computed their whole table by the definition that they have now; pure.

The result of a `full` or `delta` step follows from all rows of its inputs. When its definition changes, or an input is
another version of its table, the whole result may be another without a new row. So each epoch records by which
definition such a step computed its table last. A step with another definition is outdated: it runs in the next epoch,
and an epoch without rows is made where none is due.
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256

from streamhouse.model.plan import Segment
from streamhouse.sql.without_rows import may_have_rows_of_nothing
from streamhouse.state.records import EpochRecord

Definitions = Mapping[str, str]
"""Id of a step → hash of all that its result follows from, but for the rows."""


def definitions(segment: Segment) -> dict[str, str]:
    """Of the `full` and `delta` steps of a segment, over the names that stores hold."""
    return {
        step.id: sha256(step.model_dump_json().encode()).hexdigest() for step in segment.steps if step.strategy.sees_all
    }


def alone(segment: Segment) -> frozenset[str]:
    """The steps that may have rows though no input has one, as a count of all rows has."""
    return frozenset(step.id for step in segment.steps if step.strategy.sees_all and may_have_rows_of_nothing(step.sql))


def outdated(now: Definitions, last: EpochRecord | None, without_input: Collection[str] = ()) -> frozenset[str]:
    """Steps whose table was computed by another definition, or by one that nobody knows.

    Before the first epoch of a segment these are the steps that have rows without any input: the tables of the others
    are empty, and so is what they read.

    Args:
        now: Of the segment's steps.
        last: The last epoch; None: there was none.
        without_input: From `alone`.
    """
    if last is None:
        return frozenset(without_input) & now.keys()
    return frozenset(step for step, definition in now.items() if last.computed.get(step) != definition)


def computed(now: Definitions, ran: Iterable[str], last: EpochRecord | None) -> dict[str, str]:
    """What an epoch records: the definition of each step by which its table was computed last.

    Args:
        now: Of the segment's steps.
        ran: Ids of the steps that ran in the epoch.
        last: The epoch before it.
    """
    if last is None:
        return dict(now)
    known = {step: last.computed[step] for step in now if step in last.computed}
    return known | {step: now[step] for step in ran if step in now}
