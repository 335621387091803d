"""What the autopilot looks for. Each rule reads the evidence of one flow and names the numbers it compared. Pure.

A rule speaks only when it has seen enough: a single slow epoch is no finding.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from streamhouse.autopilot.epoch_figures import (
    bucket_rows,
    by_segment,
    full,
    gaps_ms,
    lag_p95_ms,
    last_lag_ms,
    rows_per_second,
    rows_read,
    typical,
)
from streamhouse.autopilot.finding import Evidence, FaultKind, FlowFault, Goal, Means
from streamhouse.model.bad_rows import DEAD_LETTERS
from streamhouse.model.flow import MAX_ROWS_PER_EPOCH
from streamhouse.model.plan import QUARANTINE, PlannedStep
from streamhouse.model.types import Layer, format_duration
from streamhouse.model.version import table_name
from streamhouse.state.records import EpochRecord, FlowEvent

ENOUGH_EPOCHS = 10
"""So many epochs make a pattern."""

_MOST = 0.8  # of all epochs
_LARGER = 10
_SKEWED = 3.0  # times the fair share of a bucket
_SKEW_ROWS = 1_000
_SILENT_TIMES = 10  # times the usual gap between rows
_SILENT_LEAST = timedelta(minutes=1)
_MANY_FILES = 50
_MANY_IN_PLACE = 4
_SMALL_BYTES = 4 << 20
_FAR_BEHIND = timedelta(minutes=30)
_FAILED_TIMES = 3
_BAD_SHARE = 0.05
_HEADROOM = 1.25
_NICE_MS = (
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    900_000, 1_800_000, 3_600_000,
)  # fmt: skip
_RETRY, _MENDED = "retry", " goes on after "  # an event of a trouble, and what the one of its end says

Rule = Callable[[Evidence], Iterator[FlowFault]]


def small_epochs(evidence: Evidence) -> Iterator[FlowFault]:
    """Epochs are full one after the other: rows wait, and larger epochs would read them with less work each.

    An epoch as large as the product's own default gains nothing by being larger, and takes memory.
    """
    most = evidence.plan.max_rows_per_epoch
    for segment, records in by_segment(_with_rows(evidence.epochs)).items():
        found, rate = full(records, most), rows_per_second(records)
        if len(records) < ENOUGH_EPOCHS or len(found) < _MOST * len(records) or most >= MAX_ROWS_PER_EPOCH:
            continue
        wanted = min(most * _LARGER, MAX_ROWS_PER_EPOCH)
        yield FlowFault(
            FaultKind.SMALL_EPOCHS,
            evidence.flow,
            segment if len(evidence.plan.segments) > 1 else "",
            f"{len(found)} of {len(records)} epochs read as many rows as they may ({most:,}), so rows wait; it reads "
            f"{rate or 0:,.0f} rows in a second of work",
            {
                "full_epochs": len(found),
                "epochs": len(records),
                "max_rows_per_epoch": most,
                "rows_per_second": round(rate or 0, 1),
            },
            _since(found),
            Means.EDIT,
            f"let an epoch read {wanted:,} rows",
            {"max_rows_per_epoch": wanted},
            Goal.ROWS_PER_SECOND,
        )


def freshness(evidence: Evidence) -> Iterator[FlowFault]:
    """Most epochs take longer than the flow promises, and not because they are full."""
    epochs, promised_ms = _with_rows(evidence.epochs), evidence.plan.freshness.total_seconds() * 1000
    lagging = [(record, lag) for record in epochs if (lag := last_lag_ms(record)) is not None]
    late = [record for record, lag in lagging if lag > promised_ms]
    if len(lagging) < ENOUGH_EPOCHS or len(late) < _MOST * len(lagging):
        return
    if len(full(epochs, evidence.plan.max_rows_per_epoch)) >= _MOST * len(epochs):
        return
    p95 = lag_p95_ms(epochs) or 0
    wanted_ms = next((ms for ms in _NICE_MS if ms >= p95 * _HEADROOM), _NICE_MS[-1])
    if wanted_ms <= promised_ms:
        return
    wanted = format_duration(timedelta(milliseconds=wanted_ms))
    yield FlowFault(
        FaultKind.FRESHNESS,
        evidence.flow,
        "",
        f"{len(late)} of {len(lagging)} epochs took longer than the promised "
        f"{format_duration(evidence.plan.freshness)}; 95 of 100 took up to {p95:,} ms",
        {
            "late_epochs": len(late),
            "epochs": len(lagging),
            "promised_ms": promised_ms,
            "lag_p95_ms": p95,
            "late_percent": round(100 * len(late) / len(lagging), 1),
        },
        _since(late),
        Means.EDIT,
        f"promise {wanted}, which holds (to be as fresh as promised now, the flow needs more cores)",
        {"freshness": wanted},
        Goal.LATE_PERCENT,
    )


def late_source(evidence: Evidence) -> Iterator[FlowFault]:
    """A running flow has read no row of a source, or of another flow's table, for far longer than usual."""
    if not evidence.running:
        return
    for name in (*(one.name for one in evidence.plan.sources), *(one.name for one in evidence.plan.external)):
        came = sorted((one for one in evidence.past if _moved(one, name)), key=lambda one: one.at_ms)
        gaps = gaps_ms(came)
        if len(gaps) < ENOUGH_EPOCHS:
            continue
        usual, last = timedelta(milliseconds=typical(gaps)), _time(came[-1].at_ms)
        silent = evidence.now - last
        if silent < max(_SILENT_LEAST, usual * _SILENT_TIMES, timedelta(milliseconds=2 * max(gaps))):
            continue
        yield FlowFault(
            FaultKind.LATE_SOURCE,
            evidence.flow,
            name,
            f"no rows from {name} for {round(silent.total_seconds()):,} s; usually they come every "
            f"{usual.total_seconds():g} s",
            {"silent_s": round(silent.total_seconds()), "usual_s": usual.total_seconds()},
            last,
            Means.PERSON,
            f"ask {evidence.plan.owner or 'the owner of the source'} whether it still delivers",
        )


