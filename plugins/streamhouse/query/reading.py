"""The rows of what a query names: which tier at which position, as Arrow or as a Spark DataFrame."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.observed import short_of
from streamhouse.errors import RowsLostError, StoreError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.moments import Moment, MomentKind
from streamhouse.query.parse import Query, TableUse
from streamhouse.query.views import verified, view_rows
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.arrow import arrow_schema, arrow_type
from streamhouse.stores.base import LakeMetadata, Store, TimedStore
from streamhouse.stores.ledger import refuse
from streamhouse.tiering.union import sides, state_count, state_frame, state_rows, union_count, union_frame, union_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WIDE = 1_000  # bits; what has no fixed width counts as this


@dataclass(frozen=True)
class Span:
    """From where to where a table is read; None: from its beginning, to now."""

    start: Position | None = None
    end: Position | None = None


@dataclass(frozen=True)
class ReadableRows:
    """All that the rows of a query come from.

    Attributes:
        stores: Those of `needed_tiers`.
        spans: Name of a use → what of it is read.
        epochs: What is known of them.
    """

    stores: Mapping[Tier, Store]
    spans: Mapping[str, Span]
    epochs: Epochs

    def rows(self, use: TableUse) -> pa.Table:
        """The rows of a use in this process, with its columns; of one that only counts a single column.

        Raises:
            StoreError: a tier cannot be read, or no longer holds what is asked for.
        """
        span, columns = self.spans[use.name], use.columns or (smallest_column(use.shown),)
        with _naming_moment(use):
            if use.part.view is not None:
                return view_rows(use, self.stores, self.epochs, span.start, span.end).select(list(columns))
            if (one := self._one_tier(use)) is None:
                return union_read(use.table, self.stores, columns, at=span.end, where=use.where)
            store, table = one
            if store.columns(table.name) is None:
                return arrow_schema(map(use.table.column, columns)).empty_table()
            return state_rows(store, table, span.end, columns, use.where)

    def frame(self, use: TableUse, spark: "SparkSession") -> "DataFrame":
        """As `rows`, for Spark: what Spark reads by itself stays where it is."""
        span = self.spans[use.name]
        if use.part.view is not None:
            return arrow_frame(spark, self.rows(use))
        with _naming_moment(use):
            columns = use.columns or (smallest_column(use.shown),)
            if (one := self._one_tier(use)) is None:
                return union_frame(spark, use.table, self.stores, columns, at=span.end, where=use.where)
            store, table = one
            if store.columns(table.name) is None:
                return arrow_frame(spark, arrow_schema(map(use.table.column, columns)).empty_table())
            return state_frame(spark, store, table, span.end, columns, use.where)

    def count(self, use: TableUse) -> int:
        """How many rows `rows` has, at the least cost."""
        span, column = self.spans[use.name], smallest_column(use.shown)
        if use.part.view is not None or span.end is not None or use.moment is not None:
            return int(self.rows(use).num_rows)
        if (one := self._one_tier(use)) is None:
            return union_count(use.table, self.stores, column)
        return 0 if one[0].columns(one[1].name) is None else state_count(*one, None, column)

    def parts(self, use: TableUse) -> list[tuple[Tier, Table, Position | None, Position | None]]:
        """What `rows` reads: tier, table as it holds it, from where on (None: all), up to where (None: now)."""
        end = self.spans[use.name].end
        if (one := self._one_tier(use)) is not None:
            return [(one[0].tier, one[1], None, end)] if one[0].columns(one[1].name) is not None else []
        source, base = sides(use.table, self.stores, at=end)
        if base is None:
            return [(source.tier, use.table, None, end)]
        return [(source.tier, use.table, base.mark.offsets, end), (base.lake.tier, use.table.replica, None, base.at)]

    def _one_tier(self, use: TableUse) -> tuple[Store, Table] | None:
        """The one tier that is read, and the table as it holds it; None: all are."""
        versioned = use.moment is not None and use.moment.kind is MomentKind.VERSION
        if use.part.tier is None and not versioned:
            return None
        (tier,) = use.tiers
        return verified(self.stores[tier], use.table)


def readable(query: Query, stores: Mapping[Tier, Store], epochs: Epochs) -> ReadableRows:
    """Find the positions that the moments of a query stand for.

    Raises:
        QueryRefusedError: there is no such epoch, or not of all the tables.
        RowsLostError: it is no longer known where a table stood.
        TableLostError: a table ends before where its flow left it.
    """
    _refuse_older(query, stores, epochs)
    ends = _epochs(query, epochs, {use.name: use.moment for use in query.uses})
    starts = _epochs(query, epochs, {use.name: use.since for use in query.uses})
    spans = {
        use.name: Span(
            _position(use, stores, use.since, starts.get(use.table.name)),
            _position(use, stores, use.moment, ends.get(use.table.name)),
        )
        for use in query.uses
    }
    return ReadableRows(stores, spans, epochs)


def _refuse_older(query: Query, stores: Mapping[Tier, Store], epochs: Epochs) -> None:
    """Refuse a table that ends, in the tier that its flow writes, before where the flow left it: rows are missing."""
    tables = {use.table.name: use.table for use in query.uses if use.table.tiers.target in stores.keys() & use.tiers}
    for name, left in epochs.left_at(tables).items():
        table = tables[name]
        if left and (short := short_of(stores, table, left, "where the flow left it")) is not None:
            refuse(table, table.tiers.target, short)


def _epochs(query: Query, epochs: Epochs, moments: Mapping[str, Moment | None]) -> dict[str, Position]:
    epoch_uses = [
        (use, at) for use in query.uses if (at := moments[use.name]) is not None and at.kind is MomentKind.EPOCH
    ]
    return (
        epochs.positions({use.table.name: use.title for use, _ in epoch_uses}, epoch_uses[0][1]) if epoch_uses else {}
    )


def _position(
    use: TableUse, stores: Mapping[Tier, Store], moment: Moment | None, of_epoch: Position | None
) -> Position | None:
    if moment is None:
        return None
    if moment.kind is MomentKind.EPOCH:
        return of_epoch
    tier = use.tiers[0]
    store, table = verified(stores[tier], use.table)
    if moment.kind is MomentKind.VERSION:
        if isinstance(store, LakeMetadata) and store.columns(table.name) is not None:
            return store.position_of(table, moment.value)
        return {"snapshot": moment.value}
    if not isinstance(store, TimedStore):
        raise StoreError(f"the {tier} tier does not record when its rows were committed")
    with _naming_moment(use):
        return store.position_at(table, moment.value)


@contextmanager
def _naming_moment(use: TableUse) -> Iterator[None]:
    """Says in errors which moment of which table was asked for."""
    try:
        yield
    except RowsLostError as error:
        if (moment := use.moment or use.since) is None:
            raise
        raise RowsLostError(
            f"{use.title} cannot be read as of {moment}: {error.message}", at=moment.at, hint=error.hint
        ) from error


def smallest_column(table: Table) -> str:
    """The column that is cheapest to read, for queries that only count rows."""

    def width(name: str) -> int:
        data_type = arrow_type(table.column(name).type)
        return data_type.bit_width if pa.types.is_primitive(data_type) else _WIDE

    return min(table.column_names, key=width)
