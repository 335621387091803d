"""A flow over objects of a store that speaks S3, killed between the listing and the commit: each row comes once."""

import json
import signal
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem

from streamhouse.project.project import Project
from tests.gate.levels import deep
from tests.kills import run
from tests.production import object_store

pytestmark = [
    pytest.mark.spark,
    deep("a flow over an object store that is killed; tests/contract/test_object_files.py has the source"),
]

FLOW, ROWS = "shop", 150
DIED = -signal.SIGKILL
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/spent.sql": "/* ---\naction: spent\nstep: aggregate\ninputs: {orders: {}}\n"
    "output: {primary_key: [store]}\n--- */\n"
    "SELECT store, SUM(cents) AS cents, COUNT(*) AS orders FROM orders GROUP BY store\n",
    "flows/shop.yaml": f"""\
flow: {FLOW}
max_rows_per_epoch: 100
sources:
  orders:
    files:
      path: s3://lake/land/**/*.csv
      connection: landing
      columns: {{id: bigint, store: string, cents: bigint}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.orders}}
  - {{use: spent, reads: {{orders: ods.orders}}, writes: dws.spent}}
tables:
  ods.orders: {{tiers: {{warm: forever}}}}
  dws.spent: {{tiers: {{warm: forever}}}}
""",
    "streamhouse.yaml": """\
connections:
  landing:
    kind: s3
    paths: [s3://lake/land]
    endpoint: ENDPOINT
    access_key: {environment: LANDING_ID}
    secret_key: {environment: LANDING_SECRET}
""",
}
POINTS = ("after_offset_log", "after_begin", "during_write:ods.orders", "after_last_write", "before_commit_log")


class Shop:
    """A project, and the bucket that its flow reads."""

    def __init__(self, root: Path, given: dict[str, str]) -> None:
        self.project, endpoint = Project.at(root), given["STREAMHOUSE_S3_ENDPOINT"]
        self._keys = {"LANDING_ID": given["AWS_ACCESS_KEY_ID"], "LANDING_SECRET": given["AWS_SECRET_ACCESS_KEY"]}
        names = {"access_key": self._keys["LANDING_ID"], "secret_key": self._keys["LANDING_SECRET"]}
        self.store = S3FileSystem(**names, endpoint_override=endpoint, region="us-east-1")

    def put(self, name: str, first: int, of: str = "s") -> None:
        """An object with the rows from `first` on, of which equal ones have equal bytes."""
        rows = "".join(f"{n:06},{of}{n % 3},{n % 50}\n" for n in range(first, first + ROWS))
        with self.store.open_output_stream(f"lake/land/{name}") as out:
            out.write(f"id,store,cents\n{rows}".encode())

    def run(self, kill_at: str | None = None) -> tuple[int, str]:
        """One process that drains the flow."""
        return run(self.project, FLOW, kill_at, {**self._keys, "STREAMHOUSE_SPARK_MASTER": "local[2]"})


@pytest.fixture
def shop(tmp_path):
    with object_store(tmp_path, "lake") as given:
        root = tmp_path / "project"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.replace("ENDPOINT", given["STREAMHOUSE_S3_ENDPOINT"]))
        yield Shop(root, given)


def test_each_row_comes_once_after_kills(shop):
    names = [f"day {9 - at}/1+1%.csv" for at in range(len(POINTS))]  # later objects sort before earlier ones
    for at, (point, name) in enumerate(zip(POINTS, names, strict=True)):
        shop.put(name, at * ROWS)
        code, said = shop.run(point)
        assert code == DIED, (point, said)
    code, said = shop.run()
    assert code == 0, said
    assert_rows(shop, len(POINTS) * ROWS)


def test_an_object_that_changes_between_a_kill_and_the_commit(shop):
    shop.put("1.csv", 0)
    code, said = shop.run("after_begin")
    assert code == DIED, said
    shop.store.delete_file("lake/land/1.csv")
    code, gone = shop.run()
    assert code not in (0, DIED), gone
    assert "file 's3://lake/land/1.csv' is gone, with rows not read yet" in gone
    shop.put("1.csv", 0, of="x")
    code, replaced = shop.run()
    assert code not in (0, DIED), replaced
    assert "s3://lake/land/1.csv" in replaced
    assert "replaced after it was first read" in replaced
    shop.put("1.csv", 0)
    code, said = shop.run()
    assert code == 0, said
    assert_rows(shop, ROWS)
    assert "a-secret-that" not in gone + replaced + said
    written = [file for file in shop.project.state_dir.rglob("*") if file.is_file()]
    assert not [file for file in written if b"a-secret-that" in file.read_bytes()]


def assert_rows(shop: Shop, rows: int) -> None:
    """The tables have the rows `[0, rows)`, each once."""
    from streamhouse.jobs.query import QueryService

    with QueryService(shop.project) as asking:
        orders = asking.ask("SELECT id, store, cents FROM ods.orders ORDER BY id").rows.to_pylist()
        spent = asking.ask("SELECT store, cents, orders FROM dws.spent ORDER BY store").rows.to_pylist()
    assert orders == [{"id": n, "store": f"s{n % 3}", "cents": n % 50} for n in range(rows)]
    assert spent == [
        {"store": f"s{s}", "cents": sum(n % 50 for n in range(s, rows, 3)), "orders": len(range(s, rows, 3))}
        for s in range(3)
    ], json.dumps(spent)
