"""A database under load, its capture, the flow, Fluss and a broker die again and again: rows and histories equal."""

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
import pytest

from streamhouse.project.project import Project
from streamhouse.services.services import Services
from tests import killed_topics
from tests.chance import drawn_seed
from tests.flows import command
from tests.gate.levels import deep, soak
from tests.killed_databases import KilledDatabase, killed_database
from tests.killed_topics import KilledTopics
from tests.kills import run
from tests.patience import PATIENCE_S, SOAKING, until
from tests.ports import take_ports

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
    cdc: {{{{ORDERS}}, primary_key: [id], columns: {json.dumps(COLUMNS)}}}
  changes:
    cdc:
      {{ORDERS}}
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


class World:
    """Everything that may die, and what is asked of it in the end."""

    def __init__(
        self, database: KilledDatabase, topics: KilledTopics | None, services: Services, block: ExitStack
    ) -> None:
        self.database, self.topics = database, topics
        self._services, self._block = services, block
        self.shop = database.shop
        for name, text in FILES.items():
            file = self.shop.root / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text.replace("{ORDERS}", database.orders))
        if topics is not None:
            sources = killed_topics.SOURCES.replace("SERVERS", topics.servers)
            self.edit("steps:\n", f"{sources}steps:\n")
            self.edit("tables:\n", f"{killed_topics.STEPS}tables:\n")
        self.environment = {**os.environ, **self.shop.environment}
        self.capture: subprocess.Popen[bytes] | None = None
        self.runner: subprocess.Popen[bytes] | None = None

    def edit(self, before: str, after: str) -> None:
        """Replace a text in the file of the flow."""
        flow = self.shop.root / "flows" / f"{FLOW}.yaml"
        assert before in flow.read_text()
        flow.write_text(flow.read_text().replace(before, after))

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

    def deaths(self) -> list[Callable[[], None]]:
        """Each ends with the death; what is not a process of ours runs again then."""
        found = [self.kill_capture, self.kill_java, self.kill_runner, self.database.kill, self.kill_fluss]
        return found if self.topics is None else [*found, self.topics.kill]

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
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[World]:
    kind, has_topics = request.param
    with ExitStack() as block:
        services = Services(tmp_path / "services", port=take_ports(1)[0])
        (tmp_path / "services").mkdir()
        block.callback(services.down)
        monkeypatch.setenv("STREAMHOUSE_FLUSS", services.up().fluss)
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
        topics = KilledTopics(tmp_path / "kafka") if has_topics else None
        if topics is not None:
            block.callback(topics.stop)
        folder = Path(block.enter_context(TemporaryDirectory(prefix=f"{kind}-")))
        database = block.enter_context(killed_database(kind, tmp_path / "shop", folder))
        yield World(database, topics, services, block)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(("postgres", False), id="postgres"),
        pytest.param(("postgres", True), id="postgres-and-topics", marks=soak),
        pytest.param(("mariadb", True), id="mariadb-and-topics", marks=soak),
    ],
    indirect=True,
)
def test_rows_and_histories_equal_the_database_whatever_dies(world: World) -> None:
    chance = random.Random(drawn_seed(29))
    world.database.prepare()
    world.streamhouse(*HISTORY)
    world.edit("tables:\n", f"{STEP}tables:\n")
    world.streamhouse("validate")
    world.start()
    world.shop.until_begun(world.capture)  # an empty snapshot: every change is in the log
    with loads(world, chance):
        deaths = world.deaths()
        rounds = 12 if SOAKING else 3
        for number in range(rounds):
            goes_on(world)
            together = deaths if number == rounds - 1 else chance.sample(deaths, chance.randint(1, 3))
            for death in together:
                death()
        goes_on(world)
    drained(world)
    assert_equals_the_database(world)
    if world.topics is not None:
        sales = asked(world, "SELECT part, place, number, cents FROM ods.sales ORDER BY part, place")
        assert sales == world.topics.sales()
        assert asked(world, "SELECT id, name FROM ods.clients ORDER BY id") == world.topics.clients()


def assert_equals_the_database(world: World) -> None:
    rows = world.database.rows
    orders = "SELECT id, customer, amount, note FROM {} ORDER BY id"
    assert asked(world, orders.format("ods.orders")) == rows(orders.format("orders"))
    assert asked(world, "SELECT customer, amount, orders FROM dws.spent ORDER BY customer") == rows(
        "SELECT customer, SUM(amount), COUNT(*) FROM orders WHERE customer IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    ours = asked(world, "SELECT id, committed_at, op, customer, amount, note FROM ods.changes ORDER BY id, change")
    changes = world.database.changes(ours)
    assert len(changes) > 500
    assert len(ours) == len(changes)
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
    code, printed = run(world.project, FLOW, timeout=5 * PATIENCE_S)
    assert code == 0, printed


class loads:  # noqa: N801  it is called as a function is
    """Three sessions change rows, and messages are sent, whatever happens to the servers, while the block lasts."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self._over = threading.Event()
        self._failure: BaseException | None = None
        change = [self._again(world.database)] * 3 + ([] if world.topics is None else [world.topics.change])
        self._threads = [
            threading.Thread(target=self._load, args=(one, random.Random(chance.random()))) for one in change
        ]

    def _again(self, database: KilledDatabase) -> Callable[[random.Random, threading.Event], None]:
        def change(chance: random.Random, over: threading.Event) -> None:
            while not over.wait(0.2):
                database.change(chance, over)

        return change

    def _load(self, change: Callable[[random.Random, threading.Event], None], chance: random.Random) -> None:
        try:
            change(chance, self._over)
        except BaseException as error:  # noqa: BLE001  told at the end
            self._failure = error

    def __enter__(self) -> None:
        for one in self._threads:
            one.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join()
        if self._failure is not None:
            raise self._failure


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
