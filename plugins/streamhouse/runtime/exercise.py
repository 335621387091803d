"""What the process does whose JVM writes the archive of Spark's classes (`spark/class_archive.py`)."""

from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.install.class_archive import LIMIT_S
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.session import local_session
from streamhouse.spark.java_process import end_java
from streamhouse.spark.results import collected_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def exercise() -> None:
    """Do in the working directory what flows do, so that their classes are loaded; then end the JVM."""
    here = Path.cwd()
    spark = local_session(Project(here, Settings.model_validate({"spark": {"master": "local[2]"}})))
    try:
        _answer(spark)
        _stream(spark, here)
    finally:
        spark.stop()
        end_java(LIMIT_S)  # its JVM writes the archive then: minutes where the machine is busy


def _answer(spark: "SparkSession") -> None:
    import pyarrow as pa

    rows = pa.table({"k": [1, 2, 3] * 10, "v": list(range(30)), "name": ["a", "b", None] * 10, "tags": [["x"]] * 30})
    spark.createDataFrame(rows).createOrReplaceTempView("t")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS cold.x")
    spark.sql("CREATE TABLE cold.x.t (k BIGINT, v BIGINT)")
    spark.sql("INSERT INTO cold.x.t SELECT k, v FROM t")
    joined = spark.sql(
        """
        WITH s AS (SELECT k, SUM(v) AS total, COUNT(*) AS n, MAX(name) AS name FROM t GROUP BY k HAVING COUNT(*) > 1)
        SELECT t.k, upper(t.name) AS name, CASE WHEN v > 5 THEN 'much' ELSE 'little' END AS much, s.total,
               row_number() OVER (PARTITION BY t.k ORDER BY v DESC) AS rank, CAST(v AS DECIMAL(18, 2)) AS price,
               timestamp_seconds(v) AS at
        FROM t LEFT JOIN s ON t.k = s.k LEFT ANTI JOIN cold.x.t AS gone ON gone.v = t.v + 100
        LATERAL VIEW explode(tags) e AS tag
        UNION ALL SELECT k, name, '', total, 1, 0, current_timestamp() FROM s ORDER BY 1, 2 LIMIT 20
        """
    )
    collected_arrow(joined)
    spark.table("t").mapInArrow(lambda batches: batches, "k BIGINT, v BIGINT, name STRING, tags ARRAY<STRING>").count()


def _stream(spark: "SparkSession", folder: Path) -> None:
    def count(rows: "DataFrame", _: int) -> None:
        rows.count()

    query = (
        spark.readStream.format("rate")
        .load()
        .writeStream.foreachBatch(count)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    query.awaitTermination(4)
    query.stop()
