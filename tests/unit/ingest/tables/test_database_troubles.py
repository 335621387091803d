"""Why there is no session in a database, in words that name the cause, each with its remedy."""

import socket
import struct
from contextlib import contextmanager
from threading import Thread

import psycopg
import pymysql
import pytest

from streamhouse.capture import binlog
from streamhouse.capture.database import DatabaseAway
from streamhouse.capture.kinds import open_database
from streamhouse.errors import CaptureFailedError, SourceError, StoreUnavailableError
from streamhouse.ingest.tables import binlog_rows, sessions
from streamhouse.ingest.tables.binlog_rows import BinlogRows
from streamhouse.ingest.tables.database_troubles import NO_ANSWER, trouble_of
from streamhouse.ingest.tables.postgres_rows import PostgresRows
from streamhouse.model.connection import Connection
from tests.tables import each

CERTIFICATE = "the certificate of the server is not trusted"
ELSEWHERE = "the certificate of the server is for another host"
EXPIRED = "the certificate of the server is not valid now"
USER = "the server refuses the user or the password"
LET_IN = "the server does not let this user in"
DATABASE = "the server has no such database"
HOST = "the name of the host is not known"
PORT = "no server answers at this port"
CLIENT = "the server refuses the certificate of this client"
VERIFY = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed:"
MYSQL = "Can't connect to MySQL server on 'db'"
AT = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: '


@each(
    ("said", "what"),
    [
        (f"{AT}SSL error: certificate verify failed", CERTIFICATE),
        (f"{MYSQL} ({VERIFY} unable to get local issuer certificate (_ssl.c:1006))", CERTIFICATE),
        ("PKIX path building failed: unable to find valid certification path to requested target", CERTIFICATE),
        (f'{AT}server certificate for "db" does not match host name "127.0.0.1"', ELSEWHERE),
        (f"{VERIFY} IP address mismatch, certificate is not valid for '127.0.0.2'. (_ssl.c:1006)", ELSEWHERE),
        ("CertificateException: No subject alternative names matching IP address 1.2.3.4", ELSEWHERE),
        (f"{VERIFY} certificate has expired (_ssl.c:1006)", EXPIRED),
        (f"{AT}FATAL:  connection requires a valid client certificate", CLIENT),
        (f"{AT}SSL error: tlsv13 alert certificate required", CLIENT),
        (f"{AT}server does not support SSL, but SSL was required", "the server has no TLS"),
        ("Connections using insecure transport are prohibited while --require_secure_transport=ON.",
         "the server lets this user in only with TLS"),
        (f'{AT}FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "u", database "d", no encryption',
         "the server does not let this user in from this machine"),
        (f'{AT}FATAL:  password authentication failed for user "u"', USER),
        (f'{AT}FATAL:  role "u" does not exist', USER),
        ("connection to server failed: fe_sendauth: no password supplied", USER),
        ("Access denied for user 'u'@'localhost' (using password: YES)", USER),
        (f'{AT}FATAL:  database "shop" does not exist', "the server has no such database"),
        ("Unknown database 'shop'", "the server has no such database"),
        ("java.net.UnknownHostException: no.such.host", HOST),
        (f"{AT}received invalid response to SSL negotiation: H", "another program answers at this port"),
        ("connection timeout expired", "the host does not answer"),
        ("server closed the connection unexpectedly", None),
        ("Access denied for user 'u'@'%' to database 'shop'", None),
        ('permission denied for table "database"', None),
        (f'{AT}FATAL:  permission denied for database "shop"', "the user may not connect to the database"),
        (f"{AT}FATAL:  the database system is starting up", "the server starts or ends at this moment"),
        (f"{AT}FATAL:  sorry, too many clients already", "the server has as many sessions as it takes"),
    ],
)  # fmt: skip
def test_what_is_said_names_the_cause(said, what):
    found = trouble_of(said)
    assert (found and found.what) == what
    assert str(DatabaseAway(said)) == f"{what or NO_ANSWER.what}: {said}"


@each(
    ("said", "code", "what"),
    [
        ("FATAL:  Passwort-Authentifizierung für Benutzer »u« fehlgeschlagen", "28P01", USER),
        ("FATAL:  Rolle »u« existiert nicht", "28000", LET_IN),
        ("FATAL:  la base de données « shop » n'existe pas", "3D000", DATABASE),
        ("ВАЖНО:  система баз данных запускается", "57P03", "the server starts or ends at this moment"),
        ("Benutzer 'u'@'h' hat keine Zugriffsberechtigung (verwendetes Passwort: JA)", 1045, USER),
        ("Unbekannte Datenbank 'shop'", 1049, DATABASE),
        ("Host 'h' hat keine Berechtigung", 1130, "the server does not let this user in from this machine"),
        ("Zu viele Verbindungen", 1040, "the server has as many sessions as it takes"),
        ("Zu viele Verbindungen des Benutzers", 1203, "the server has as many sessions as it takes"),
        ("Benutzer hat 'max_user_connections' erreicht", 1226, "the server has as many sessions as it takes"),
        ("FATAL:  no pg_hba.conf entry for host", "28000", "the server does not let this user in from this machine"),
        ("Division durch Null", "22012", None),
    ],
)
def test_the_code_names_the_cause_where_the_text_is_not_known(said, code, what):
    assert str(DatabaseAway(said, code)) == f"{what or NO_ANSWER.what}: {said}"


