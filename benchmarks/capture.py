"""What the capture of a PostgreSQL costs, beside PostgreSQL's own programs over the same rows and changes.

    python benchmarks/capture.py [--quick]

A real server. `snapshot` and `changes` are rows and changes per second of processor time: of ours that of the capture's
process and its Java, up to what the journal holds on disk. The peers decode nothing and keep nothing: `COPY` of
the table as text, read by psycopg; and `pg_recvlogical`, which writes the messages of pgoutput to a file. The cost of
the start is left out. `commit to journal` is the time from a commit until a source sees its row, in milliseconds, of
200 commits of one row.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from psycopg.sql import SQL

if TYPE_CHECKING:
    from tests.capture import Shop

_TABLE = SQL(
    "CREATE TABLE {} (id bigint PRIMARY KEY, customer text, amount numeric(12,2), note text, placed_at timestamptz)"
)
_ROWS = SQL(
    "INSERT INTO {} SELECT n, 'c' || n %% 1000, n %% 10000 / 4.0, 'note ' || n, now() FROM "
    "generate_series(%s::bigint, %s::bigint) n"
)
_CHANGED = SQL("UPDATE {} SET amount = amount + 1 WHERE id BETWEEN %s AND %s")
_IN_ONE = 1000
_COMMITS = 200


def main() -> None:
    """Fill a database, capture it, and time both ways."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.capture import ORDERS, Shop
    from tests.production import postgres, postgres_programs

    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a short run, only to see that it works")
    count = 5_000 if parser.parse_args().quick else 200_000
    with tempfile.TemporaryDirectory() as folder, postgres("wal_level=logical", "max_replication_slots=10") as url:
        shop = Shop(Path(folder) / "shop", url)
        with shop.session() as session:
            for table in ("first", "big"):
                session.execute(_TABLE.format(SQL(table)))
            session.execute(_ROWS.format(SQL("big")), (1, count))
        shop.source("public.first", ORDERS, ["id"])
        with shop.capture() as process:
            shop.until_begun(process)
            figures = {
                "rows per CPU-s": _snapshot(shop, process, count),
                "changes per CPU-s": _changes(shop, process, count, postgres_programs(), Path(folder)),
                "commit to journal, ms": _commits(shop),
            }
    print(json.dumps(figures, indent=2))


def _snapshot(shop: "Shop", process: "subprocess.Popen[bytes]", count: int) -> dict[str, float]:
    """Of a table that is asked for while another one is captured."""
    from tests.capture import ORDERS

    before = _cpu_s(process)
    big = shop.source("public.big", ORDERS, ["id"])
    shop.until(lambda: big.rows_between({}, big.available()) >= count, process)
    shop.until_begun(process, 2)
    ours = _cpu_s(process) - before

    def copied() -> None:
        with shop.session() as session, session.cursor().copy(b"COPY big TO STDOUT") as copy:
            for _ in copy:
                pass

    return _beside(count, ours, _own_cpu_s(copied))


def _changes(
    shop: "Shop", process: "subprocess.Popen[bytes]", count: int, programs: Path, folder: Path
) -> dict[str, float]:
    """Half of them inserts and half updates, in transactions of 1,000."""
    receive = [str(programs / "pg_recvlogical"), "-d", shop.url, "--slot", "bare"]
    with shop.session() as session:
        session.execute(b"CREATE PUBLICATION bare FOR TABLE big")
    subprocess.run([*receive, "--create-slot", "-P", "pgoutput"], check=True)
    shop.until_caught_up(process)
    before = _cpu_s(process)
    with shop.session() as session:
        for first in range(1, count // 2, _IN_ONE):
            last = first + _IN_ONE - 1
            session.execute(_ROWS.format(SQL("big")), (count + first, count + last))
            session.execute(_CHANGED.format(SQL("big")), (first, last))
        (end,) = session.execute(b"SELECT pg_current_wal_flush_lsn()::text").fetchone()
    shop.until_caught_up(process)
    ours = _cpu_s(process) - before
    options = ["-o", "proto_version=1", "-o", "publication_names=bare", "--no-loop", "--endpos", end]

    def received() -> None:
        subprocess.run([*receive, "--start", "-f", str(folder / "bare"), *options], check=True)

    return _beside(count, ours, _own_cpu_s(received, of_children=True))


def _commits(shop: "Shop") -> dict[str, float]:
    from tests.capture import ORDERS

    source = shop.source("public.first", ORDERS, ["id"])
    waits = []
    with shop.session() as session:
        for number in range(_COMMITS):
            has = source.rows_between({}, source.available())
            session.execute(_ROWS.format(SQL("first")), (number, number))
            began = time.perf_counter()
            while source.rows_between({}, source.available()) == has:
                time.sleep(0.001)
            waits.append((time.perf_counter() - began) * 1000)
    return {"p50": round(statistics.median(waits), 1), "p95": round(sorted(waits)[_COMMITS * 95 // 100], 1)}


def _beside(count: int, ours_s: float, bare_s: float) -> dict[str, float]:
    return {"bare": round(count / bare_s), "ours": round(count / ours_s), "ratio": round(bare_s / ours_s, 3)}


def _cpu_s(process: "subprocess.Popen[bytes]") -> float:
    """Seconds of processor time of a process and those that it started."""
    found = psutil.Process(process.pid)
    times = [one.cpu_times() for one in (found, *found.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _own_cpu_s(work: Callable[[], Any], *, of_children: bool = False) -> float:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF)
        return found.ru_utime + found.ru_stime

    before = used()
    work()
    return max(used() - before, 1 / os.sysconf("SC_CLK_TCK"))


if __name__ == "__main__":
    main()
