"""No secret is in what people and files get to see of a server that does not answer: messages, their causes, files."""

import traceback

import pytest
import yaml

from streamhouse.capture.database import DatabaseAway
from streamhouse.capture.kinds import open_database
from streamhouse.errors import StreamhouseError
from streamhouse.ingest import kafka_topic
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.project.settings import load_settings
from tests.ports import take_ports

CANARY = "canary-93bf07-of-a-secret"
COLUMNS = {"id": "bigint"}
LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "u"}
PLACE = {"environment": "CANARY"}


def connections(port):
    database = {"host": "127.0.0.1", "port": port, "user": "u", "password": PLACE}
    url = f"http://127.0.0.1:{port}"
    return {
        "schemas": {"kind": "schema_registry", "url": url, "user": "u", "password": PLACE},
        "bearer": {"kind": "schema_registry", "url": url, "token": PLACE},
        "postgres": {"kind": "postgres", "database": "shop", **database},
        "mariadb": {"kind": "mariadb", **database},
        "mysql": {"kind": "mysql", **database},
        "rest": {"kind": "iceberg", "catalog": url, "warehouse": "w", "credential": PLACE},
        "token": {"kind": "iceberg", "catalog": url, "warehouse": "w", "token": PLACE},
        "jdbc": {
            "kind": "iceberg",
            "catalog": f"jdbc:postgresql://127.0.0.1:{port}/iceberg",
            "warehouse": "s3://w/x",
            "user": "u",
            "password": PLACE,
        },
    }


def sources(port):
    kafka = {"servers": f"127.0.0.1:{port}", "topic": "t", "properties": LOGIN}
    kafka["secrets"] = {"sasl.password": "STREAMHOUSE_SECRET_CANARY"}
    compared = {"mode": "snapshot_diff", "primary_key": ["id"], "columns": COLUMNS}
    return {
        "kafka": ("kafka", {**kafka, "columns": COLUMNS}),
        "registry": ("kafka", {**kafka, "columns": COLUMNS, "format": "avro", "registry": "schemas"}),
        "registry by token": ("kafka", {**kafka, "columns": COLUMNS, "format": "avro", "registry": "bearer"}),
        "changes of a topic": ("cdc", {"kafka": kafka, "primary_key": ["id"], "columns": COLUMNS}),
        **{
            f"table of {name}": ("table", {"connection": name, "table": "public.orders", **compared})
            for name in ("postgres", "mariadb", "mysql", "rest", "token", "jdbc")
        },
    }


def questions(kind, options, root):
    """What flows, the trigger and a person ask of a source."""
    source = Source(name="orders", kind=kind, options=options)
    planned = PlannedSource(name="orders", kind=kind, options=options, columns=[{"name": "id", "type": "bigint"}])
    yield lambda: open_source(source, root).columns()
    yield lambda: open_source(planned, root).available()
    yield lambda: open_source(planned, root).identity()
    yield lambda: source_shape("f:orders", planned, root)
    yield lambda: planned.model_dump_json()


def seen_of(questions, capsys):
    """Everything that was said: answers, errors with all that is behind them, and what was printed."""
    for ask in questions:
        try:
            yield repr(ask())
        except (StreamhouseError, DatabaseAway) as error:
            yield "".join(traceback.format_exception(error))
    printed = capsys.readouterr()
    yield printed.out + printed.err


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in ("CANARY", "STREAMHOUSE_SECRET_CANARY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setattr(kafka_topic, "TIMEOUT_S", 0.5)
    (port,) = take_ports(1)
    (tmp_path / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": connections(port)}))
    return tmp_path, port


def refuse_canary(texts, root):
    for text in texts:
        assert CANARY not in text
    assert [file for file in root.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()] == []


@pytest.mark.parametrize("name", sources(1))
def test_of_a_source(name, project, capsys):
    root, port = project
    texts = list(seen_of(questions(*sources(port)[name], root), capsys))
    assert any("Error" in text for text in texts), "the server does not answer"
    refuse_canary(texts, root)


@pytest.mark.parametrize("name", ["postgres", "mariadb", "mysql"])
def test_of_a_capture(name, project, capsys):
    root, _ = project
    place = load_settings(root).connections[name]
    database = open_database(name, place, root)
    asked = [lambda: database.tables(lambda _: True), lambda: database.check([]), lambda: place]
    texts = list(seen_of(asked, capsys))
    assert any("DatabaseAway" in text for text in texts)
    refuse_canary(texts, root)
