"""`ca` of a connection: its server's certificate is checked against the authorities of a file."""

import ssl
from pathlib import Path

import pytest
import yaml

from streamhouse.capture.kinds import open_database
from streamhouse.errors import DefinitionErrors, EnvironmentProblem, FileFormatError
from streamhouse.ingest.journal import Group
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.tables import sessions
from streamhouse.model.connection import Connection
from streamhouse.model.flow import Source
from streamhouse.project.settings import load_settings
from streamhouse.services.ports import LOOPBACK
from tests.certificates import certificates
from tests.tables import each

KINDS = ("postgres", "mariadb", "mysql")
GROUP = Group(identity="1234567890", tables=("shop.orders",), slot="streamhouse_shop")


def written(root, kind, **more):
    place = {"kind": kind, "host": "db", "user": "me", **more}
    place |= {"database": "shop"} if kind == "postgres" else {}
    (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": {"shop": place}}))
    return place


def connection(root, kind, **more):
    written(root, kind, **more)
    return load_settings(root, {}).databases["shop"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("certificates"))


@each("tls", ["disable", "prefer", "require"])
def test_a_connection_that_checks_nothing_has_no_authorities(tls, tmp_path):
    written(tmp_path, "postgres", tls=tls, ca="ca.pem")
    with pytest.raises((FileFormatError, DefinitionErrors), match="'ca' needs tls: verify-ca or verify-full"):
        load_settings(tmp_path, {})


@each("kind", KINDS)
def test_the_engine_and_our_sessions_get_the_file(kind, made, tmp_path):
    (tmp_path / "tls").mkdir(exist_ok=True)
    (tmp_path / "tls" / "ca.pem").write_bytes(made[0].read_bytes())
    file = str(tmp_path / "tls" / "ca.pem")
    database = open_database("shop", connection(tmp_path, kind, tls="verify-full", ca="tls/ca.pem"), tmp_path)
    settings = database.settings(GROUP, Path("group"), begun=True)
    if kind == "postgres":
        assert settings["database.sslrootcert"] == file
        assert database.authorities is None
    else:
        assert database.authorities == file


def test_a_session_of_postgres_checks_against_the_file(monkeypatch):
    import psycopg

    asked = {}
    monkeypatch.setattr(psycopg, "connect", lambda **more: asked.update(more))
    place = Connection(kind="postgres", host="db", database="shop", user="me", tls="verify-ca", ca="/tls/ca.pem")
    sessions.postgres_session(place, "")
    assert (asked["sslmode"], asked["sslrootcert"]) == ("verify-ca", "/tls/ca.pem")


@each("kind", KINDS)
def test_a_file_that_has_no_authorities(kind, tmp_path):
    wrong = {
        "none.pem": (None, "there is no such file"),
        "empty.pem": (b"", "no certificate"),
        "torn.pem": (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "PEM"),
    }
    for name, (content, cause) in wrong.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        place = connection(tmp_path, kind, tls="verify-full", ca=name)
        with pytest.raises(EnvironmentProblem, match=cause) as refused:
            open_database("shop", place, tmp_path)
        assert "the authorities of connection 'shop'" in str(refused.value)
        options = {"connection": "shop", "table": "shop.orders", "mode": "snapshot_diff", "primary_key": ["id"]}
        with pytest.raises(EnvironmentProblem, match=cause):
            open_source(Source(name="orders", kind="table", options=options), tmp_path).columns()


def shaken(client: ssl.SSLContext, certificate: Path, key: Path, name: str) -> None:
    """Both sides of a handshake, without a network."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    while sides:
        for side in list(sides):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            sides.remove(side)


@each(
    ("tls", "has_file", "name", "refused"),
    [
        ("verify-full", True, LOOPBACK, None),
        ("verify-full", True, "127.0.0.2", "IP address mismatch"),
        ("verify-ca", True, "127.0.0.2", None),
        ("verify-ca", False, LOOPBACK, "unable to get local issuer"),
        ("require", False, "127.0.0.2", None),
    ],
)
def test_a_session_of_mariadb_checks_against_the_file(tls, has_file, name, refused, made):
    ca, certificate, key = made
    place = Connection(kind="mariadb", host="db", user="me", tls=tls, ca=str(ca) if has_file else None)
    context = sessions.tls_of(place)["ssl"]
    if refused is None:
        shaken(context, certificate, key, name)
    else:
        with pytest.raises(ssl.SSLCertVerificationError, match=refused):
            shaken(context, certificate, key, name)
