"""A database under load, its capture, the flow and Fluss die again and again: rows and histories equal the database's.

The truth of the histories comes from the database alone: a trigger writes down each change with its transaction, and
the server knows when each transaction was committed.
"""

import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import psycopg
import pytest

from streamhouse.project.project import Project
from streamhouse.services.services import Services
from tests.capture import TABLES, Shop, random_transaction
from tests.chance import drawn_seed
from tests.flows import command
from tests.gate.levels import deep
from tests.kills import run
from tests.patience import PATIENCE_S, SOAKING, until
from tests.ports import take_ports
from tests.production import postgres

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    pytest.mark.timeout(7200 if SOAKING else 1800),
    deep("a database, a capture, a flow and servers that die together; test_capture has a capture that dies"),
]

FLOW = "shop"
COLUMNS = {"id": "bigint", "customer": "string", "amount": "decimal(12,2)", "note": "string"}
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/spent.sql": "/* ---\naction: spent\nstep: aggregate\ninputs: {orders: {}}\n"
    "output: {primary_key: [customer]}\n--- */\nSELECT customer, SUM(amount) AS amount, COUNT(*) AS orders FROM orders "
    "WHERE customer IS NOT NULL GROUP BY customer\n",
    f"flows/{FLOW}.yaml": f"""\
flow: {FLOW}
max_rows_per_epoch: 1000
sources:
  orders:
    cdc: {{postgres: {{connection: shop, table: public.orders}}, primary_key: [id], columns: {json.dumps(COLUMNS)}}}
  changes:
    cdc:
      postgres: {{connection: shop, table: public.orders}}
      mode: append
      primary_key: [id]
      columns: {json.dumps(COLUMNS)}
      metadata: {{op: op, committed_at: committed_at, change: number}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.orders}}
  - {{use: spent, reads: {{orders: ods.orders}}, writes: dws.spent}}
  - {{use: keep, reads: {{rows: changes}}, writes: ods.changes}}
tables:
  ods.changes: {{tiers: {{warm: forever}}}}
""",
}
STEP = "  - {use: scd2_changes, reads: {rows: ods.changes}, writes: dwd.history}\n"
HISTORY = [
    *("action", "add", "scd2", "--input", "ods.changes", "--key", "id"),
    *("--op", "op", "--order", "committed_at", "--sequence", "change"),
]
AUDIT = """
CREATE TABLE audit (nr bigserial, xid xid8 DEFAULT pg_current_xact_id(), op text, id bigint, customer text,
  amount numeric(12,2), note text);
CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND OLD.id <> NEW.id) THEN
    INSERT INTO audit (op, id) VALUES ('d', OLD.id);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO audit (op, id, customer, amount, note) VALUES ('u', NEW.id, NEW.customer, NEW.amount, NEW.note);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION audited();
"""
CHANGES = """
SELECT id, pg_xact_commit_timestamp(xid::xid) AS at, op, customer, amount, note FROM audit ORDER BY id, at, nr
"""


