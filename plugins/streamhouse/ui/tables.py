"""One table or source in full: contract, steps, readers, lineage, quarantine."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from streamhouse.errors import UnknownTableError, did_you_mean
from streamhouse.model.action import Expectation
from streamhouse.model.bad_rows import ACTION, DEAD_LETTER, DEAD_LETTERS, parse_counts
from streamhouse.model.plan import QUARANTINE, FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.state.violations import EXPECTATION, violations
from streamhouse.ui.answers import (
    ColumnAnswer,
    LineageLink,
    LineagePage,
    LossAnswer,
    MeaningOfTable,
    QuarantineAnswer,
    ReadAnswer,
    ReaderAnswer,
    Rule,
    StepAnswer,
    TablePage,
    TableSummary,
)
from streamhouse.ui.desk import Desk
from streamhouse.ui.flows import troubles_of
from streamhouse.ui.graph import pace, tiers_of
from streamhouse.ui.losses import losses_by_flow
from streamhouse.ui.meaning import meant

Plans = dict[str, FlowPlan]
_EVENTS = 1_000
_SECRET = "…"
_SECRET_WORDS = ("password", "secret", "token", "credential", "sasl", "private", "access_key", "access-key", "apikey")


def page(desk: Desk, name: str, flow: str | None = None) -> TablePage:
    """A table, or a source of a flow.

    Args:
        desk: Of the project.
        name: `layer.table`, a table of quarantine, or the name of a source.
        flow: Whose source it is, where several flows have one of the name.

    Raises:
        UnknownTableError: there is none.
        DefinitionErrors: files are wrong, and nothing was ever applied.
        StateConflictError: the flow that writes it has an applied plan that cannot be read.
    """
    plans = {name: plan for name, (_, plan) in desk.shown().items()}
    for plan in plans.values():
        if name in plan.tables:
            return _table(desk, plans, plan.tables[name])
    for plan in plans.values():
        for source in plan.sources:
            if source.name == name and flow in (None, plan.flow):
                return _source(plans, plan, source)
    _refuse_unreadable(desk, name)
    known = [table for plan in plans.values() for table in plan.tables]
    raise UnknownTableError(f"unknown table '{name}'", hint=did_you_mean(name, known, f"tables: {', '.join(known)}"))


def _refuse_unreadable(desk: Desk, name: str) -> None:
    """Refuse a table or a source that only a flow defines whose applied plan cannot be read.

    Raises:
        StateConflictError: as the state store says it.
    """
    flows, table = desk.registry.flows, name.removesuffix(QUARANTINE)
    for flow, error in desk.unreadable().items():
        if flow in flows and (table in {step.writes for step in flows[flow].steps} or table in flows[flow].sources):
            raise error


def summaries(desk: Desk) -> list[TableSummary]:
    """Every table that a flow writes, by name.

    Raises:
        DefinitionErrors: files are wrong, and nothing was ever applied.
    """
    found = {
        step.writes.name: TableSummary(
            name=step.writes.name,
            columns={column.name: column.type for column in step.writes.columns},
            tiers=tuple(tier.value for tier in step.writes.tiers.present),
            flow=flow,
        )
        for flow, (_, plan) in desk.shown().items()
        for step in plan.steps
    }
    return [found[name] for name in sorted(found)]


def lineage(desk: Desk, name: str) -> LineagePage:
    """What `table` or `table.column` comes from, and what is made of it.

    Raises:
        UnknownTableError: nothing is called so.
        UnknownColumnError: the table has no such column.
        StateConflictError: the flow that writes it has an applied plan that cannot be read.
    """
    graph = desk.lineage()
    try:
        table, column = graph.resolve(name)
    except UnknownTableError:
        _refuse_unreadable(desk, ".".join(name.split(".")[:2]))
        raise

    def links(found: Any) -> tuple[LineageLink, ...]:
        return tuple(LineageLink.model_validate(vars(link)) for link in found)

    return LineagePage(
        table=table,
        column=column,
        up=links(graph.up(table, column)),
        down=links(graph.down(table, column)),
        unknown_flows=tuple(desk.unreadable()),
    )


def quarantines(desk: Desk) -> list[QuarantineAnswer]:
    """Every table that holds rows which were kept out of another, or which cannot be read."""
    state = desk.state
    rows = state.overview.rows_written() if state is not None else {}
    plans = desk.shown()
    found = [
        QuarantineAnswer(
            table=step.writes.name,
            of=step.reads[0].table.removesuffix(DEAD_LETTERS),
            flow=flow,
            rows=_letters(desk, flow).get(step.writes.name, rows.get(step.writes.name, 0)),
            rules=(),
            dead_letters=True,
        )
        for flow, (_, plan) in sorted(plans.items())
        for step in plan.steps
        if step.action == ACTION
    ]
    return found + [
        QuarantineAnswer(
            table=step.quarantine.name,
            of=step.writes.name,
            flow=flow,
            rows=rows.get(step.quarantine.name, 0),
            rules=tuple(rule for rule in rules_of(step.expect) if rule.on_violation == "quarantine"),
        )
        for flow, (_, plan) in sorted(plans.items())
        for step in plan.steps
        if step.quarantine is not None
    ]


def _letters(desk: Desk, flow: str) -> dict[str, int]:
    """Dead-letter table of a flow → its rows, as the last epochs counted them."""
    events = desk.state.events(flow, limit=_EVENTS) if desk.state is not None else []
    return parse_counts(event.text for event in events if event.kind == DEAD_LETTER)


def rules_of(expect: dict[str, Expectation]) -> tuple[Rule, ...]:
    """Expectations as data."""
    return tuple(Rule(name=name, check=e.check, on_violation=e.on_violation) for name, e in expect.items())


@lru_cache(maxsize=2048)
def readable_sql(sql: str) -> str:
    """SQL set on lines; as it is when that cannot be done."""
    from sqlglot import ErrorLevel, parse_one
    from sqlglot.errors import SqlglotError

    try:
        return parse_one(sql, read="spark", error_level=ErrorLevel.RAISE).sql(dialect="spark", pretty=True)
    except SqlglotError:
        return sql.strip()


def _table(desk: Desk, plans: Plans, table: Table) -> TablePage:
    written = desk.state.overview.rows_written() if desk.state is not None else {}
    bad = [s.quarantine.name for p in plans.values() for s in p.steps if s.writes.name == table.name and s.quarantine]
    return TablePage(
        name=table.name,
        kind="quarantine" if table.name.endswith(QUARANTINE) else "table",
        layer=table.layer.value,
        flows=tuple(sorted({flow for flow, plan in plans.items() if table.name in plan.tables})),
        columns=_columns(desk, table),
        primary_key=table.primary_key,
        event_time=table.event_time,
        buckets=table.buckets,
        tiers=tiers_of(table.tiers),
        options={},
        rows=written.get(table.name, 0),
        steps=tuple(_writers(desk, plans, table)),
        readers=tuple(_readers(plans, table.name, None)),
        quarantine=bad[0] if bad else None,
        troubles=tuple(
            one
            for flow, plan in plans.items()
            if table.name in plan.tables
            for one in troubles_of(desk, flow)
            if one.table == table.name
        ),
        lost=losses_of(desk, table.name),
        unknown_flows=tuple(desk.unreadable()),
        meaning=_meaning(desk, table.name),
    )


def losses_of(desk: Desk, table: str) -> tuple[LossAnswer, ...]:
    """What a table lost, in each tier."""
    return tuple(
        one for flow_losses in losses_by_flow(desk.losses()).values() for one in flow_losses if table in one.tables
    )


def _columns(desk: Desk, table: Table) -> tuple[ColumnAnswer, ...]:
    meanings = desk.state.tables.meanings(table.name) if desk.state is not None else {}
    return tuple(
        ColumnAnswer(
            name=column.name,
            type=column.type,
            nullable=column.nullable,
            key=column.name in table.primary_key,
            merge=table.merge[column.name].value if column.name in table.merge else None,
            since=meanings[column.name].since if column.name in meanings else None,
            since_revision=meanings[column.name].revision if column.name in meanings else None,
        )
        for column in table.columns
    )


def _writers(desk: Desk, plans: Plans, table: Table) -> Iterator[StepAnswer]:
    for plan in plans.values():
        for segment in plan.segments:
            yield from (_step(desk, plan, segment, step) for step in segment.steps if step.writes.name == table.name)


def _meaning(desk: Desk, table: str) -> MeaningOfTable | None:
    found = desk.catalog()
    return meant(found.tables[table]) if found is not None and table in found.tables else None


def _source(plans: Plans, plan: FlowPlan, source: PlannedSource) -> TablePage:
    return TablePage(
        name=source.name,
        kind="source",
        layer="source",
        flows=(plan.flow,),
        columns=tuple(
            ColumnAnswer(name=c.name, type=c.type, nullable=c.nullable, key=c.name in source.primary_key)
            for c in source.columns
        ),
        primary_key=source.primary_key,
        event_time=None,
        buckets=1,
        tiers=(),
        options={"kind": source.kind} | _without_secrets(source.options),
        rows=0,
        steps=(),
        readers=tuple(_readers(plans, source.name, plan.flow)),
        quarantine=None,
    )


def _without_secrets(options: dict[str, Any]) -> dict[str, Any]:
    """Options without secrets, also where they lie deeper."""
    return {
        name: _SECRET
        if any(word in name.lower() for word in _SECRET_WORDS)
        else _without_secrets(value)
        if isinstance(value, dict)
        else value
        for name, value in options.items()
    }


def _step(desk: Desk, plan: FlowPlan, segment: Segment, step: PlannedStep) -> StepAnswer:
    return StepAnswer(
        flow=plan.flow,
        step=step.id,
        action=step.action,
        version=step.version,
        kind=step.kind.value,
        strategy=step.strategy.value,
        reason=step.reason,
        segment=segment.name,
        pace=pace(plan, segment),
        reads=tuple(map(_read, step.reads)),
        part=step.part,
        expectations=tuple(_judged(desk, plan.flow, step)),
        params=step.params,
        sql=readable_sql(step.sql),
    )


def _judged(desk: Desk, flow: str, step: PlannedStep) -> Iterator[Rule]:
    """The expectations of a step with the rows that violated them."""
    events = desk.state.events(flow, limit=_EVENTS) if desk.state is not None and step.expect else []
    counted = violations(event for event in events if event.kind == EXPECTATION)
    for rule in rules_of(step.expect):
        rows, last = counted.get(f"{step.id}.{rule.name}", (0, None))
        yield rule.model_copy(update={"violations": rows, "last_violated": last})


def _read(read: PlannedRead) -> ReadAnswer:
    return ReadAnswer(
        port=read.port,
        table=read.table,
        mode=read.mode.value,
        columns=read.columns,
        by_key=tuple(read.key_columns),
    )


def _readers(plans: Plans, table: str, flow: str | None) -> Iterator[ReaderAnswer]:
    for plan in plans.values():
        if flow not in (None, plan.flow):
            continue
        for step in plan.steps:
            for read in step.reads:
                if read.table == table:
                    yield ReaderAnswer(
                        flow=plan.flow,
                        step=step.id,
                        table=step.writes.name,
                        mode=read.mode.value,
                        columns=read.columns,
                    )
