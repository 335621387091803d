"""The source `kafka` and `cdc` of a topic against a broker that asks who we are; the password shows nowhere."""

import shutil

import pytest

from streamhouse.errors import SourceError, StoreUnavailableError
from streamhouse.ingest import kafka_topic
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.kafka import open_kafka
from tests.contract.test_kafka import create, send
from tests.gate.levels import deep
from tests.kafka import broker_with_login

pytestmark = [
    pytest.mark.services,
    deep("a broker of its own, with TLS and SASL; tests/contract/test_kafka.py has what is read of one"),
]

USER, CANARY, VARIABLE = "streamhouse", "canary-9e107d9d37", "STREAMHOUSE_SECRET_OF_A_BROKER"
ROWS = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
COLUMNS = {"id": "bigint", "name": "string"}


@pytest.fixture(scope="module")
def login(tmp_path_factory):
    with broker_with_login(tmp_path_factory.mktemp("kafka") / "broker", USER, CANARY) as found:
        yield found


@pytest.fixture
def root(tmp_path, login, monkeypatch):
    """A project that has the certificates."""
    monkeypatch.setattr(kafka_topic, "TIMEOUT_S", 10.0)
    monkeypatch.setenv(VARIABLE, CANARY)
    for file in (login.ca, login.certificate, login.key):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


@pytest.fixture
def topic(login):
    name = create(login.inner, 1)
    send(login.inner, name, [*ROWS, b"{"], key=b"k")
    return name


def by_password(login, topic, **properties):
    return {
        "servers": login.scram,
        "topic": topic,
        "properties": {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": USER,
            "ssl.ca.location": "ca.pem",
            **properties,
        },
        "secrets": {"sasl.password": VARIABLE},
    }


def by_certificate(login, topic):
    files = {"ssl.ca.location": "ca.pem", "ssl.certificate.location": "own.pem", "ssl.key.location": "own.key"}
    return {"servers": login.tls, "topic": topic, "properties": {"security.protocol": "SSL", **files}}


@pytest.mark.parametrize("how", [by_password, by_certificate])
def test_rows_are_read(login, topic, root, how):
    found = open_kafka({**how(login, topic), "columns": COLUMNS, "on_bad_rows": "dead_letter"}, root)
    split = found.read_split({}, found.available())
    assert split.rows.to_pylist() == ROWS
    assert [bad.letter.raw for bad in split.bad] == [b"{"]


def test_changes_are_read_and_no_file_has_the_password(login, topic, root):
    place = {**by_password(login, topic), "messages": "rows"}
    options = {"kafka": place, "primary_key": ["id"], "columns": COLUMNS, "on_bad_rows": "dead_letter"}
    found = open_cdc(options, root)
    end = found.available()
    assert found.state(end).to_pylist() == ROWS
    assert len(found.bad_rows({}, end)) == 1
    files = [file for file in root.rglob("*") if file.is_file()]
    assert any(file.name.endswith(".jsonl") for file in files)
    assert [file for file in files if CANARY.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    ("properties", "variable"),
    [({}, "wrong-canary-e4d909c290"), ({"sasl.username": "stranger"}, CANARY)],
    ids=["password", "user"],
)
def test_a_login_that_is_refused(login, topic, root, monkeypatch, properties, variable):
    monkeypatch.setenv(VARIABLE, variable)
    found = open_kafka({**by_password(login, topic, **properties), "columns": COLUMNS}, root)
    with pytest.raises(SourceError, match=r"refuses: .*[Aa]uthentication") as refused:
        found.available()
    assert variable not in str(refused.value)


def test_a_certificate_that_nobody_trusts(login, topic, root):
    options = by_password(login, topic)
    del options["properties"]["ssl.ca.location"]
    found = open_kafka({**options, "columns": COLUMNS}, root)
    with pytest.raises(SourceError, match=r"refuses: .*(certificate|SSL)"):
        found.available()


def test_without_a_certificate_of_ours(login, topic, root):
    """The client only says that the broker went away, as when it restarts; so the flow tries again."""
    options = by_certificate(login, topic)
    for name in ("ssl.certificate.location", "ssl.key.location"):
        del options["properties"][name]
    found = open_kafka({**options, "columns": COLUMNS}, root)
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        found.available()