def skew(evidence: Evidence) -> Iterator[FlowFault]:
    """One bucket of a table takes a large part of the rows, so work does not spread."""
    keyed = {table.name: table for table in evidence.plan.readable}
    for name, buckets in sorted(bucket_rows(evidence.epochs).items()):
        table, total = keyed.get(name), sum(buckets.values())
        count = table.buckets if table is not None else len(buckets)
        if count < 2 or total < _SKEW_ROWS:
            continue
        bucket, most = max(buckets.items(), key=lambda item: (item[1], item[0]))
        times = most * count / total
        if times < min(_SKEWED, count * _MOST):
            continue
        key = ", ".join(table.hashed) if table is not None and table.hashed else "its rows"
        yield FlowFault(
            FaultKind.SKEW,
            evidence.flow,
            name,
            f"bucket {bucket} of {name} has {most:,} of {total:,} rows, {times:.1f} times its share; they are "
            f"spread by {key}",
            {"rows": total, "largest": most, "buckets": count, "times_fair_share": round(times, 2)},
            _since(evidence.epochs),
            Means.PERSON,
            f"spread {name} by a column with more even values: `bucket_key` in `tables:` of the flow that writes it; "
            "the table is then rebuilt",
        )


def small_files(evidence: Evidence) -> Iterator[FlowFault]:
    """A lake table consists of many small files: readers open each of them."""
    for (table, tier), found in sorted(evidence.files.items()):
        mean = found.size_bytes / found.files if found.files else 0
        if found.files < max(_MANY_FILES, _MANY_IN_PLACE * found.places) or mean >= _SMALL_BYTES:
            continue
        yield FlowFault(
            FaultKind.SMALL_FILES,
            evidence.flow,
            f"{table} ({tier})",
            f"{table} has {found.files:,} files of {round(mean / 1024):,} KiB on average in {tier}",
            {"files": found.files, "mean_bytes": round(mean), "places": found.places},
            None,
            Means.UPKEEP,
            f"write the files together: streamhouse upkeep {evidence.flow}",
            goal=Goal.FILES,
        )


def tiering_lag(evidence: Evidence) -> Iterator[FlowFault]:
    """Rows have waited long to be copied to a further tier."""
    for (table, tier), behind in sorted(evidence.behind.items()):
        if behind < _FAR_BEHIND:
            continue
        yield FlowFault(
            FaultKind.TIERING_LAG,
            evidence.flow,
            f"{table} ({tier})",
            f"rows of {table} have waited to be copied to {tier} for {round(behind.total_seconds() / 60):,} minutes",
            {"behind_s": round(behind.total_seconds())},
            evidence.now - behind,
            Means.TIERING,
            f"fill it: streamhouse tier {evidence.flow}",
            goal=Goal.BEHIND_S,
        )


def failures(evidence: Evidence) -> Iterator[FlowFault]:
    """Epochs failed or were tried again, several times."""
    failed = [event for event in evidence.events if _is_failure(event)]
    if evidence.error is not None:
        text = f"the flow {'failed' if evidence.failed else 'is lost'}: {evidence.error.splitlines()[0]}"
        yield _for_a_person(FaultKind.FAILURES, evidence, "flow", text, "status", evidence.ended)
    if len(failed) < _FAILED_TIMES:
        return
    yield FlowFault(
        FaultKind.FAILURES,
        evidence.flow,
        "",
        f"epochs failed and were tried again {len(failed)} times; the last: {failed[-1].text.splitlines()[0]}",
        {"failures": len(failed)},
        failed[0].at,
        Means.PERSON,
        f"see: streamhouse status {evidence.flow}",
    )


