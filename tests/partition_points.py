"""A flow's process that dies around the moment when the hot tier gets a partition, in the driver or in a task.

    python -m tests.partition_points run FLOW …

is `streamhouse run FLOW …`; as `spark.python.daemon.module` it does the same for the tasks. The environment says where.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import psutil

from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.native import Native, Target
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.fluss.wire.api import Api

MODULE = "tests.partition_points"
DIE_AT = "STREAMHOUSE_TEST_PARTITION_POINT"
"""`place point table nth`: around the nth partition of a table that the driver, or one of its workers, asks for."""
DRIVER, TASKS = "driver", "tasks"  # places
POINTS = (
    "before",  # the coordinator is not asked yet
    "created",  # it has answered; the partition may have no leader
    "unwritten",  # leaders are there, and nothing is written
    "writing",  # rows are on their way
    "written",  # they are there, the engine does not know
)
_SOON_S = 0.003

_asked: dict[str, int] = {}
_created: set[str] = set()  # tables whose nth partition is there


def install(here: str, die: Callable[[], None]) -> None:
    """Wrap what creates a partition, and what writes, where the environment asks for it `here`."""
    place, point, wanted, nth = os.environ.get(DIE_AT, "nowhere - - 0").split()
    if place != here:
        return
    assert point in POINTS
    ask, write = FlussCatalog._ask_coordinator, FlussStore.write

    def asked(self: FlussCatalog, api: Api, body: bytes, subject: str) -> Any:
        if api is not Api.CREATE_PARTITION or subject != wanted:
            return ask(self, api, body, subject)
        _asked[subject] = _asked.get(subject, 0) + 1
        is_it = _asked[subject] == int(nth)
        if is_it and point == "before":
            die()
        answer = ask(self, api, body, subject)
        if is_it and point == "created":
            die()
        if is_it:
            _created.add(subject)
        return answer

    def sending(send: Callable[..., Any]) -> Callable[..., Any]:
        def sent(self: Native, target: Target, *rest: Any, **named: Any) -> Any:
            if target.name in _created and point == "unwritten":
                die()
            if target.name in _created and point == "writing":
                threading.Timer(_SOON_S, die).start()
            return send(self, target, *rest, **named)

        return sent

    def wrote(self: FlussStore, table: Any, *rest: Any, **named: Any) -> Any:
        end = write(self, table, *rest, **named)
        if table.name in _created and point == "written":
            die()
        return end

    FlussCatalog._ask_coordinator = asked  # type: ignore[method-assign]
    Native.append, Native.upsert = sending(Native.append), sending(Native.upsert)  # type: ignore[method-assign]
    FlussStore.write = wrote  # type: ignore[method-assign]


def die_here() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_driver() -> None:
    """In a task: kill the process that runs the flow, and go on, as a task does that nobody stops."""
    parents = psutil.Process().parents()
    if len(parents) >= 3 and any(MODULE in part for part in parents[2].cmdline()):  # else another task was first
        parents[2].kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["pyspark.worker"]:
        from streamhouse.spark.worker_daemon import prepare

        prepare()
        install(TASKS, kill_driver)
        from pyspark.daemon import manager

        manager()  # type: ignore[no-untyped-call]
    else:
        install(DRIVER, die_here)
        from streamhouse.cli.main import entry

        entry()
