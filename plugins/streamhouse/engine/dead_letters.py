"""The limit of a dead-letter table, checked before an epoch writes into it."""

from collections.abc import Callable

import pyarrow as pa

from streamhouse.errors import TooManyBadRowsError
from streamhouse.model.bad_rows import ACTION, DEAD_LETTERS, POSITION, policy_of
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.stores.base import Changes


def is_dead_letters(step: PlannedStep) -> bool:
    """Whether a step writes a dead-letter table."""
    return step.action == ACTION


def letters_after(changes: Changes, there: pa.Table) -> int:
    """How many rows a dead-letter table has behind some changes.

    Args:
        changes: What is written.
        there: The keys that are in the table; rows of `changes` may be there already, after a crash.
    """
    letters = {*there.column(POSITION).to_pylist(), *changes.upserts.column(POSITION).to_pylist()}
    if changes.deletes is not None:
        letters -= set(changes.deletes.column(POSITION).to_pylist())
    return len(letters)


def check_limit(plan: FlowPlan, step: PlannedStep, count: int, rows_read: Callable[[], int]) -> None:
    """Refuse dead letters that are more than the flow allows.

    Args:
        plan: Has the source, and its limit.
        step: That writes the dead letters.
        count: How many there will be.
        rows_read: Gives how many rows of the source were read, those of this epoch too.

    Raises:
        TooManyBadRowsError: they are.
    """
    source = next(one for one in plan.sources if one.name == step.reads[0].table)
    policy = policy_of(source.options)
    if policy.limit is None:
        return
    rows = rows_read()
    most = policy.most(rows)
    if most is None or count <= most:
        return
    share = f" ({policy.limit} of {rows:,} rows)" if isinstance(policy.limit, str) else ""
    raise TooManyBadRowsError(
        f"source '{source.name.removesuffix(DEAD_LETTERS)}' of flow '{plan.flow}' has {count:,} rows that "
        f"cannot be read, and its limit is {most:,}{share}",
        hint=f"see why: streamhouse quarantine show {policy.table}",
    )
