"""Arrow in, Spark SQL, Arrow out: the only place where the engine touches a DataFrame."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.expectations import FLAG, Judged, judge, with_flags
from streamhouse.engine.keys import refuse_several
from streamhouse.engine.row_order import BESIDE, ORIGIN, ROW, apart, in_order, marked, numbered
from streamhouse.engine.spill import Spilled, spilled_frame
from streamhouse.engine.standing import standing_queries
from streamhouse.errors import EpochFailedError, TypeMismatchError
from streamhouse.model.plan import EXPECTATION, PlannedStep
from streamhouse.model.table import Column, ComputedColumn, Table
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.spark.carrier import CarriesRows, carrier_of
from streamhouse.spark.failures import ResultTooLargeError, failed_queries, first_line, sizes_of_too_large
from streamhouse.spark.results import collected_arrow
from streamhouse.spark.worker_error import from_worker
from streamhouse.sql.bind import bind, set_clocks, tells_time
from streamhouse.sql.carry import carried
from streamhouse.sql.dialect import render
from streamhouse.sql.projection import may_give_several
from streamhouse.sql.types import canonical_type
from streamhouse.stores.arrow import arrow_schema, conform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_NOT_IN_NAMES = re.compile(r"\W", re.UNICODE)
_NUMBERS = count()


class Frames:
    """Runs the SQL of steps in one Spark session. Safe to call from several threads for different steps."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark
        self._carrier = carrier_of(spark)
        self._standing = standing_queries(spark)
        self._number = next(_NUMBERS)

    def frame(self, rows: pa.Table | Spilled) -> "DataFrame":
        """A DataFrame over rows that this process or a file of it holds."""
        return spilled_frame(self.spark, rows) if isinstance(rows, Spilled) else self._carrier.frame(rows)

    def place(self, name: str, rows: pa.Table) -> "DataFrame | None":
        """A DataFrame for `standing` over rows of this process, until `end_epoch`; see `StandingQueries.place`."""
        return self._standing.place(name, rows)

    def end_epoch(self) -> None:
        """Let the rows go that were placed."""
        self._standing.clear()

    def rows(self, frame: "DataFrame") -> pa.Table:
        """The rows of a DataFrame in this process.

        Raises:
            EpochFailedError: the SQL behind it fails on a row, or they are more than `spark.driver.maxResultSize`.
        """
        try:
            return self._standing.rows(frame) if self.stands(frame) else self._carrier.rows(frame)
        except failed_queries(ResultTooLargeError) as error:
            if failure := from_worker(error):
                raise failure from error
            raise _too_large("a result", error) or EpochFailedError(
                f"an action fails on a row: {first_line(error)}"
            ) from error

    def answer(self, name: str, step: PlannedStep, inputs: "Mapping[str, pa.Table | DataFrame]") -> pa.Table:
        """The rows of the step's SQL, which has no clock, over one input for each port; planned once where it can be.

        Args:
            name: Of the places of the inputs; of one thread at a time.
            step: With the SQL; its expectations are not looked at.
            inputs: Rows of this process, or a DataFrame: then the query is planned for this call.

        Raises:
            EpochFailedError: as `rows`.
        """
        step = step.model_copy(update={"expect": {}})
        query_name = f"{name} {_query_name(step)}"
        placed = None if self._standing.refuses(query_name) else self._placed(name, inputs)
        if placed is not None:
            first, *others = placed.values()
            found = self._standing.query(query_name, first, partial(self._query, step, placed, 0), others)
            if found is not None:
                return self.rows(found)
        frames = {port: self.frame(rows) if isinstance(rows, pa.Table) else rows for port, rows in inputs.items()}
        return self.rows(self.run(step, frames, 0))

    def _placed(self, name: str, inputs: "Mapping[str, pa.Table | DataFrame]") -> "dict[str, DataFrame] | None":
        """A DataFrame over a place for each port; None: there is no place for the rows of one."""
        placed: dict[str, DataFrame] = {}
        for port, rows in inputs.items():
            frame = self.place(f"{name} {port}", rows) if isinstance(rows, pa.Table) else None
            if frame is None:
                return None
            placed[port] = frame
        return placed

    def extended(self, rows: pa.Table, computed: Sequence[ComputedColumn]) -> pa.Table:
        """The rows, in their order, with a further column for each value computed from them.

        Raises:
            EpochFailedError: Spark refuses or fails.
        """
        from pyspark.errors import PySparkException

        if not computed:
            return rows
        used = list(dict.fromkeys(name for column in computed for name in column.uses))
        try:
            # Plans are made when a frame is, so a column that Spark does not find is refused here too.
            frame = self.frame(rows.select(used)).selectExpr(*(column.sql for column in computed))
            values = collected_arrow(frame.toDF(*(column.name for column in computed)))
        except PySparkException as error:
            raise EpochFailedError(f"the keys of changed rows cannot be computed: {first_line(error)}") from error
        new_columns = conform(values, [Column(name=column.name, type=column.type) for column in computed])
        for column in computed:
            rows = rows.append_column(new_columns.schema.field(column.name), new_columns.column(column.name))
        return rows

    def run(self, step: PlannedStep, inputs: Mapping[str, "DataFrame"], at_ms: int) -> "DataFrame":
        """The step's SQL over one DataFrame for each port; clock functions say `at_ms`.

        Where the rows may come in another order than those they are made of (`may_reorder`), a further column says
        that order; `collect`, `valid_rows`, `last_of_each_key` and `winners` know it. Where one row of an input may
        give several rows of one key (`may_repeat`), another one says which rows those are; `collect` compares them.
        """
        return self._query(step, inputs, at_ms, self._carrier)

    def may_stand(self, step: PlannedStep) -> bool:
        """Whether one plan of the step's SQL may do for all epochs, for all that is known yet; see `standing`."""
        asks = (step.sql, *(f"SELECT {rule.check} AS met" for rule in step.expect.values()))
        return len(step.reads) == 1 and not any(map(tells_time, asks)) and not self._standing.refuses(_query_name(step))

    def standing(self, step: PlannedStep, over: "DataFrame") -> "DataFrame | None":
        """As `run`, of a step that `may_stand` over a frame that `stands`, planned but once; None: it cannot be."""
        [read] = step.reads
        return self._standing.query(_query_name(step), over, partial(self._query, step, {read.port: over}, 0))

    def stands(self, frame: "DataFrame") -> bool:
        """Whether the frame's rows are others in the next epoch."""
        return self._standing.has(frame)

    def _query(
        self, step: PlannedStep, inputs: Mapping[str, "DataFrame"], at_ms: int, carrier: CarriesRows
    ) -> "DataFrame":
        from pyspark.errors import AnalysisException

        # Another plan of the flow may be checked with Spark meanwhile, and its steps bear the same names.
        views = {port: _NOT_IN_NAMES.sub("__", f"{step.id}.{port}.{self._number}") for port in inputs}
        changing = [read.port for read in step.reads if read.mode is ReadMode.CHANGES]
        in_turn = may_reorder(step) or any(ROW in inputs[port].columns for port in changing)
        marks = [*([ROW] if in_turn else []), *([ORIGIN] if may_repeat(step) else [])]
        for port, frame in inputs.items():
            (marked(frame, marks) if port in changing else frame).createOrReplaceTempView(views[port])
        query = bind(step.sql, views, at_ms)
        for mark in marks:
            query = carried(query, [views[port] for port in changing], mark)
        query = with_flags(query, step.expect)
        set_clocks(query, at_ms)
        try:
            return carrier.query(render(query))
        except AnalysisException as error:
            raise EpochFailedError(
                f"{step.id}: Spark refuses the SQL of action '{step.action}': {first_line(error)}",
                hint=f"try it alone: streamhouse action test {step.action}",
            ) from error
        finally:
            for view in views.values():
                carrier.drop_view(view)

    def collect(self, step: PlannedStep, frame: "DataFrame") -> Judged:
        """The result of a step after its expectations, with the columns and types of the table it writes.

        Raises:
            EpochFailedError: a value does not fit, the SQL fails on a row, an expectation says so, or the result
                is larger than `spark.driver.maxResultSize`.
            WriteRefusedError: one row of an input gives two rows of one key that differ.
        """
        try:
            rows = self._standing.rows(frame) if self.stands(frame) else self._carrier.rows(frame)
            judged = judge(step, in_order(rows))
            if may_repeat(step):
                refuse_several(judged.valid_rows, step.writes, ORIGIN)
            return replace(judged, valid_rows=conform(judged.valid_rows, step.columns))
        except failed_queries(ResultTooLargeError) as error:
            if failure := from_worker(error):
                raise failure from error
            failure = _too_large(f"{step.id}: the result of action '{step.action}'", error) or EpochFailedError(
                f"{step.id}: action '{step.action}' fails on a row: {first_line(error)}",
                hint="use TRY_CAST or a WHERE that keeps such rows out; no row was written",
            )
            raise failure from error
        except (pa.ArrowInvalid, KeyError) as error:
            raise EpochFailedError(
                f"{step.id}: a result does not fit the table: {first_line(error)}",
                hint=f"CAST the column in action '{step.action}'",
            ) from error

    def valid_rows(self, step: PlannedStep, frame: "DataFrame") -> "DataFrame":
        """The rows that expectations let into the table, with the columns the step writes; no violation is counted.

        Columns that give their order, and the rows that they are made of, stay.
        """
        flags = [FLAG + name for name, rule in step.expect.items() if rule.on_violation in ("drop", "quarantine")]
        for flag in flags:
            frame = frame.where(frame[flag])
        marks = [name for name in (ROW, ORIGIN) if name in frame.columns]
        return frame.select([*(column.name for column in step.columns), *marks])

    def quarantined(self, step: PlannedStep, frame: "DataFrame") -> "DataFrame":
        """The rows that expectations keep for the quarantine table, each with the first one that it violates.

        A column that gives their order stays.
        """
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        rules = [name for name, rule in step.expect.items() if rule.on_violation == "quarantine"]
        first = F.coalesce(*(F.when(~F.col(f"{FLAG}{name}"), F.lit(name)) for name in rules))
        columns = [column.name for column in step.columns]
        violating_rows = frame.withColumn(EXPECTATION, first).where(F.col(EXPECTATION).isNotNull())
        return violating_rows.select(*columns, EXPECTATION, *({ROW} & set(frame.columns)))

    def last_of_each_key(self, rows: "DataFrame", key: Sequence[str]) -> "DataFrame":
        """Of rows in the order they happened, the last of each key."""
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        whole = F.struct(*(name for name in rows.columns if name != ROW))
        # One row may give several, with its number: they are beside each other.
        return apart(rows).groupBy(*key).agg(F.max_by(whole, F.struct(ROW, BESIDE)).alias(ROW)).select(f"{ROW}.*")

    def winners(self, rows: "DataFrame", table: Table) -> "DataFrame":
        """Of rows in the order they happened, the one of each key that the table's merge engine keeps."""
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        if not table.selects:
            return self.last_of_each_key(rows, table.primary_key)
        whole, row = F.struct(*(name for name in rows.columns if name != ROW)), F.col(ROW)
        by_key = numbered(rows).groupBy(*table.primary_key)
        if table.version_column is None:
            won = by_key.agg(F.min_by(whole, row).alias(ROW))
        else:  # NULL is the lowest part of a struct
            won = by_key.agg(F.max_by(whole, F.struct(table.version_column, row)).alias(ROW))
        return won.select(f"{ROW}.*")

    def check(self, step: PlannedStep, input_columns: Mapping[str, tuple[Column, ...]]) -> None:
        """Compare what Spark says of the step's result with the plan, without reading a row.

        Raises:
            TypeMismatchError: a name or type differs.
            EpochFailedError: Spark refuses the SQL.
        """
        empty = {read.port: self.frame(arrow_schema(input_columns[read.table]).empty_table()) for read in step.reads}
        found = {f.name: canonical_type(f.dataType.simpleString()) for f in self.run(step, empty, 0).schema.fields}
        planned = {column.name: column.type for column in step.columns}
        for read in step.reads:
            for column in read.computed:
                planned[column.sql] = column.type
                spark_field = empty[read.port].selectExpr(column.sql).schema.fields[0]
                found[column.sql] = canonical_type(spark_field.dataType.simpleString())
        wrong = [f"{n} is {found.get(n, 'absent')}, planned {t}" for n, t in planned.items() if found.get(n) != t]
        if wrong:
            raise TypeMismatchError(
                f"{step.id}: Spark types the result of action '{step.action}' otherwise: {'; '.join(wrong)}",
                hint="write a CAST around these columns",
            )


