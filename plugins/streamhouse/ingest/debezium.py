"""Change events of Debezium, from lines of JSON to rows by key. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from streamhouse.ingest.debezium_schema import truncation_id
from streamhouse.ingest.event_readers import Envelopes
from streamhouse.ingest.event_run import WRITES, EventRun, Events, WantedEvents, event_reader, event_runs
from streamhouse.ingest.floats import has_infinity
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.equality import plain_keys


def rows_alone(rows: pa.Table, key: Sequence[str]) -> Events:
    """Rows that are there, as if they had just been written."""
    return Events(rows, np.arange(rows.num_rows), rows.select(list(key)).slice(0, 0), np.empty(0, dtype=np.int64))


def last_of_each(events: Sequence[Events], key: Sequence[str]) -> Events:
    """What remains of events that happened one part after the other: of each key the last thing that was done to it.

    An event that is delivered again, and an insert of a row that is there, replace it by the same key.

    Args:
        events: At least one part.
        key: Primary key.
    """
    lengths = [int(max([-1, *e.rows_at[-1:], *e.deletes_at[-1:]])) + 1 for e in events]
    offsets = np.cumsum([0, *lengths[:-1]])
    rows = pa.concat_tables([e.rows for e in events])
    deletes = pa.concat_tables([e.deletes for e in events])
    rows_at = np.concatenate([e.rows_at + offset for e, offset in zip(events, offsets, strict=True)])
    deletes_at = np.concatenate([e.deletes_at + offset for e, offset in zip(events, offsets, strict=True)])
    keys = pa.concat_tables([rows.select(list(key)), deletes.select(list(key))])
    placed = plain_keys(keys, key).append_column("", pa.array(np.concatenate([rows_at, deletes_at])))
    last = placed.group_by(list(key), use_threads=False).aggregate([("", "max")]).column("_max").to_numpy()
    row_mask, delete_mask = np.isin(rows_at, last), np.isin(deletes_at, last)
    return Events(
        rows.filter(pa.array(row_mask)),
        rows_at[row_mask],
        deletes.filter(pa.array(delete_mask)),
        deletes_at[delete_mask],
    )


def decode(lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int) -> Events:
    """The events of some lines of a file.

    Args:
        lines: One event each, in the order they happened; an empty line, `null`, and an envelope
            without payload are tombstones and mean nothing.
        wanted: What to take from them.
        name: The file, for messages.
        first: The number of the first line, counted from 1.

    Raises:
        SourceError: a line is no change event, lacks its key or has a value that does not fit; with its place.
    """
    found = _decoded(lines, wanted, name, first, exact=wanted.has_decimals)
    if not wanted.has_decimals and any(map(_has_infinity, (found.rows, found.deletes))):
        return _decoded(lines, wanted, name, first, exact=True)  # which shows whether `Infinity` was written, or 1e400
    return found


def _has_infinity(rows: pa.Table) -> bool:
    return any(has_infinity(chunk) for column in rows.columns for chunk in column.chunks)


def _decoded(lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int, *, exact: bool) -> Events:
    runs: list[EventRun] = []
    cleared = False
    for run in event_runs(lines, wanted, name, first, exact=exact):
        if run.cleared_at is None:
            runs.append(run)
        else:
            runs, cleared = [], True
    parts = [run.events() for run in runs]
    if not parts:
        nothing = rows_alone(arrow_schema(wanted.columns).empty_table(), wanted.key)
        return replace(nothing, cleared=cleared)
    return Events(
        pa.concat_tables([p.rows for p in parts]),
        np.concatenate([p.rows_at for p in parts]),
        pa.concat_tables([p.deletes for p in parts]),
        np.concatenate([p.deletes_at for p in parts]),
        cleared,
    )


def removals_in(lines: Sequence[bytes], wanted: WantedEvents) -> Iterator[tuple[int, str]]:
    """Each removal of all rows: the number of its line, from 0, and its id. What is no event is passed over."""
    reader = event_reader(wanted)
    for number, line in enumerate(lines):
        if b'"t"' not in line and b"\\u00" not in line:
            continue  # no `op` is `t`, also not as an escape
        try:
            event = reader.event(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("op") == "t":
            yield number, truncation_id(event)


def row_columns(lines: Sequence[bytes]) -> tuple[str, ...]:
    """Every column that a row in some lines has; none where there are no rows. What is no event is passed over."""
    reader = Envelopes()
    found: dict[str, None] = {}
    for line in lines:
        try:
            event = reader.event(line)
        except ValueError:
            continue
        # A delete may tell the key alone, so it does not count.
        after = event.get("after") if isinstance(event, dict) and event.get("op") in WRITES else None
        if isinstance(after, dict):
            found.update(dict.fromkeys(after))
    return tuple(found)
