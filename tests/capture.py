"""A database with a shop in it, a project that captures it, and the process that does."""

import json
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
from sqlalchemy.engine import make_url

from streamhouse.capture.process import database_of
from streamhouse.capture.wanted import note, wanted_of
from streamhouse.ingest.journal import groups, journal_folder
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.flow import Source
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.state.records import EpochRecord
from tests.command import COMMAND, clean_environment
from tests.patience import PATIENCE_S, until

PASSWORD = "canary-7Qz1-password"
ORDERS = {"id": "bigint", "customer": "string", "amount": "decimal(12,2)", "note": "string", "placed_at": "timestamp"}
TABLES = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer text, amount numeric(12,2) DEFAULT 5, note text,
  placed_at timestamptz DEFAULT now());
CREATE TABLE customers (customer text, region int, city text, PRIMARY KEY (customer, region));
CREATE TABLE unread (id int);
"""


class Shop:
    """A project over a database.

    Args:
        root: Folder of the project.
        url: Of the database, as SQLAlchemy has it.
    """

    kind = "postgres"

    def __init__(self, root: Path, url: str) -> None:
        self.at = make_url(url)
        self.url = self.at.set(drivername="postgresql").render_as_string()
        self.root = root
        root.mkdir(exist_ok=True)
        (root / "flows").mkdir()
        (root / "streamhouse.yaml").write_text(f"connections:\n  shop: {{{self.connection()}}}\n")
        self.environment = {**clean_environment(), "SHOP_PASSWORD": PASSWORD}
        os.environ["SHOP_PASSWORD"] = PASSWORD
        self.project = Project.at(root)
        self.folder = journal_folder(root, "shop")

    def connection(self) -> str:
        """As streamhouse.yaml has it."""
        at = self.at
        database = f", database: {at.database}" if self.kind == "postgres" else ""
        place = f"host: {at.host}, port: {at.port}, user: {at.username}, password: {{environment: SHOP_PASSWORD}}"
        return f"kind: {self.kind}, {place}{database}"

    def session(self) -> Any:
        return psycopg.connect(self.url, autocommit=True)

    def source(self, table: str, columns: dict[str, str], key: list[str]) -> Any:
        """The source of a table; the capture is asked for it."""
        options = {self.kind: {"connection": "shop", "table": table}, "primary_key": key, "columns": columns}
        wanted = wanted_of("cdc", options)
        assert wanted is not None
        note(self.folder, [wanted])
        opened: Any = open_source(Source(name="rows", kind="cdc", options=options), self.root)
        opened._wanted = opened._wanted.__class__(  # a person has said: rows go with a TRUNCATE
            **{**vars(opened._wanted), "truncations": _Removed()}
        )
        return opened

    def reads(self, flow: str, *, mode: str = "upsert", **sources: Any) -> None:
        """An applied flow that has yet to read all: source → table, columns, key."""
        (self.root / "actions").mkdir(exist_ok=True)
        header = "/* ---\naction: ingest_as_is\nstep: ingest\ninputs: {rows: {}}\n--- */\n"
        (self.root / "actions" / "ingest_as_is.sql").write_text(f"{header}SELECT * FROM rows\n")
        document = {
            "flow": flow,
            "sources": {
                name: {
                    "cdc": {
                        self.kind: {"connection": "shop", "table": table},
                        "primary_key": key,
                        "columns": columns,
                        "mode": mode,
                    }
                }
                for name, (table, columns, key) in sources.items()
            },
            "steps": [
                {"use": "ingest_as_is", "reads": {"rows": name}, "writes": f"ods.{flow}_{name}"} for name in sources
            ],
        }
        (self.root / "flows" / f"{flow}.yaml").write_text(json.dumps(document))
        with self.project.state() as state:
            state.save_plan(plan_of(self.project, flow))

    def is_at(self, flow: str, **positions: Any) -> None:
        """Record that a flow has read up to there."""
        with self.project.state() as state:
            found = state.plan(flow)
            assert found is not None
            segments = [segment.name for segment in found[1].segments]
            state.begin_at([EpochRecord(flow, segment, 1, 1, 1, 1, end=positions) for segment in segments])

    @contextmanager
    def capture(self) -> Iterator["subprocess.Popen[bytes]"]:
        """The capture as a process, which ends with the block."""
        words = [*COMMAND, "capture", "start", "shop", "--foreground", "--project", str(self.root)]
        with (self.root / "capture.log").open("ab") as output:
            process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, env=self.environment)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def until(self, done: Callable[[], bool], process: "subprocess.Popen[bytes] | None" = None) -> None:
        """Wait until something is so."""

        def look() -> bool:
            found = done()
            assert found or process is None or process.poll() is None, self.log()
            return found

        until(look, saw=self.log)

    def until_begun(self, process: "subprocess.Popen[bytes] | None", count: int = 1) -> None:
        self.until(lambda: sum((one / "begun").exists() for one in groups(self.folder)) >= count, process)

    def until_caught_up(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until the journal has what is committed now."""
        has_all = database_of(self.project, "shop").committed()
        self.until(lambda: all(has_all(one) for one in groups(self.folder)), process)

    def log(self) -> str:
        logs = [self.root / "capture.log", *self.project.logs.glob("capture-*")]
        return "\n".join(log.read_text()[-4000:] for log in logs if log.exists())


class _Removed(Truncations):
    def of(self, truncation: str) -> Any:
        return "removed"


def java_of(process: "subprocess.Popen[bytes]") -> psutil.Process:
    """The Java process of a capture."""
    (found,) = [one for one in psutil.Process(process.pid).children() if "java" in one.name()]
    return found


def kill(process: "subprocess.Popen[bytes]", *, java: bool) -> None:
    """Kill a capture, or its Java process alone, and wait until both are gone."""
    child = java_of(process)
    (child if java else psutil.Process(process.pid)).kill()
    process.wait(PATIENCE_S)
    with suppress(psutil.NoSuchProcess):
        child.wait(PATIENCE_S)


def random_transaction(session: psycopg.Connection, chance: random.Random) -> None:
    """A few statements, of which one in ten transactions is rolled back."""
    with session.transaction(force_rollback=chance.random() < 0.1):
        for _ in range(chance.randint(1, 8)):
            key, other = chance.randint(1, 200), chance.randint(1, 200)
            name = f"c{chance.randint(1, 20)}"
            kind = chance.random()
            if kind < 0.5:
                session.execute(
                    "INSERT INTO orders VALUES (%s, %s, %s, %s, now()) ON CONFLICT (id) DO UPDATE SET "
                    "amount = excluded.amount, customer = excluded.customer",
                    (key, name, chance.choice([None, 5, chance.randint(0, 99999) / 100]), chance.choice([None, "é\n"])),
                )
            elif kind < 0.65:
                session.execute("DELETE FROM orders WHERE id = %s", (key,))
            elif kind < 0.8:
                session.execute("DELETE FROM orders WHERE id = %s", (other + 1000,))
                session.execute("UPDATE orders SET id = %s WHERE id = %s", (other + 1000, key))
            elif kind < 0.99:
                session.execute(
                    "INSERT INTO customers VALUES (%s, %s, %s) ON CONFLICT (customer, region) DO UPDATE SET city = 'x'",
                    (name, chance.randint(1, 3), name.upper()),
                )
            else:
                session.execute("TRUNCATE customers")
