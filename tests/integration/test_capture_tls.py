"""Captures of real databases whose certificate is of an authority that neither the system nor Java knows: `ca`."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from streamhouse.capture import calls
from tests.capture import ORDERS, TABLES, Shop
from tests.capture_mariadb import TABLES as MARIADB_TABLES
from tests.capture_mariadb import MariaShop, Server
from tests.certificates import certificates
from tests.gate.levels import deep
from tests.production import postgres

pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(600),
    deep("a capture of each kind of database over TLS; tests/unit/capture/test_authorities.py has handshakes"),
]
CHECKED = ", tls: verify-full, ca: tls/ca.pem"


class CheckedShop(Shop):
    def connection(self):
        return super().connection() + CHECKED


class CheckedMariaShop(MariaShop):
    def connection(self):
        return super().connection() + CHECKED


@pytest.fixture(scope="module")
def made():
    """Certificates where a server may read them that is not root."""
    with TemporaryDirectory(prefix="tls-") as name:
        ca, certificate, key = certificates(Path(name))
        key.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(name, "nobody")
            shutil.chown(key, "nobody")
        yield ca, certificate, key


def reads_all(shop, orders, insert, ca, tmp_path):
    """The capture reads what was there and what comes; with another authority nothing is read."""
    (shop.root / "tls").mkdir()
    shutil.copy(ca, shop.root / "tls" / "ca.pem")
    with shop.capture() as process:
        shop.until_begun(process)
        insert(2)
        shop.until_caught_up(process)
    there = orders.state(orders.available()).to_pylist()
    assert sorted((row["id"], row["customer"]) for row in there) == [(1, "ann"), (2, "ann")]
    (tmp_path / "other").mkdir()
    shutil.copy(certificates(tmp_path / "other")[0], shop.root / "tls" / "ca.pem")
    [status] = calls.status(shop.project)
    assert (status.away or "").startswith("the certificate of the server is not trusted: ")
    assert "certificate verify failed" in status.away
    assert "'ca'" in (status.remedy or "")


def test_postgres(made, tmp_path):
    ca, certificate, key = made
    settings = ("wal_level=logical", "ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
    with postgres(*settings) as url:
        shop = CheckedShop(tmp_path / "shop", url)
        with psycopg.connect(shop.url, autocommit=True) as session:
            session.execute(TABLES.encode())

            def insert(number):
                session.execute("INSERT INTO orders (id, customer) VALUES (%s, 'ann')", (number,))

            insert(1)
            reads_all(shop, shop.source("public.orders", ORDERS, ["id"]), insert, ca, tmp_path)


def test_mariadb(made, tmp_path):
    ca, certificate, key = made
    server = Server(tmp_path, f"ssl-cert={certificate}", f"ssl-key={key}")
    server.start()
    try:
        plain = server.shop(tmp_path / "plain", "shop")
        with server.root() as session, session.cursor() as cursor:
            cursor.execute("ALTER USER shop@'%' REQUIRE SSL")
        shop = CheckedMariaShop(tmp_path / "shop", plain.at.render_as_string(hide_password=False))
        shop.do(MARIADB_TABLES)

        def insert(number):
            shop.do(f"INSERT INTO orders (id, customer) VALUES ({number}, 'ann')")

        insert(1)
        reads_all(shop, shop.source(shop.name("orders"), ORDERS, ["id"]), insert, ca, tmp_path)
    finally:
        server.stop()
