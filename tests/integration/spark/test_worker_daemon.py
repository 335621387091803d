"""Spark's Python workers come from our daemon, over Unix sockets, and work."""

import json
import os
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from streamhouse.spark.worker_daemon import MODULE

pytestmark = pytest.mark.spark


def look(batches):
    """Runs in a worker: tells about it, for each row it gets."""
    for batch in batches:
        told = {
            "rows": batch.num_rows,
            "pid": os.getpid(),
            "parent": Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0"),
            "zips": [entry for entry in sys.path if Path(entry).name == "pyspark.zip" and Path(entry).exists()],
            "loaded": sorted(name for name in ("fluss", "pyarrow", "pandas") if name in sys.modules),
            "threads": threading.active_count(),
            "sockets": os.environ.get("PYTHON_WORKER_FACTORY_SOCK_DIR"),
        }
        yield pa.record_batch({"told": [json.dumps(told)]})


def jobs(spark, tasks):
    rows = spark.range(0, tasks, 1, tasks).mapInArrow(look, "told string").collect()
    return [json.loads(row.told) for row in rows]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux tells the command line of a process this way")
def test_workers_are_forked_by_our_daemon(spark):
    for told in jobs(spark, 2):
        assert told["parent"][1:3] == ["-m", MODULE]
        assert told["zips"] == []
        assert told["loaded"] == ["fluss", "pandas", "pyarrow"]
        assert told["threads"] == 1


def test_workers_talk_over_unix_sockets_in_a_folder_of_ours(spark):
    folder = spark.conf.get("spark.python.unix.domain.socket.dir")
    assert {told["sockets"] for told in jobs(spark, 2)} == {folder}
    assert Path(folder).stat().st_mode & 0o077 == 0


def test_a_worker_is_used_again_and_a_failed_one_replaced(spark):
    pids = {told["pid"] for _ in range(3) for told in jobs(spark, 2)}
    assert len(pids) <= 3

    def fail(batches):
        raise ValueError("on purpose")

    with pytest.raises(Exception, match="on purpose"):
        spark.range(1).mapInArrow(fail, "told string").collect()
    assert [told["rows"] for told in jobs(spark, 2)] == [1, 1]
