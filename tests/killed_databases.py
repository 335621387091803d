"""Databases under load that are killed and started again, with a truth of their own about what happened to a row.

The truth comes from the database alone: triggers write down each change of a row, within its transaction.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import psycopg
import pymysql

from tests import capture_mariadb
from tests.capture import TABLES, Shop, random_transaction
from tests.capture_mariadb import Server
from tests.patience import PATIENCE_S
from tests.ports import take_ports
from tests.production import postgres

Row = tuple[Any, ...]
_POSTGRES_AUDIT = """
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
_POSTGRES_CHANGES = """
SELECT id, pg_xact_commit_timestamp(xid::xid) AS at, op, customer, amount, note FROM audit ORDER BY id, at, nr
"""
_NOTED = "INSERT INTO audit (op, id, customer, amount, note)"
_SAME = " AND ".join(f"OLD.{name} <=> NEW.{name}" for name in ("id", "customer", "amount", "note"))
# An update that changes no value is not in the binlog.
_MARIADB_AUDIT = f"""
CREATE TABLE audit (nr bigint AUTO_INCREMENT PRIMARY KEY, op text, id bigint, customer varchar(50),
  amount decimal(12,2), note text) DEFAULT CHARSET utf8mb4;
CREATE TRIGGER inserted AFTER INSERT ON orders FOR EACH ROW
  {_NOTED} VALUES ('u', NEW.id, NEW.customer, NEW.amount, NEW.note);
CREATE TRIGGER deleted AFTER DELETE ON orders FOR EACH ROW INSERT INTO audit (op, id) VALUES ('d', OLD.id);
CREATE TRIGGER updated AFTER UPDATE ON orders FOR EACH ROW BEGIN
  IF OLD.id <> NEW.id THEN INSERT INTO audit (op, id) VALUES ('d', OLD.id); END IF; IF NOT ({_SAME})
    THEN {_NOTED} VALUES ('u', NEW.id, NEW.customer, NEW.amount, NEW.note); END IF; END
"""
_MARIADB_CHANGES = "SELECT op, id, customer, amount, note FROM audit ORDER BY id, nr"


class KilledDatabase(ABC):
    """A database with the tables of a shop.

    Attributes:
        shop: The project over it.
        orders: What a source of the table `orders` names.
    """

    shop: Shop
    orders: str

    @abstractmethod
    def stop(self) -> None:
        """End it."""

    @abstractmethod
    def kill(self) -> None:
        """Kill it, and start it again with what was committed."""

    @abstractmethod
    def prepare(self) -> None:
        """Create the tables, and what notes the changes of `orders`."""

    @abstractmethod
    def change(self, chance: random.Random, over: Event) -> None:
        """Change rows in one session, until it is over or the session ends."""

    @abstractmethod
    def changes(self, ours: list[Row]) -> list[Row]:
        """Each change of `orders`: id, when it was committed, op (`d` or `u`), customer, amount, note; by id and time.

        Args:
            ours: The same as the flow has it, in the order of its numbers for each id. Where no table of the server has
                the time of a change, the times are taken from there.

        Raises:
            AssertionError: that was so, and the changes of an id, their order, or the order of their times, are others.
        """

    def rows(self, query: str) -> list[Row]:
        with self.shop.session() as session, session.cursor() as cursor:
            cursor.execute(query.encode())
            return [tuple(row) for row in cursor.fetchall()]


class KilledPostgres(KilledDatabase):
    """See `KilledDatabase`.

    Args:
        root: Folder of the project.
        folder: Of the server.
    """

    orders = "postgres: {connection: shop, table: public.orders}"

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder
        self._port = take_ports(1)[0]
        self._server = ExitStack()
        self.shop = Shop(root, self._start())

    def _start(self) -> str:
        settings = ("wal_level=logical", "track_commit_timestamp=on", "max_wal_senders=10", "max_replication_slots=10")
        self._server = ExitStack()
        return self._server.enter_context(postgres(*settings, folder=self._folder, port=self._port))

    def stop(self) -> None:
        self._server.close()

    def kill(self) -> None:
        pid = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for one in processes:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(processes, PATIENCE_S)
        self.stop()
        self._start()

    def prepare(self) -> None:
        with self.shop.session() as session:
            session.execute(TABLES.encode())
            session.execute(_POSTGRES_AUDIT.encode())

    def change(self, chance: random.Random, over: Event) -> None:
        with suppress(psycopg.Error), self.shop.session() as session:
            while not over.wait(0.1):
                with suppress(psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):  # rolled back
                    random_transaction(session, chance)

    def changes(self, ours: list[Row]) -> list[Row]:
        return self.rows(_POSTGRES_CHANGES)


class KilledMariaDB(KilledDatabase):
    """See `KilledDatabase`. Its binlog has the time at which a statement began, in seconds: no table knows it.

    Args:
        root: Folder of the project.
        folder: Of the server.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._server = Server(folder)
        self._server.start()
        self.shop = self._shop = self._server.shop(root, "shop")
        self.orders = "mariadb: {connection: shop, table: shop.orders}"

    def stop(self) -> None:
        self._server.stop()

    def kill(self) -> None:
        self._server.kill()
        self._server.start()

    def prepare(self) -> None:
        self._shop.do(capture_mariadb.TABLES)
        self._shop.do(_MARIADB_AUDIT)

    def change(self, chance: random.Random, over: Event) -> None:
        with suppress(pymysql.MySQLError), self.shop.session() as session:  # a deadlock ends the session, too
            while not over.wait(0.2):
                with suppress(pymysql.IntegrityError):
                    capture_mariadb.random_transaction(session, chance)

    def changes(self, ours: list[Row]) -> list[Row]:
        noted = [(id_, op, *values) for op, id_, *values in self.rows(_MARIADB_CHANGES)]
        assert noted == [(id_, "d" if op == "d" else "u", *values) for id_, _, op, *values in ours]
        found = [(id_, at, op, *values) for (id_, at, *_), (_, op, *values) in zip(ours, noted, strict=True)]
        assert found == sorted(found, key=itemgetter(0, 1))  # the times do not fall in the order of the log
        return found


@contextmanager
def killed_database(kind: str, root: Path, folder: Path) -> Iterator[KilledDatabase]:
    """A database of that kind, `postgres` or `mariadb`; it ends with the block."""
    database: KilledDatabase = KilledMariaDB(root, folder) if kind == "mariadb" else KilledPostgres(root, folder)
    try:
        yield database
    finally:
        database.stop()
