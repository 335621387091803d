"""A plan in words: plain data for `--json`, text for people."""

from dataclasses import asdict, dataclass
from typing import Any

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


def _read(read: PlannedRead) -> ExplainedRead:
    computed = {column.name: column.sql for column in read.computed}
    key = {out: computed.get(own, own) for out, own in read.key_columns.items()}
    return ExplainedRead(read.port, read.table, str(read.mode), read.columns, key)


def _tiers(tiers: Tiers) -> dict[str, str]:
    kept = {tier.value: getattr(tiers, tier.value) for tier in tiers.present}
    return {name: format_duration(duration) for name, duration in kept.items()}


def _source_line(source: ExplainedSource) -> str:
    first = ", read before the others" if source.loads_first else ""
    key = f", updated by {', '.join(source.primary_key)}" if source.primary_key else ""
    return f"source {source.name} ({source.kind}): {_count(len(source.columns), 'column')}{key}{first}"


def _segment_line(segment: ExplainedSegment) -> str:
    pace = f"every {segment.interval}" if segment.interval else "as fast as the freshness asks"
    return f"segment {segment.name} ({pace}): {', '.join(segment.tables)}"


def _step_lines(step: ExplainedStep) -> list[str]:
    tiers = ", ".join(f"{tier} {kept}" for tier, kept in step.tiers.items())
    buckets = f", {_count(step.buckets, 'bucket')}" if step.buckets > 1 else ""
    lines = [
        f"{step.writes}  ←  {step.action}",
        f"  strategy  {step.strategy}: {step.reason}",
    ]
    if step.interval:
        lines.append(f"  runs      every {step.interval}")
    lines += [f"  reads     {_read_text(read)}" for read in step.reads]
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


def _read_text(read: ExplainedRead) -> str:
    lookup = " as lookup" if read.mode == ReadMode.LOOKUP else ""
    keys = ", ".join(f"{out} is {own}" if out != own else own for out, own in read.key_columns.items())
    by = f"; by key {keys}" if keys else ""
    return f"{read.port} = {read.table}{lookup} ({', '.join(read.columns)}{by})"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
