"""Answers a person's SQL; starts only what the query needs, and stops what it started."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from streamhouse.model.types import Tier
from streamhouse.model.version import at_versions, table_at
from streamhouse.project.project import Project
from streamhouse.state.epochs import KEPT_EPOCHS
from streamhouse.state.records import EpochRecord
from streamhouse.tiering.ask import Catalog, needed_tiers, parse_query
from streamhouse.tiering.epochs import Epochs

if TYPE_CHECKING:
    import pyarrow as pa


def run_query(
    project: Project,
    sql: str,
    *,
    limit: int | None = None,
    environment: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> "pa.Table":
    """The rows that `sql` selects from the tables of every flow that was ever run in the project.

    A wrong query is refused before anything starts. Fluss starts only when the query reads the hot
    tier and it is not up.

    Args:
        project: Holds the tables.
        sql: One SELECT of Spark SQL; `layer.table` reads all tiers, `layer.table$hot` (`$warm`, `$cold`, `$lake`) one.
        limit: At most so many rows.
        environment: Read the tables that this one has of its own instead of production's.
        say: Told what is being waited for.

    Raises:
        QueryRefusedError: the query is wrong.
        QueryFailedError: it fails on a row.
        EnvironmentProblem: Spark or Fluss does not start.
        StoreError: a tier cannot be read.
    """
    query = parse_query(sql, catalog_of(project, environment))
    tiers = needed_tiers(query)

    from pyspark.sql import SparkSession

    from streamhouse.runtime.session import local_session
    from streamhouse.runtime.stores import open_stores
    from streamhouse.tiering.query import answer

    with ExitStack() as stack:
        fluss = project.settings.fluss
        if fluss is None and Tier.HOT in tiers:
            from streamhouse.services.services import running

            say("starting Fluss")
            fluss = stack.enter_context(running(project.root)).fluss
        ours = SparkSession.getActiveSession() is None
        say("starting Spark")
        spark = local_session(project, say=say)
        if ours:
            stack.callback(spark.stop)
        stores = open_stores(project, spark, fluss, sorted(tiers))
        for store in stores.values():
            stack.callback(store.close)
        say("running the query")
        return answer(query, stores, spark, limit=limit, epochs=epochs_of(project))


def epochs_of(project: Project) -> Epochs:
    """The epochs of every flow that was run at least once."""
    state = project.existing_state()
    if state is None:
        return Epochs()
    with state:
        plans = [at_versions(plan, state.versions(flow)) for flow, (_, plan) in state.plans().items()]

    def records(flow: str, segment: str) -> list[EpochRecord]:
        with project.state() as state:
            return state.recent_epochs(flow, segment, KEPT_EPOCHS)

    return Epochs(plans, records)


def catalog_of(project: Project, environment: str | None = None) -> Catalog:
    """Every table that a flow writes which was run at least once, as it was run last."""
    state = project.existing_state()
    if state is None:
        return {}
    with state:
        if environment is not None:
            from streamhouse.change.environment import catalog

            return catalog(state, environment)
        versions = state.versions()
        return {
            name: table_at(table, versions) for _, plan in state.plans().values() for name, table in plan.tables.items()
        }