@contextmanager
def refusing(code, text):
    """A server of PostgreSQL's protocol that lets nobody in; gives its port, and grows with each who wanted to."""
    asked = []

    def serve():
        while True:
            try:
                one, _ = listening.accept()
            except OSError:
                return
            with one:
                if _message(one) == _TLS:
                    one.sendall(b"N")
                    _message(one)
                asked.append(1)
                body = b"".join(part.encode() + b"\0" for part in ("SFATAL", "VFATAL", f"C{code}", f"M{text}")) + b"\0"
                one.sendall(b"E" + struct.pack("!i", len(body) + 4) + body)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], asked
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


_TLS = struct.pack("!i", 80877103)


def _message(one):
    (size,) = struct.unpack("!i", one.recv(4, socket.MSG_WAITALL))
    return one.recv(size - 4, socket.MSG_WAITALL)


GERMAN = [
    ("28P01", "Passwort-Authentifizierung für Benutzer »me« fehlgeschlagen", USER, False),
    ("3D000", "Datenbank »shop« existiert nicht", DATABASE, False),
    ("57P03", "das Datenbanksystem startet", "the server starts or ends at this moment", True),
    ("XX000", 'ein Text C "28P01" mit Zeichen', NO_ANSWER.what, True),
]


@each(("code", "text", "what", "ends_by_itself"), GERMAN)
def test_a_postgres_server_that_speaks_another_language(tmp_path, code, text, what, ends_by_itself):
    with refusing(code, text) as (port, asked):
        database = open_database("shop", of("postgres", port=port), tmp_path)
        for _ in range(2):
            with pytest.raises(DatabaseAway) as away:
                database.check([])
            assert str(away.value).startswith(f"{what}: ")
            assert text in str(away.value)
            assert away.value.trouble.ends_by_itself is ends_by_itself
        assert len(asked) == 3, "a text whose code is known needs no second session"
        rows = PostgresRows("public.o", "shop", of("postgres", port=port), "", None)
        with pytest.raises(StoreUnavailableError if ends_by_itself else SourceError, match=what):
            rows.columns()


def test_a_mariadb_server_that_speaks_another_language(tmp_path, monkeypatch):
    def refuse(*_, **__):
        error = pymysql.OperationalError(1045, "Benutzer 'me'@'h' hat keine Zugriffsberechtigung")
        error.sqlstate = "28000"  # as it comes from a server
        raise error

    for module in (binlog, binlog_rows):
        monkeypatch.setattr(module, "binlog_session", refuse)
    with pytest.raises(CaptureFailedError, match=f"{USER}: Benutzer 'me'"):
        open_database("shop", of("mariadb"), tmp_path).check([])
    with pytest.raises(SourceError, match=f"{USER}: Benutzer 'me'"):
        BinlogRows("store.o", "shop", of("mariadb"), "", None).columns()


def of(kind, **more):
    database = {"database": "shop"} if kind == "postgres" else {}
    return Connection(kind=kind, user="me", **{"host": "127.0.0.1", **more, **database})


@pytest.fixture
def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))  # nobody listens, and no other process gets it
        yield one.getsockname()[1]


@each("kind", ["postgres", "mariadb", "mysql"])
def test_what_the_drivers_say_of_hosts_and_ports(kind, tmp_path, closed_port):
    for place, what in (({"port": closed_port}, PORT), ({"host": "no.such.host.invalid"}, HOST)):
        database = open_database("shop", of(kind, **place), tmp_path)
        with pytest.raises(DatabaseAway) as away:
            database.check([])
        assert str(away.value).startswith(f"{what}: ")
        assert away.value.trouble.ends_by_itself
        assert "streamhouse.yaml" in away.value.trouble.remedy


def test_texts_that_differ_each_time_are_not_all_remembered(monkeypatch):
    place = Connection(kind="postgres", host="db", user="me", database="shop")
    texts = iter(f"{AT}FATAL:  verbindung {number} abgelehnt" for number in range(500))

    def refuses(**_):
        raise psycopg.OperationalError(next(texts))

    monkeypatch.setattr(psycopg, "connect", refuses)
    monkeypatch.setattr(sessions, "_sqlstate_of", lambda asked: "53300")
    monkeypatch.setattr(sessions, "_CODES", {})
    for _ in range(500):
        with pytest.raises(psycopg.OperationalError) as refused:
            sessions.postgres_session(place, "")
        assert refused.value.sqlstate == "53300"
    assert len(sessions._CODES) == 64
