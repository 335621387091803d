"""Secrets in settings and messages."""

import pytest

from streamhouse.errors import FileFormatError, SourceError, StreamhouseError
from streamhouse.ingest.kafka import open_kafka
from streamhouse.secret import masked, names_secret
from streamhouse.state.store import StateStore

KAFKA = {"servers": "k:9092", "topic": "t", "columns": {"n": "int"}}


@pytest.mark.parametrize(
    "name",
    [
        "sasl.password", "ssl.key.password", "ssl.keystore.password", "sasl.oauthbearer.client.secret", "ssl.key.pem",
        "sasl.jaas.config", "sasl.oauthbearer.config", "basic.auth.user.info", "SASL.PASSWORD", "api_key", "token",
        "s3.secret-access-key", "s3.access-key", "fs.azure.account.key",
    ],
)  # fmt: skip
def test_a_secret_among_properties_is_refused(name):
    assert names_secret(name)
    with pytest.raises(SourceError) as refused:
        open_kafka({**KAFKA, "properties": {name: "hush"}})
    assert "use `secrets:`" in refused.value.message
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("security.protocol", "SSL"),
        ("sasl.mechanisms", "PLAIN"),
        ("sasl.username", "x"),
        ("sasl.oauthbearer.token.endpoint.url", "https://x/token"),
    ],
)
def test_other_properties_are_not(name, value):
    open_kafka({**KAFKA, "properties": {name: value}})


def test_a_password_in_a_url_is_one(monkeypatch):
    with pytest.raises(SourceError) as refused:
        open_kafka({**KAFKA, "properties": {"schema.registry.url": "https://me:hush@registry"}})
    assert "hush" not in str(refused.value)


def test_secrets_are_names_of_variables():
    with pytest.raises(SourceError) as refused:
        open_kafka({**KAFKA, "secrets": {"sasl.password": "hu$h-canary"}})
    assert "hu$h" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://me:hu/sh@host/db",
        "postgresql+psycopg://me:hu@sh@host:port/db",
        "postgresql+psycopg//me:hush@host/db",
        "me:hush@host",
        "hush",
        "nosuch://me:hush@host/db",
        "postgresql+psycopg://me:hush@host:99999999/db",
        "sqlite://me:hush@host/db",
    ],
)
def test_a_malformed_state_url_is_not_shown(url):
    with pytest.raises(StreamhouseError) as refused, StateStore(url) as state:
        state.flows()
    assert "hu" not in str(refused.value).replace("shut", "")
    assert refused.value.code != "SH000"


def test_every_message_is_masked():
    error = FileFormatError("no answer of https://me:p@ss@host/x?password=hush&n=1", hint="see s3://key:hush@b")
    assert str(error) == "SH101 no answer of https://***@host/x?password=***&n=1\n  hint: see s3://***@b"


@pytest.mark.parametrize(
    "text",
    [
        "query:1:15: SH601 'dwd.sales@version_3' is read as of now",
        "http://host:8080/path",
        "postgresql+psycopg://me@host:5432/db",
        "write {sasl.password: KAFKA_PASSWORD}",
        "spark.kubernetes.driver.secretKeyRef.X: SECRET:KEY",
        "flows/orders.yaml:7:11: mail ops@example.org",
    ],
)
def test_what_holds_no_password_stays(text):
    assert masked(text) == text
