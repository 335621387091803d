"""Answers a person's SQL; starts only what the query needs, and stops what it started."""

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Self, cast

from streamhouse.errors import StreamhouseError
from streamhouse.install.stage import Stage
from streamhouse.model.types import Tier
from streamhouse.model.version import table_at
from streamhouse.project.project import Project
from streamhouse.query.epoch_positions import Epochs, Segment
from streamhouse.query.explain import TableRead, reads_of
from streamhouse.query.parse import Query, needed_tiers, parse_query, table_names
from streamhouse.query.past import Catalog, CatalogWithPast, KnownPast, histories
from streamhouse.query.plain_sql import plain
from streamhouse.query.plain_values import NotPlainError
from streamhouse.query.reading import ReadableRows, readable
from streamhouse.query.rest import at_rest, lakes_instead
from streamhouse.state.epochs import RETAINED_EPOCHS
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import NeedsSparkError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from streamhouse.stores.base import Store
    from streamhouse.stores.iceberg.light import IcebergReader
    from streamhouse.stores.paimon.light import PaimonReader


class Engine(StrEnum):
    """What computes an answer."""

    AUTO = "auto"  # this process where it surely gives Spark's answer, else Spark
    SPARK = "spark"


@dataclass(frozen=True)
class QueryResult:
    """The rows that a query gave.

    Attributes:
        engine: What computed them.
        reason: Why it was Spark; empty: it was not, or nobody asked for another one.
        reads: What was read of each table.
        seconds: How long it took, from the first look at the query.
    """

    rows: "pa.Table"
    engine: str
    reason: str
    reads: list[TableRead]
    seconds: float


