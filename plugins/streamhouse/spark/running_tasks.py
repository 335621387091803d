"""The tasks that Spark runs now."""

from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from streamhouse.spark.failures import failed_calls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def no_task_runs(spark: "SparkSession", tag: str, within_s: float) -> bool:
    """Wait until no task of the jobs with a tag runs; whether that came within a time."""
    # PySpark's own tracker does not tell the jobs of a tag.
    context: Any = spark.sparkContext._jsc.sc()
    with suppress(*failed_calls()):  # it has too much to tell: the trackers are asked again below
        context.listenerBus().waitUntilEmpty(int(within_s * 1000))
    tracker, jobs = context.statusTracker(), spark.sparkContext.statusTracker()
    deadline = monotonic() + within_s
    while monotonic() < deadline:
        known = [job for number in tracker.getJobIdsForTag(tag) if (job := jobs.getJobInfo(number))]
        stages = [stage for job in known for number in job.stageIds if (stage := jobs.getStageInfo(number))]
        # Spark reports a job's end after it reported the start of its last task.
        if all(job.status != "RUNNING" for job in known) and not any(stage.numActiveTasks for stage in stages):
            return True
        sleep(0.05)
    return False
