"""Why there is no session in a database, in words that name the cause, each with its remedy."""

import socket

import pytest

from streamhouse.capture.database import DatabaseAway
from streamhouse.capture.kinds import open_database
from streamhouse.ingest.tables.database_troubles import NO_ANSWER, trouble_of
from streamhouse.model.connection import Connection
from tests.tables import each

CERTIFICATE = "the certificate of the server is not trusted"
ELSEWHERE = "the certificate of the server is for another host"
EXPIRED = "the certificate of the server is not valid now"
USER = "the server refuses the user or the password"
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
    ],
)  # fmt: skip
def test_what_is_said_names_the_cause(said, what):
    found = trouble_of(said)
    assert (found and found.what) == what
    assert str(DatabaseAway(said)) == f"{what or NO_ANSWER.what}: {said}"


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
