"""Detaches steps of a plan: with the steps that follow them they wait while the rest of their segment goes on. Pure."""

from collections.abc import Collection, Sequence

from streamhouse.compiler.segments import loses_order
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.schema_change import QUESTION_LIFETIME
from streamhouse.model.table import Table
from streamhouse.model.types import Tier

_DETACHED_INFIX = "-aside."  # in the name of a segment: no table, action or cut has it


def detach_steps(plan: FlowPlan, groups: Sequence[Collection[str]]) -> FlowPlan:
    """The plan in which each group of steps, and what follows them in their segments, are segments of their own.

    What is detached reads the tables of the others from their stores, where those must keep their changes for as
    long as a question may stay open; else the step that writes such a table is detached too. Where nothing would be
    left to go on, the segment stays whole.

    Args:
        plan: Over the names that people know; groups that are already detached in it stay so.
        groups: Ids of steps, one group after the other; those that the plan lacks count for nothing.

    Returns:
        A plan of the same steps, whose `aside` names each group that cut something.
    """
    for group in groups:
        plan = _cut(plan, frozenset(group))
    return plan


def _cut(plan: FlowPlan, group: frozenset[str]) -> FlowPlan:
    found: list[Segment] = []
    for segment in plan.segments:
        first = sorted(group & {step.id for step in segment.steps})
        standing = _standing(segment, group)
        rest = tuple(step for step in segment.steps if step.id not in standing)
        if not first or not rest:
            found.append(segment)
            continue
        name = f"{segment.name}{_DETACHED_INFIX}{first[0].replace(':', '.')}"
        stands = tuple(step for step in segment.steps if step.id in standing)
        found.append(segment.model_copy(update={"steps": rest}))
        found.append(segment.model_copy(update={"name": name, "steps": stands}))
    if len(found) == len(plan.segments):
        return plan
    return plan.model_copy(update={"segments": tuple(found), "aside": (*plan.aside, tuple(sorted(group)))})


def _standing(segment: Segment, group: frozenset[str]) -> frozenset[str]:
    """The steps of a segment that are detached with a group."""
    writers = {step.writes.name: step for step in segment.steps}
    found = group
    while True:
        before = found
        tables: set[str] = set()
        for step in segment.steps:  # upstream first
            if step.id in found or any(read.table in tables for read in step.reads):
                found |= {step.id}
                tables.add(step.writes.name)
        for step in segment.steps:
            if step.id in found:
                read = [writers[read.table] for read in step.reads if read.table in writers]
                found |= {one.id for one in read if not _can_read_later(step, one.writes)}
        if found == before:
            return found


def _can_read_later(step: PlannedStep, table: Table) -> bool:
    """Whether a step may take up a table's changes from its store after as long as a question may stay open."""
    hot_retention = table.tiers.hot
    if hot_retention is not None and hot_retention < QUESTION_LIFETIME:
        return False  # from a lake nothing goes that a flow has yet to read
    return table.tiers.target is not Tier.COLD and not loses_order(step, table)


def is_detached(segment: str) -> bool:
    """Whether a segment of this name was detached from another."""
    return _DETACHED_INFIX in segment


__all__ = ["detach_steps", "is_detached"]
