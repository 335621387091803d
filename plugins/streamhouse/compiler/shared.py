"""Tables that several steps write, each a part of the columns; pure."""

from collections.abc import Iterable, Mapping

from streamhouse.errors import DuplicateWriterError, Location, StreamhouseError
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import format_duration


def joined(known: Table | None, part: Table) -> Table:
    """A table with the columns of both; what the parts agree on is checked by `disagreements`."""
    if known is None:
        return part
    names, own = set(known.column_names), {column.name: column for column in part.columns}
    nulls = tuple(name for name in known.identifying if name in known.null_keys or name in part.null_keys)
    columns = tuple(own[c.name] if c.name in nulls and c.name in own and not c.nullable else c for c in known.columns)
    columns = (*columns, *(c for c in part.columns if c.name not in names))
    return known.model_copy(update={"columns": columns, "null_keys": nulls})


def disagreements(known: Table | None, part: Table, at: Location) -> list[StreamhouseError]:
    """What keeps two writers from sharing a table."""
    if known is None:
        return []
    wrong: list[StreamhouseError] = []
    keys = [tuple((c.name, c.type) for c in table.columns if c.name in table.primary_key) for table in (known, part)]
    if keys[0] != keys[1]:
        shown = [", ".join(f"{name} {kind}" for name, kind in key) for key in keys]
        cause = f"the writers of {part.name} have other keys: ({shown[0]}) and ({shown[1]})"
        wrong.append(DuplicateWriterError(cause, at=at, hint="let all steps that write it give the same primary key"))
    both = [n for n in part.column_names if n in known.column_names and n not in known.primary_key]
    if both:
        cause, hint = f"two steps write {part.name}.{both[0]}", "each column of a shared table has one writer"
        wrong.append(DuplicateWriterError(cause, at=at, hint=hint))
    for what in ("tiers", "buckets", "bucket_key", "partition_by"):
        if getattr(known, what) != getattr(part, what):
            cause = f"the writers of {part.name} want other {what}: {_shown(known, what)} and {_shown(part, what)}"
            hint = "say the same under 'tables' in each flow that writes it"
            wrong.append(DuplicateWriterError(cause, at=at, hint=hint))
    return wrong


def _shown(table: Table, what: str) -> str:
    value = getattr(table, what)
    if isinstance(value, Tiers):
        return ", ".join(f"{tier} {format_duration(getattr(value, tier.value))}" for tier in value.present)
    nothing = "none" if what == "partition_by" else "the primary key"
    return ", ".join(value) or nothing if isinstance(value, tuple) else str(value)


def with_tables(plan: FlowPlan, tables: dict[str, Table]) -> FlowPlan:
    """The plan with these tables as they are when all their writers are known."""

    def replaced(step: PlannedStep) -> PlannedStep:
        return step.model_copy(update={"writes": tables[step.writes.name]}) if step.writes.name in tables else step

    segments = tuple(
        segment.model_copy(update={"steps": tuple(replaced(step) for step in segment.steps)})
        for segment in plan.segments
    )
    external = tuple(plan.as_known(tables.get(table.name, table)) for table in plan.external)
    return plan.model_copy(update={"segments": segments, "external": external})


def with_whole_tables(plans: Mapping[str, FlowPlan]) -> dict[str, FlowPlan]:
    """Plans of one project, each compiled by itself, with every shared table as all of its writers make it."""
    whole = whole_tables(plans.values())
    return {name: with_tables(plan, whole) if whole else plan for name, plan in plans.items()}


def whole_tables(plans: Iterable[FlowPlan]) -> dict[str, Table]:
    """Every shared table with the columns of all its writers, in the order of flows and steps."""
    found: dict[str, Table] = {}
    for plan in plans:
        for step in plan.steps:
            if step.part:
                found[step.writes.name] = joined(found.get(step.writes.name), step.writes)
    return found