class World:
    """Everything that may die, and what is asked of it in the end."""

    def __init__(self, root: Path, folder: Path, services: Services, block: ExitStack) -> None:
        self._folder, self._services, self._block = folder, services, block
        self._port = take_ports(1)[0]
        self._server = ExitStack()
        block.callback(lambda: self._server.close())
        self.start_database()
        self.shop = Shop(root, self._url)
        for name, text in FILES.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        self.environment = {**os.environ, **self.shop.environment}
        self.capture: subprocess.Popen[bytes] | None = None
        self.runner: subprocess.Popen[bytes] | None = None

    def start_database(self) -> None:
        settings = ("wal_level=logical", "track_commit_timestamp=on", "max_wal_senders=10", "max_replication_slots=10")
        self._server = ExitStack()
        self._url = self._server.enter_context(postgres(*settings, folder=self._folder, port=self._port))

    def streamhouse(self, *words: str) -> None:
        program = command(self.project, FLOW)[0]
        done = subprocess.run(
            [program, *words, "--project", str(self.shop.root)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr

    @property
    def project(self) -> Project:
        return Project.at(self.shop.root)

    def start(self) -> None:
        """What does not run is started."""
        if self.capture is None or self.capture.poll() is not None:
            self.capture = self._begin("capture", "start", "shop", "--foreground")
        if self.runner is None or self.runner.poll() is not None:
            self.runner = self._begin("run", FLOW)

    def _begin(self, *words: str) -> "subprocess.Popen[bytes]":
        with (self.shop.root / f"{words[0]}.log").open("ab") as output:
            begun = subprocess.Popen(
                [command(self.project, FLOW)[0], *words, "--project", str(self.shop.root)],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._block.callback(ended, begun, signal.SIGKILL)
        return begun

    def captures(self) -> Iterator[psutil.Process]:
        """The process of the capture, which the flow may have started."""
        for one in psutil.process_iter():
            with suppress(psutil.Error):
                words = one.cmdline()
                if "capture" in words and str(self.shop.root) in words:
                    yield one

    def kill_capture(self) -> None:
        for one in self.captures():
            killed([one, *one.children(recursive=True)])

    def kill_java(self) -> None:
        for one in self.captures():
            killed([below for below in one.children(recursive=True) if "java" in below.name()])

    def kill_runner(self) -> None:
        if self.runner is not None:
            ended(self.runner, signal.SIGKILL)

    def kill_database(self) -> None:
        pid = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        killed([psutil.Process(pid), *psutil.Process(pid).children(recursive=True)])
        self._server.close()
        self.start_database()

    def kill_fluss(self) -> None:
        for service in self._services.status().services:
            with suppress(ProcessLookupError):
                os.kill(service.pid, signal.SIGKILL)
        until(lambda: self._services.status().endpoints is None)
        self._services.up()

    def epochs(self) -> int:
        with self.project.state() as state:
            return int(state.progress(FLOW).epochs)

    def logs(self) -> str:
        files = [*self.shop.root.glob("*.log"), *self.project.logs.glob("*")]
        return "\n".join(f"== {file.name}\n{file.read_text()[-3000:]}" for file in files if file.is_file())


def ended(process: "subprocess.Popen[bytes]", by: signal.Signals) -> None:
    """End a process and all that it began."""
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(by)
        if by is signal.SIGKILL:
            killed(below)
    process.wait(PATIENCE_S)


def killed(processes: list[psutil.Process]) -> None:
    for one in processes:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(processes, PATIENCE_S)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with ExitStack() as block:
        services = Services(tmp_path / "services", port=take_ports(1)[0])
        (tmp_path / "services").mkdir()
        block.callback(services.down)
        monkeypatch.setenv("STREAMHOUSE_FLUSS", services.up().fluss)
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
        folder = Path(block.enter_context(TemporaryDirectory(prefix="postgres-")))
        yield World(tmp_path / "shop", folder, services, block)


def test_rows_and_histories_equal_the_database_whatever_dies(world: World) -> None:
    chance = random.Random(drawn_seed(29))
    with world.shop.session() as session:
        session.execute(TABLES.encode())
        session.execute(AUDIT.encode())
    world.streamhouse(*HISTORY)
    flow = world.shop.root / "flows" / f"{FLOW}.yaml"
    flow.write_text(flow.read_text().replace("tables:\n", f"{STEP}tables:\n"))
    world.streamhouse("validate")
    world.start()
    world.shop.until_begun(world.capture)  # an empty snapshot: every change is in the log
    with loads(world, chance):
        deaths: list[Callable[[], None]] = [
            world.kill_capture,
            world.kill_java,
            world.kill_runner,
            world.kill_database,
            world.kill_fluss,
        ]
        rounds = 12 if SOAKING else 3
        for number in range(rounds):
            goes_on(world)
            together = deaths if number == rounds - 1 else chance.sample(deaths, chance.randint(1, 3))
            for death in together:
                death()
        goes_on(world)
    drained(world)
    with world.shop.session() as session:
        orders = session.execute(b"SELECT id, customer, amount, note FROM orders ORDER BY id").fetchall()
        spent = session.execute(
            b"SELECT customer, SUM(amount), COUNT(*) FROM orders WHERE customer IS NOT NULL GROUP BY 1 ORDER BY 1"
        ).fetchall()
        changes = session.execute(CHANGES.encode()).fetchall()
    assert len(changes) > 500
    assert asked(world, "SELECT id, customer, amount, note FROM ods.orders ORDER BY id") == orders
    assert asked(world, "SELECT customer, amount, orders FROM dws.spent ORDER BY customer") == spent
    assert asked(world, "SELECT COUNT(*) FROM ods.changes") == [(len(changes),)]
    versions = "SELECT id, customer, amount, note, valid_from, valid_to FROM dwd.history ORDER BY id, valid_from"
    assert asked(world, versions) == history(changes)


def goes_on(world: World) -> None:
    """What does not run is started, until the flow has finished epochs again."""
    before = world.epochs()

    def further() -> bool:
        world.start()
        return world.epochs() >= before + 2

    until(further, saw=world.logs)


def drained(world: World) -> None:
    """The flow has all that the database has."""
    assert world.runner is not None
    ended(world.runner, signal.SIGTERM)
    world.start()
    assert world.capture is not None
    world.kill_runner()
    world.shop.until_caught_up(world.capture)
    code, printed = run(world.project, FLOW)
    assert code == 0, printed


class loads:  # noqa: N801  it is called as a function is
    """Three sessions change rows, whatever happens to the database, as long as the block lasts."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world = world
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._load, args=(random.Random(chance.random()),)) for _ in range(3)]

    def _load(self, chance: random.Random) -> None:
        while not self._over.is_set():
            with suppress(psycopg.Error), self._world.shop.session() as session:
                while not self._over.wait(0.1):
                    with suppress(psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):  # rolled back
                        random_transaction(session, chance)
            self._over.wait(0.2)

    def __enter__(self) -> None:
        for one in self._threads:
            one.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join()


def asked(world: World, query: str) -> list[tuple[Any, ...]]:
    from streamhouse.jobs.query import QueryService

    with QueryService(world.project) as asking:
        return [tuple(row.values()) for row in asking.ask(query).rows.to_pylist()]


def history(changes: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The versions of each key: of the changes at one time the last one counts, unless it changes nothing."""
    versions: list[tuple[Any, ...]] = []
    for key, of_key in groupby(changes, key=lambda change: change[0]):
        last = [[*of_time][-1] for _, of_time in groupby(of_key, key=lambda change: change[1])]
        steps: list[tuple[Any, Any]] = []
        for _, at, op, *values in last:
            state = None if op == "d" else tuple(values)
            if not steps or steps[-1][1] != state:
                steps.append((at, state))
        ends = [at for at, _ in steps[1:]] + [None]
        versions += [(key, *state, at, end) for (at, state), end in zip(steps, ends, strict=True) if state is not None]
    return versions
