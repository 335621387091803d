"""A plan in words: plain data for `--json`, text for people."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from streamhouse.model.delta_plan import DeltaBlock
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Tiers
from streamhouse.model.types import ReadMode, format_duration


@dataclass(frozen=True)
class ExplainedRead:
    """One port, as `explain` shows it."""

    port: str
    table: str
    mode: str
    columns: tuple[str, ...]
    key_columns: dict[str, str]


@dataclass(frozen=True)
class ExplainedState:
    """A block of a `delta` step, as `explain` shows it: a query over changes, and the rows that it keeps.

    Attributes:
        name: Of the inner query that it keeps up to date; None: the step's own query.
        groups: Columns by which it groups rows, with their types, by the name that the result has for them; empty:
            all rows are one group.
        values: The other columns of its state, with their types.
        totals: Whether the state has one row per group, of totals; else it has one for each distinct row.
        top: How many rows of the result the table has; None: all.
        reads: Port or inner query → how rows that a change of it touches are found.
    """

    name: str | None
    groups: dict[str, str]
    values: dict[str, str]
    totals: bool
    top: int | None
    reads: dict[str, str]


@dataclass(frozen=True)
class ExplainedStep:
    """One step, as `explain` shows it."""

    writes: str
    part: tuple[str, ...]
    layer: str
    action: str
    reads: tuple[ExplainedRead, ...]
    strategy: str
    reason: str
    interval: str | None
    states: tuple[ExplainedState, ...]
    columns: dict[str, str]
    primary_key: tuple[str, ...]
    merge: dict[str, str]
    merge_engine: str | None
    tiers: dict[str, str]
    buckets: int
    partition_by: tuple[str, ...]
    expect: dict[str, str]
    sql: str
    notices: tuple[str, ...]


@dataclass(frozen=True)
class ExplainedSource:
    """One source, as `explain` shows it."""

    name: str
    kind: str
    columns: dict[str, str]
    primary_key: tuple[str, ...]
    loads_first: bool


@dataclass(frozen=True)
class ExplainedSegment:
    """The steps that share one clock, as `explain` shows them."""

    name: str
    tables: tuple[str, ...]
    interval: str | None


@dataclass(frozen=True)
class ExplainedPlan:
    """A flow, as `explain` shows it; steps upstream first."""

    flow: str
    fingerprint: str
    freshness: str
    sources: tuple[ExplainedSource, ...]
    external: tuple[str, ...]
    segments: tuple[ExplainedSegment, ...]
    steps: tuple[ExplainedStep, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"flow {self.flow}: {_count(len(self.steps), 'step')}, freshness {self.freshness}"]
        lines += [_source_line(source) for source in self.sources]
        lines += [f"table {name} of another flow" for name in self.external]
        if len(self.segments) > 1:
            lines += [_segment_line(segment) for segment in self.segments]
        for step in self.steps:
            lines += ["", *_step_lines(step)]
        return "\n".join(lines)


def explain(plan: FlowPlan) -> ExplainedPlan:
    """What a plan does and why, step by step, upstream first."""
    return ExplainedPlan(
        flow=plan.flow,
        fingerprint=plan.fingerprint,
        freshness=format_duration(plan.freshness),
        sources=tuple(_source(source) for source in plan.sources),
        external=tuple(table.name for table in plan.external),
        segments=tuple(_segment(segment) for segment in plan.segments),
        steps=tuple(_step(step) for step in plan.steps),
    )


def _source(source: PlannedSource) -> ExplainedSource:
    columns = {c.name: c.type for c in source.columns}
    return ExplainedSource(source.name, source.kind, columns, source.primary_key, source.loads_first)


def _segment(segment: Segment) -> ExplainedSegment:
    interval = format_duration(segment.interval) if segment.interval else None
    return ExplainedSegment(segment.name, tuple(step.writes.name for step in segment.steps), interval)


def _step(step: PlannedStep) -> ExplainedStep:
    table = step.writes
    return ExplainedStep(
        writes=table.name,
        part=step.part,
        layer=str(table.layer),
        action=f"{step.action} {step.version}",
        reads=tuple(_read(read) for read in step.reads),
        strategy=str(step.strategy),
        reason=step.reason,
        interval=format_duration(step.interval) if step.interval else None,
        states=_states(step),
        columns={c.name: c.type if c.nullable else f"{c.type} not null" for c in table.columns},
        primary_key=table.primary_key,
        merge={name: str(function) for name, function in table.merge.items()},
        merge_engine=table.merges_how if table.selects else None,
        tiers=_tiers(table.tiers),
        buckets=table.buckets,
        partition_by=table.partition_by,
        expect={name: f"{e.check} ({e.on_violation})" for name, e in step.expect.items()},
        sql=step.sql,
        notices=tuple(notice.message for notice in step.notices),
    )


def _states(step: PlannedStep) -> tuple[ExplainedState, ...]:
    """Of a `delta` step, inner queries first."""
    if step.delta is None:
        return ()
    ports = [read.port for read in step.reads]
    inner = [_state(stage.name, stage.plan, ports) for stage in step.delta.stages]
    return (*inner, _state(None, step.delta, ports))


def _state(name: str | None, block: DeltaBlock, ports: Sequence[str]) -> ExplainedState:
    names = {group: column for column, group in block.shown.items()}
    return ExplainedState(
        name=name,
        groups={} if block.single else {names.get(one.name, one.name): one.type for one in block.groups},
        values={column.name: column.type for column in block.values},
        totals=block.totals is not None,
        top=block.top.limit if block.top is not None else None,
        reads={block.ports.get(port, port): _found_by(block, port) for port in block.ports or ports},
    )


def _found_by(block: DeltaBlock, port: str) -> str:
    """How the rows that a change of a port touches are found."""
    if port in block.linear:
        return "changed rows, joined with the rows that they match"
    columns = dict.fromkeys(link[port] for link in block.links if port in link)
    return (
        f"rows with the same {' or '.join(columns)}"
        if columns
        else "all rows of the others, in an epoch that changes it"
    )


def _read(read: PlannedRead) -> ExplainedRead:
    computed = {column.name: column.sql for column in read.computed}
    key = {out: computed.get(own, own) for out, own in read.key_columns.items()}
    return ExplainedRead(read.port, read.table, str(read.mode), read.columns, key)


def _tiers(tiers: Tiers) -> dict[str, str]:
    retentions = {tier.value: getattr(tiers, tier.value) for tier in tiers.present}
    return {name: format_duration(duration) for name, duration in retentions.items()}


def _source_line(source: ExplainedSource) -> str:
    first = ", read before the others" if source.loads_first else ""
    key = f", updated by {', '.join(source.primary_key)}" if source.primary_key else ""
    return f"source {source.name} ({source.kind}): {_count(len(source.columns), 'column')}{key}{first}"


def _segment_line(segment: ExplainedSegment) -> str:
    pace = f"every {segment.interval}" if segment.interval else "as fast as the freshness asks"
    return f"segment {segment.name} ({pace}): {', '.join(segment.tables)}"


def _step_lines(step: ExplainedStep) -> list[str]:
    tiers = ", ".join(f"{tier} {retention}" for tier, retention in step.tiers.items())
    buckets = f", {_count(step.buckets, 'bucket')}" if step.buckets > 1 else ""
    lines = [
        f"{step.writes}  ←  {step.action}",
        f"  strategy  {step.strategy}: {step.reason}",
    ]
    if step.interval:
        lines.append(f"  runs      every {step.interval}")
    lines += [f"  reads     {_read_text(read)}" for read in step.reads]
    lines += [line for state in step.states for line in _state_lines(state)]
    lines.append(f"  key       {', '.join(step.primary_key) or 'none, rows are appended'}")
    if step.part:
        lines.append(f"  writes    {', '.join(step.part)}; other steps write the rest")
    lines.append(f"  columns   {', '.join(f'{name} {kind}' for name, kind in step.columns.items())}")
    if step.merge:
        lines.append(f"  folds     {', '.join(f'{name} by {function}' for name, function in step.merge.items())}")
    if step.merge_engine:
        lines.append(f"  merges    {step.merge_engine}")
    lines += [f"  expects   {name}: {check}" for name, check in step.expect.items()]
    lines += [f"  note      {notice}" for notice in step.notices]
    if step.partition_by:
        lines.append(f"  parts     by {', '.join(step.partition_by)}")
    return [*lines, f"  kept in   {tiers}{buckets}"]


def _state_lines(state: ExplainedState) -> list[str]:
    by = ", ".join(f"{name} {kind}" for name, kind in state.groups.items())
    rows = "one row per group" if state.totals else "one row per distinct row"
    values = _count(len(state.values), "total" if state.totals else "value") if state.values else ""
    top = f"; the first {state.top} rows are written" if state.top is not None else ""
    name = f"{state.name}, an inner query, " if state.name else ""
    return [
        f"  state     {name}{f'by {by}' if by else 'one group'}: {rows}{f' with {values}' if values else ''}{top}",
        *(f"    finds   {port}: {found_by}" for port, found_by in state.reads.items()),
    ]


def _read_text(read: ExplainedRead) -> str:
    lookup = " as lookup" if read.mode == ReadMode.LOOKUP else ""
    keys = ", ".join(f"{out} is {own}" if out != own else own for out, own in read.key_columns.items())
    by = f"; by key {keys}" if keys else ""
    return f"{read.port} = {read.table}{lookup} ({', '.join(read.columns)}{by})"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
