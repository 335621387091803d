"""The tables of one small project in a Spark session, made as the project's own steps make them, in one batch."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .judge import Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.model.plan import FlowPlan, PlannedStep

LAYERS = ("ods", "dwd", "dws", "ads")


@contextmanager
def spark_session(folder: Path) -> "Iterator[SparkSession]":
    """A session as users get it, two cores, with its files in `folder`."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.session import local_session

    settings = Settings.model_validate({"spark": {"master": "local[2]"}})
    session = local_session(Project(folder, settings), name="wishes")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    try:
        yield session
    finally:
        session.stop()


def load_tables(spark: "SparkSession", project: Path, plans: "dict[str, FlowPlan]", folder: Path) -> dict[str, int]:
    """Make every table of a project a table of the session; those of another project go.

    Returns:
        Table → its rows.
    """
    for layer in LAYERS:
        spark.sql(f"DROP DATABASE IF EXISTS {layer} CASCADE")
        spark.sql(f"CREATE DATABASE {layer} LOCATION '{folder / project.name / layer}'")
    rows: dict[str, int] = {}
    for plan in plans.values():
        sources = _sources(plan, project)
        for segment in plan.segments:
            for step in segment.steps:
                rows[step.writes.name] = _make(spark, step, sources, folder / project.name)
    return rows


def _sources(plan: "FlowPlan", project: Path) -> dict[str, Any]:
    from streamhouse.ingest.kinds import open_source

    opened = {source.name: open_source(source, project) for source in plan.sources}
    return {name: source.read({}, source.available()) for name, source in opened.items()}


def _make(spark: "SparkSession", step: "PlannedStep", sources: dict[str, Any], folder: Path) -> int:
    import pyarrow.parquet as pq

    from streamhouse.spark.frame import arrow_frame

    session = spark.newSession()
    for read in step.reads:
        rows = sources.get(read.table)
        frame = session.table(read.table) if rows is None else arrow_frame(session, rows)
        frame.createOrReplaceTempView(read.port)
    result = session.sql(step.sql).toArrow()
    file = folder / "files" / step.writes.name / "rows.parquet"
    file.parent.mkdir(parents=True)
    pq.write_table(result, file)
    spark.catalog.createTable(step.writes.name, path=str(file.parent), source="parquet")
    return int(result.num_rows)


def run(spark: "SparkSession", sql: str) -> Rows:
    """The rows of a query."""
    result = spark.sql(sql).toArrow()
    columns = [column.to_pylist() for column in result.columns]
    return Rows(tuple(result.column_names), tuple(zip(*columns, strict=True)))