def _query_name(step: PlannedStep) -> str:
    """The name of the one query that a step is, with its expectations."""
    return f"{step.id} {step.sql} {[rule.check for rule in step.expect.values()]}"


def may_reorder(step: PlannedStep) -> bool:
    """Whether Spark may give the rows of a step in another order than those it makes them of.

    Of strategies that make each row of one row, those that look rows up: Spark sorts both sides when it joins them
    with a large table.
    """
    return step.strategy is Strategy.MAP and any(read.mode is ReadMode.LOOKUP for read in step.reads)


def may_repeat(step: PlannedStep) -> bool:
    """Whether one row of an input may give several rows of one key, none of which comes last.

    Of an input that is updated the compiler proves that each row gives one at most.
    """
    if step.strategy is not Strategy.MAP or not step.writes.primary_key:
        return False
    return not any(read.key_columns for read in step.reads) and may_give_several(step.sql)


def _too_large(what: str, error: BaseException) -> EpochFailedError | None:
    """The error for a result that this process refuses to take, if it is that."""
    sizes = sizes_of_too_large(error)
    if sizes is None:
        return None
    found, limit = sizes
    return EpochFailedError(
        f"{what} is larger than this process takes: {found} of at most {limit}",
        hint="lower max_rows_per_epoch, or aggregate in two steps; or raise spark.driver.maxResultSize and memory",
    )