class QueryService:
    """Answers queries of one project; starts what they need when they first need it, and stops it at the end.

    Fluss starts only when a query reads the hot tier and it is not up, Spark only when a query reads the cold tier or
    is none that this process answers alike.

    Args:
        project: Holds the tables.
        environment: Read the tables that this one has of its own instead of production's.
        say: Is called with what is being waited for.
    """

    def __init__(
        self, project: Project, environment: str | None = None, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self._project = project
        self._environment = environment
        self._say = say
        self._stack = ExitStack()
        self._fluss = project.settings.fluss
        self._spark: SparkSession | None = None
        self._stores: dict[Tier, Store] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ask(
        self, sql: str, *, limit: int | None = None, engine: Engine = Engine.AUTO, measure: bool = False
    ) -> QueryResult:
        """The rows that `sql` selects from the tables of every flow that was ever run in the project.

        A wrong query is refused before anything starts.

        Args:
            sql: One SELECT of Spark SQL; `layer.table` reads all tiers, `layer.table$part` a part (`query/parts.py`).
            limit: At most so many rows.
            engine: What may compute them.
            measure: Find out what was read of each table, which takes a moment.

        Raises:
            QueryRefusedError: the query is wrong.
            QueryFailedError: it fails on a row.
            EnvironmentProblem: Spark or Fluss does not start.
            StoreError: a tier cannot be read, or no longer holds what is asked for.
        """
        begun = monotonic()
        query = parse_query(sql, catalog_of(self._project, self._environment))
        try:
            query = self._without_fluss(query)
            return self._answered(query, limit, engine, begun, measure=measure)
        except StreamhouseError as error:
            error.message = table_names(error.message)  # as people know them
            raise

    def _answered(self, query: Query, limit: int | None, engine: Engine, begun: float, *, measure: bool) -> QueryResult:
        reason = "asked for"
        if engine is not Engine.SPARK:
            try:
                return self._answered_here(query, limit, begun, measure=measure)
            except (NotPlainError, NeedsSparkError) as error:
                reason = str(error)
        from streamhouse.query.answer import answer_by_spark

        spark = self._session()
        tables = readable(query, self._opened(needed_tiers(query)), epochs_of(self._project))
        self._say("running the query")
        rows = answer_by_spark(query, tables, spark, limit=limit)
        return self._result(query, tables, rows, "Spark", reason, begun, measure=measure)

    def _answered_here(self, query: Query, limit: int | None, begun: float, *, measure: bool) -> QueryResult:
        """The answer of this process.

        Raises:
            NotPlainError: the query is Spark's.
            NeedsSparkError: a table is.
        """
        tiers = needed_tiers(query)
        if Tier.COLD in tiers and self._cold is None:
            raise NotPlainError("only Spark understands all settings of the cold tier")
        simple = plain(query)
        from streamhouse.query.embedded import answer_here

        tables = readable(query, self._opened(tiers, light=True), epochs_of(self._project))
        rows = answer_here(query, simple, tables, limit=limit)
        return self._result(query, tables, rows, "this process", "", begun, measure=measure)

    @cached_property
    def _warm(self) -> "PaimonReader":
        """Who reads warm tables in this process."""
        from streamhouse.runtime.stores import warm_reader

        return warm_reader(self._project)

    @cached_property
    def _cold(self) -> "IcebergReader | None":
        """Who reads cold tables in this process; None: only Spark can."""
        from streamhouse.runtime.cold import cold_reader

        return cold_reader(self._project)

    def _without_fluss(self, query: Query) -> Query:
        """The query of lakes alone, where Fluss is down and they hold all that it would tell."""
        from streamhouse.services.services import Services

        if self._fluss is not None or Tier.HOT not in needed_tiers(query):
            return query
        if Services(self._project.root).status().endpoints is not None:
            return query
        epochs = epochs_of(self._project)
        lakes = lakes_instead(query, epochs)
        if lakes is None:
            return query
        try:
            return at_rest(query, self._opened(lakes, light=True), epochs) or query
        except NeedsSparkError:
            return at_rest(query, self._opened(lakes), epochs) or query

    def _result(
        self,
        query: Query,
        tables: ReadableRows,
        rows: "pa.Table",
        engine: str,
        reason: str,
        begun: float,
        *,
        measure: bool,
    ) -> QueryResult:
        seconds = monotonic() - begun
        return QueryResult(rows, engine, reason, reads_of(query, tables) if measure else [], seconds)

    def session(self) -> "SparkSession":
        """The Spark session of queries, started now where none was needed yet; it ends with this object."""
        return self._session()

    def _session(self) -> "SparkSession":
        if self._spark is None:
            from streamhouse.runtime.session import spark_session

            self._say("starting Spark")
            self._spark = self._stack.enter_context(spark_session(self._project, say=self._say))
        return self._spark

    def _light(self, tiers: frozenset[Tier]) -> "dict[Tier, Store]":
        readers: dict[Tier, Store] = {}
        if Tier.WARM in tiers:
            readers[Tier.WARM] = self._warm
        if Tier.COLD in tiers and self._cold is not None:
            readers[Tier.COLD] = cast("Store", self._cold)
        return readers

    def _running_fluss(self) -> str | None:
        from streamhouse.services.services import running

        shown_texts: set[str] = set()

        def tell(stage: Stage) -> None:
            if stage.text not in shown_texts:
                shown_texts.add(stage.text)
                self._say(stage.text)

        return self._stack.enter_context(running(self._project.root, tell)).fluss

    def _opened(self, tiers: frozenset[Tier], *, light: bool = False) -> "dict[Tier, Store]":
        """The stores of some tiers; `light`: lakes as this process reads them, if it can."""
        if light:
            readers = self._light(tiers)
            return {**self._opened(tiers - readers.keys()), **readers}
        from streamhouse.runtime.stores import open_stores

        if self._fluss is None and Tier.HOT in tiers:
            self._fluss = self._running_fluss()
        missing = sorted(tiers - self._stores.keys())
        spark = self._session() if Tier.COLD in missing else self._spark
        for tier, store in open_stores(self._project, spark, self._fluss, missing).items():
            self._stack.callback(store.close)
            self._stores[tier] = store
        return self._stores


def run_query(
    project: Project,
    sql: str,
    *,
    limit: int | None = None,
    environment: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> "pa.Table":
    """The answer to one query; see `QueryService.ask`."""
    with QueryService(project, environment, say) as asking:
        return asking.ask(sql, limit=limit).rows


def epochs_of(project: Project) -> Epochs:
    """The epochs of every flow that was run at least once."""
    state = project.existing_state()
    if state is None:
        return Epochs()
    with state:
        plans = list(state.running_plans({}).values())

    def records(flow: str, segment: str) -> list[EpochRecord]:
        with project.state() as state:
            return state.recent_epochs(flow, segment, RETAINED_EPOCHS)

    def unfinished(flow: str, segment: str) -> bool:
        with project.state() as state:
            return state.unfinished(flow, segment) is not None

    def last(segments: Collection[Segment]) -> dict[Segment, EpochRecord]:
        if not segments:
            return {}
        with project.state() as state:
            found = {one: state.last_epoch(*one) for one in segments}
        return {one: record for one, record in found.items() if record is not None}

    return Epochs(plans, records, unfinished, last)


def catalog_of(project: Project, environment: str | None = None) -> Catalog:
    """Every table that a flow writes which was run at least once, as it was run last, and its versions before that.

    Tables of a flow whose plan cannot be read are missing; a query that names one is refused with the reason.
    """
    unreadable: Unreadable = {}
    state = project.existing_state()
    if state is None:
        return {}
    with state:
        if environment is not None:
            from streamhouse.change.environment import catalog

            tables = catalog(state, environment, unreadable)
        else:
            versions = state.versions()
            tables = {
                name: table_at(table, versions)
                for _, plan in state.plans(unreadable).values()
                for name, table in plan.tables.items()
            }
        known = histories(tables, state.tables.served(), state.tables.retired(), state.stored_tables.made())
    return CatalogWithPast(tables, KnownPast(known, lambda: epochs_of(project)), unreadable)
