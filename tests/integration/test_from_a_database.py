"""The commands of docs/howto/from-postgres.md and from-mariadb.md do what they say; all layers equal the database."""

import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import psycopg
import pytest
import yaml

from streamhouse.cli.main import main
from streamhouse.planner.flow_text import with_step
from tests.capture import PASSWORD
from tests.capture_mariadb import Server
from tests.command import clean_environment
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S
from tests.production import postgres

pytestmark = deep("a database to a page in ten minutes; test_import.py stays")

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
MASKED = ("streamhouse init", "streamhouse run", "streamhouse validate")
"""Commands whose whole output the pages do not show."""
JOINED = """
SELECT orders.id, orders.amount, customers.name AS customer_name, products.department AS product_department
FROM orders JOIN customers ON customers.id = orders.customer_id JOIN products ON products.id = orders.product_id
ORDER BY orders.id
"""
SUMS = """
SELECT customers.city AS city, COUNT(*) AS orders, SUM(amount) AS revenue
FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.city ORDER BY city
"""
CHANGES = (
    "UPDATE customers SET city = 'Metz' WHERE id = 3",
    "DELETE FROM orders WHERE id = 2",
    "INSERT INTO orders (id, customer_id, product_id, amount) VALUES (4, 2, 2, 7.25)",
)


class Reader:
    """A person who follows a page.

    Args:
        page: Text of it.
        folder: Where the first command is called.
        place: What is written instead of the database that the page names.
        do: Executes a statement in the database, and gives its rows.
    """

    def __init__(self, page, folder, place, do):
        self.blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        self.folder = folder
        self.place = place
        self.do = do
        self.own_yaml = 0
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {**clean_environment(), "PATH": path, "SHOP_PASSWORD": PASSWORD}

    def follow(self):
        for language, text in self.blocks:
            getattr(self, f"_{language}")(text)

    def _sql(self, text):
        name = re.search(r"^action: (\w+)$", text, re.MULTILINE)
        if name:
            (self.folder / "actions" / f"{name[1]}.sql").write_text(text)
        else:
            self.do(text.rstrip().removesuffix(";"))

    def _yaml(self, text):
        self.own_yaml += len(text.splitlines())
        if text.startswith("connections:"):
            settings = self.folder / "streamhouse.yaml"
            for before, after in self.place.items():
                assert before in text
                text = text.replace(before, after)
            settings.write_text(settings.read_text() + text)
        else:
            flow = self.folder / "flows" / "shop.yaml"
            (step,) = yaml.safe_load(text)
            flow.write_text(with_step(flow.read_text(), step, flow.name))

    def _console(self, text):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command == "cd shop":
                self.folder = self.folder / "shop"
                continue
            said = self.call(command)
            assert command.startswith(MASKED) or said == shown, command

    def call(self, command):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert PASSWORD not in done.stdout + done.stderr
        return done.stdout

    def equal(self, ours, theirs):
        said = StringIO()
        with redirect_stdout(said):
            assert main(["query", ours, "--json", "--project", str(self.folder)]) == 0
        rows = json.loads(said.getvalue())["rows"]
        there = [tuple(str(value) for value in row) for row in self.do(theirs)]
        assert [tuple(str(value) for value in row.values()) for row in rows] == there

    def all_layers_equal(self):
        for table in ("customers", "products"):
            self.equal(f"SELECT * FROM ods.{table} ORDER BY id", f"SELECT * FROM {table} ORDER BY id")
        names = "id, customer_id, product_id, amount"
        self.equal(f"SELECT {names} FROM ods.orders ORDER BY id", f"SELECT {names} FROM orders ORDER BY id")
        self.equal("SELECT id, amount, customer_name, product_department FROM dwd.orders ORDER BY id", JOINED)
        self.equal("SELECT city, orders, revenue FROM dws.revenue_by_city ORDER BY city", SUMS)


def follow(reader, changes=()):
    try:
        reader.follow()
        assert reader.own_yaml <= 10
        reader.all_layers_equal()
        for change in changes:
            reader.do(change)
        if changes:
            reader.call("streamhouse run shop --once")
            reader.all_layers_equal()
        files = (path for path in reader.folder.rglob("*") if path.is_file())
        assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
    finally:
        if (reader.folder / "flows").is_dir():
            reader.call("streamhouse services down")


@pytest.mark.services
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("changes", [(), pytest.param(CHANGES, marks=soak)], ids=["page", "changes"])
def test_from_postgres(tmp_path, changes):
    with postgres("wal_level=logical") as url, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as session:
        at = session.info
        session.execute("CREATE DATABASE shop")
        shop = f"postgresql://{at.user}@{at.host}:{at.port}/shop"

        def do(text):
            with psycopg.connect(shop, autocommit=True) as own:
                done = own.execute(text.encode())
                return done.fetchall() if done.description else []

        place = {"db.example.com": at.host, "5432": str(at.port)}
        follow(Reader((HOWTO / "from-postgres.md").read_text(), tmp_path, place, do), changes)


@pytest.mark.services
@pytest.mark.timeout(1800)
@soak
def test_from_mariadb(tmp_path):
    server = Server(tmp_path / "server")
    server.start()
    try:
        shop = server.shop(tmp_path / "unused", "shop")
        place = {"db.example.com": shop.at.host, "3306": str(shop.at.port), "user: streamhouse": "user: shop"}
        follow(Reader((HOWTO / "from-mariadb.md").read_text(), tmp_path, place, shop.do), CHANGES)
    finally:
        server.stop()
