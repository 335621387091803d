"""A MariaDB server that restarts, with a shop in it, and what is done to the rows of the shop."""

import random
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pymysql

from tests.capture import PASSWORD, Shop
from tests.gate.leftovers import owned_by, owner
from tests.production import mariadb

RIGHTS = "SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT"
TABLES = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer varchar(50), amount decimal(12,2) DEFAULT 5, note text,
  placed_at timestamp(6) NULL DEFAULT now(6)) DEFAULT CHARSET utf8mb4;
CREATE TABLE customers (customer varchar(50), region int, city text, PRIMARY KEY (customer, region));
CREATE TABLE unread (id int)
"""


class Server:
    """A server that can be restarted; it keeps its port and its rows."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self._folder = folder
        self._settings = settings
        self._block = ExitStack()
        self.url = ""
        self._port: int | None = None
        self._owner = owner()

    def start(self) -> None:
        """Start it, or start it again: it belongs to the same fixture then, and outlives the test."""
        with owned_by(self._owner):
            server = mariadb(*self._settings, folder=self._folder / "data", port=self._port)
            self.url = self._block.enter_context(server)
        self._port = int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        self._block.close()

    def kill(self) -> None:
        """Kill it; what was committed stays."""
        (found,) = [one for one in psutil.Process().children() if self._is_of(one)]
        found.kill()
        self.stop()

    def _is_of(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):  # another one that ends at this moment
            return f"--datadir={self._folder / 'data'}" in process.cmdline()
        return False

    def root(self) -> Any:
        return pymysql.connect(host="127.0.0.1", port=self._port or 0, user="root", autocommit=True)

    def shop(self, folder: Path, name: str) -> "MariaShop":
        """A database of its own, and a user of its own who may do no more than a capture needs."""
        with self.root() as session, session.cursor() as cursor:
            for text in (
                f"CREATE DATABASE {name}",
                f"CREATE USER {name}@'%' IDENTIFIED BY '{PASSWORD}'",
                f"GRANT {RIGHTS} ON *.* TO {name}@'%'",
            ):
                cursor.execute(text)
        return MariaShop(folder, self.url.replace("root", name, 1) + f"/{name}")


class MariaShop(Shop):
    """See `Shop`."""

    kind = "mariadb"

    def session(self) -> Any:
        """One of root, in the database of the shop."""
        at = self.at
        return pymysql.connect(
            host=at.host or "",
            port=at.port or 0,
            user="root",
            database=at.database,
            charset="utf8mb4",
            autocommit=True,
            init_command="SET time_zone = '+00:00'",
        )

    def do(self, text: str) -> list[tuple[Any, ...]]:
        """Execute statements; gives the rows of the last one."""
        with self.session() as session, session.cursor() as cursor:
            for one in text.split(";\n"):
                cursor.execute(one)
            return list(cursor.fetchall())

    def name(self, table: str) -> str:
        return f"{self.at.database}.{table}"


def random_transaction(session: Any, chance: random.Random) -> None:
    """A few statements, of which one in ten transactions is rolled back."""
    cursor = session.cursor()
    cursor.execute("BEGIN")
    for _ in range(chance.randint(1, 8)):
        key, other = chance.randint(1, 200), chance.randint(1, 200)
        name = f"c{chance.randint(1, 20)}"
        kind = chance.random()
        if kind < 0.5:
            cursor.execute(
                "INSERT INTO orders (id, customer, amount, note, placed_at) VALUES (%s, %s, %s, %s, now(6)) "
                "ON DUPLICATE KEY UPDATE amount = VALUES(amount), customer = VALUES(customer)",
                (key, name, chance.choice([None, 5, chance.randint(0, 99999) / 100]), chance.choice([None, "é\n"])),
            )
        elif kind < 0.65:
            cursor.execute("DELETE FROM orders WHERE id = %s", (key,))
        elif kind < 0.8:
            cursor.execute("DELETE FROM orders WHERE id = %s", (other + 1000,))
            cursor.execute("UPDATE orders SET id = %s WHERE id = %s", (other + 1000, key))
        elif kind < 0.85:
            cursor.execute("UPDATE orders SET amount = amount + 1 WHERE id < %s", (key,))
        elif kind < 0.99:
            cursor.execute(
                "INSERT INTO customers VALUES (%s, %s, %s) ON DUPLICATE KEY UPDATE city = 'x'",
                (name, chance.randint(1, 3), name.upper()),
            )
        else:
            cursor.execute("TRUNCATE customers")  # commits what was before
    cursor.execute("ROLLBACK" if chance.random() < 0.1 else "COMMIT")