def expectations(evidence: Evidence) -> Iterator[FlowFault]:
    """A large part of a table's rows does not meet its expectations."""
    written = _rows_written(evidence.epochs)
    for name, bad in sorted(written.items()):
        table = name.removesuffix(QUARANTINE)
        total = bad + written.get(table, 0)
        if table == name or not bad or bad < _BAD_SHARE * total:
            continue
        yield FlowFault(
            FaultKind.EXPECTATIONS,
            evidence.flow,
            table,
            f"{bad:,} of {total:,} rows of {table} do not meet its expectations and lie in {name}",
            {"quarantined": bad, "rows": total},
            _since([one for one in evidence.epochs if _wrote(one, name)]),
            Means.PERSON,
            f"look at them: streamhouse query 'SELECT * FROM {name}'",
        )


def upstream(evidence: Evidence) -> Iterator[FlowFault]:
    """A change upstream waits for a person or a repair, and rows wait with it."""
    for table in evidence.waiting:
        text = f"{table} is paused for a change upstream"
        yield _for_a_person(FaultKind.UPSTREAM, evidence, table, text, "approvals", None)
    for text, since in evidence.upstream.items():
        yield _for_a_person(FaultKind.UPSTREAM, evidence, text, text, "events", since)


def troubles(evidence: Evidence) -> Iterator[FlowFault]:
    """A job cannot serve a table."""
    for one in evidence.troubles:
        yield FlowFault(
            FaultKind.TROUBLE,
            evidence.flow,
            f"{one.table} ({one.tier})",
            f"{one}, {one.times} times",
            {"times": one.times},
            one.since,
            Means.PERSON,
            one.hint or f"see: streamhouse status {evidence.flow}",
        )


def unused_tables(evidence: Evidence) -> Iterator[FlowFault]:
    """A table that no step reads, in a layer that is there for other steps."""
    for table in evidence.plan.tables.values():
        is_reject_table = table.name.endswith((QUARANTINE, DEAD_LETTERS))  # for people
        if table.layer in (Layer.DWS, Layer.ADS) or table.name in evidence.read or is_reject_table:
            continue
        yield FlowFault(
            FaultKind.UNUSED_TABLE,
            evidence.flow,
            table.name,
            f"no step reads {table.name}",
            {},
            None,
            Means.PERSON,
            "remove the step if no query needs it",
        )


ONE_FLOW: tuple[Rule, ...] = (
    small_epochs, freshness, late_source, skew, small_files, tiering_lag, failures, expectations, upstream, troubles,
    unused_tables,
)  # fmt: skip
"""Rules that look at one flow, in the order in which findings are shown."""


def findings(evidence: Mapping[str, Evidence]) -> tuple[FlowFault, ...]:
    """Everything that is wrong, flow by flow; then what several flows share."""
    found = [one for flow in sorted(evidence) for rule in ONE_FLOW for one in rule(evidence[flow])]
    return (*found, *shared_steps(evidence))


def shared_steps(evidence: Mapping[str, Evidence]) -> Iterator[FlowFault]:
    """Two steps with one query over the same tables: one of them could read what the other writes."""
    first: dict[tuple[object, ...], tuple[str, PlannedStep]] = {}
    for flow in sorted(evidence):
        sources = {source.name for source in evidence[flow].plan.sources}
        for step in evidence[flow].plan.steps:
            if any(read.table in sources for read in step.reads):
                continue  # of two flows, sources with one name are two
            reads = tuple(sorted((read.port, read.table, read.mode.value) for read in step.reads))
            other = first.setdefault((step.sql, reads, step.writes.primary_key), (flow, step))
            if other[1] is step:
                continue
            yield FlowFault(
                FaultKind.SHARED_STEP,
                flow,
                step.writes.name,
                f"{step.writes.name} and {other[1].writes.name} ({other[0]}) are computed by one query from the same "
                "tables",
                {},
                None,
                Means.PERSON,
                f"read {other[1].writes.name} in place of {step.writes.name}",
            )


def _with_rows(records: Sequence[EpochRecord]) -> tuple[EpochRecord, ...]:
    return tuple(record for record in records if rows_read(record) or record.rows)


def _moved(record: EpochRecord, name: str) -> bool:
    """Whether an epoch read rows of a source, or of a table at whatever version."""
    return any(table_name(one) == name and end != record.start.get(one, {}) for one, end in record.end.items())


def _wrote(record: EpochRecord, name: str) -> bool:
    return any(count and table_name(stored) == name for stored, count in record.rows.items())


def _is_failure(event: FlowEvent) -> bool:
    return event.kind == _RETRY and _MENDED not in event.text


def _since(records: Sequence[EpochRecord]) -> datetime | None:
    return _time(records[0].started_ms) if records else None


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _rows_written(epochs: Iterable[EpochRecord]) -> dict[str, int]:
    """Table, as people call it → rows written to it, over all its versions."""
    written: dict[str, int] = {}
    for record in epochs:
        for stored, count in record.rows.items():
            name = table_name(stored)
            written[name] = written.get(name, 0) + count
    return written


def _for_a_person(
    kind: FaultKind, evidence: Evidence, about: str, text: str, command: str, since: datetime | None
) -> FlowFault:
    """What no number shows; a command shows more of it."""
    see = f"see: streamhouse {command} {evidence.flow}"
    return FlowFault(kind, evidence.flow, about, text, {}, since, Means.PERSON, see)
