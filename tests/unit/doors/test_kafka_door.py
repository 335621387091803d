"""Every setting of librdkafka is taken, with its kind, or refused, with the reason."""

import ctypes
import os
import re
from pathlib import Path

import confluent_kafka
import pytest

from streamhouse.doors.kafka import KAFKA
from streamhouse.doors.setting import Kind
from streamhouse.errors import SourceError
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.kafka_settings import client_settings
from tests.tables import each

DOCUMENT = Path(__file__).parents[2] / "fixtures" / "doors" / "librdkafka-CONFIGURATION.md"
"""As librdkafka publishes it (commit 4c3b017)."""
PACKAGE = Path(confluent_kafka.__file__).parent
LIBRARIES = [*PACKAGE.parent.glob("confluent_kafka.libs/librdkafka*"), *PACKAGE.glob(".dylibs/librdkafka*")]

GIVEN = {"servers": "k-1:9092,k-2:9092", "topic": "t", "columns": {"n": "int"}}


def documented(text):
    """Setting → (type, range), as the document has them; of one that is there twice, the first."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) < 6 or cells[0] == "Property":
            continue
        kind = re.search(r"\*Type: ([^*]+)\*\s*$", line)
        found.setdefault(cells[0], (kind[1], cells[2]))
    return found


ALL = documented(DOCUMENT.read_text())


def test_the_document_is_read_whole():
    assert len(ALL) == 193
    assert ALL["fetch.max.bytes"] == ("integer", "0 .. 2147483135")


@pytest.mark.skipif(not LIBRARIES, reason="librdkafka is not of the package, but of the machine")
def test_the_document_is_that_of_the_library_that_is_loaded(tmp_path):
    library, c = ctypes.CDLL(str(LIBRARIES[0])), ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(c.fopen(str(tmp_path / "shown.md").encode(), b"w"))
    library.rd_kafka_conf_properties_show(file)
    c.fclose(file)
    assert documented((tmp_path / "shown.md").read_text()) == ALL


def test_each_setting_is_taken_or_refused_and_none_is_both():
    assert KAFKA.taken.keys().isdisjoint(KAFKA.refused)
    assert KAFKA.taken.keys() | KAFKA.refused.keys() == ALL.keys()


@each("name", sorted(KAFKA.taken))
def test_what_is_taken_has_a_kind_and_a_reason(name):
    setting, (kind, values) = KAFKA.taken[name], ALL[name]
    assert setting.why
    expected = {
        "integer": {Kind.NUMBER},
        "boolean": {Kind.BOOLEAN},
        "enum value": {Kind.CHOICE},
        "string": {Kind.TEXT, Kind.PEM, Kind.URL, Kind.FILE, Kind.SECRET, Kind.CHOICE},
    }
    assert setting.kind in expected[kind]
    if kind == "enum value":
        assert set(setting.choices) == set(values.replace(" ", "").split(","))
    if name.endswith((".location", ".file", ".path", ".paths")):
        assert setting.kind is Kind.FILE


@each("name", sorted(KAFKA.refused))
def test_what_is_refused_has_a_reason_which_the_message_says(name):
    with pytest.raises(SourceError) as refused:
        open_kafka({**GIVEN, "properties": {name: "x"}})
    assert KAFKA.refused[name] in str(refused.value)
    with pytest.raises(SourceError):
        open_kafka({**GIVEN, "secrets": {name: "STREAMHOUSE_SECRET_X"}})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plugin.library.paths", "/tmp/evil.so"),
        ("ssl.engine.location", "/tmp/evil.so"),
        ("ssl.providers", "evil"),
        ("sasl.kerberos.kinit.cmd", "touch /tmp/x"),
        ("sasl.kerberos.principal", "x; touch /tmp/x"),
        ("offset.store.path", "/tmp/x"),
        ("PLUGIN.LIBRARY.PATHS", "x"),
        (" plugin.library.paths", "x"),
        ("plugin.library.paths\0", "x"),
        ("no.such.setting", "x"),
        ("error_cb", "x"),
        ("default.topic.config", "x"),
        ("client.id", "a\0b"),
        ("client.id", "a\nb"),
        ("client.id", "a" * 5000),
        ("client.id", "\ud800"),
        ("socket.timeout.ms", "1;2"),
        ("security.protocol", "x"),
        ("sasl.mechanism", "GSSAPI"),
        ("security.protocol", "SASL_SSL"),
        ("sasl.oauthbearer.token.endpoint.url", "http://169.254.169.254/token"),
        ("sasl.oauthbearer.token.endpoint.url", "file:///etc/passwd"),
        ("sasl.oauthbearer.metadata.authentication.type", "aws_iam"),
        ("ssl.ca.location", "/etc/shadow"),
        ("ssl.ca.location", "../x.pem"),
        ("ssl.ca.location", "file:///etc/passwd"),
        ("ssl.ca.location", "link.pem"),
        ("ssl.ca.location", "folder"),
        ("ssl.ca.location", "fifo"),
        ("ssl.ca.location", "none.pem"),
        ("ssl.ca.location", ".env"),
        ("ssl.ca.location", "a\0b"),
        ("ssl.ca.location", "x" * 400),
        ("ssl.ca.location", "probe"),
        ("ssl.ca.location", "/dev/zero"),
        ("ssl.ca.location", "/proc/self/environ"),
        ("ssl.ca.location", ".streamhouse/state.db"),
        ("ssl.key.location", "/dev/stdin"),
        ("ssl.key.password", "hush"),
    ],
)
def test_what_runs_code_or_leaves_the_project_is_refused(tmp_path, name, value):
    project = tmp_path / "project"
    for folder in (project / "folder", project / ".streamhouse"):
        folder.mkdir(parents=True)
    (tmp_path / "x.pem").write_text("x")
    (project / ".env").write_text("x")
    (project / ".streamhouse" / "state.db").write_text("x")
    (project / "link.pem").symlink_to(tmp_path / "x.pem")
    os.mkfifo(project / "fifo")
    with pytest.raises(SourceError) as refused:
        open_kafka({**GIVEN, "properties": {name: value}}, project)
    assert refused.value.hint
    assert "\0" not in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_file_of_the_project_reaches_librdkafka_with_its_whole_path(tmp_path, monkeypatch):
    (tmp_path / "certs").mkdir()
    (tmp_path / "certs" / "ca.pem").write_text("x")
    (tmp_path / "ca.pem").symlink_to("certs/ca.pem")
    options = KafkaOptions.model_validate(
        {**GIVEN, "properties": {"ssl.ca.location": "ca.pem", "fetch.max.bytes": "1000"}}
    )
    assert client_settings(options, tmp_path, None) == {
        "bootstrap.servers": GIVEN["servers"],
        "ssl.ca.location": str(tmp_path.resolve() / "certs" / "ca.pem"),
        "fetch.max.bytes": "1000",
    }


def secret(tmp_path, settings, variable, name="sasl.password", **properties):
    (tmp_path / "streamhouse.yaml").write_text(settings)
    given = {**GIVEN, "properties": properties, "secrets": {name: variable}}
    open_kafka(given, tmp_path)
    return client_settings(KafkaOptions.model_validate(given), tmp_path, None)[name]


@pytest.mark.parametrize("name", sorted(KAFKA.taken))
def test_a_secret_goes_only_where_it_is_not_shown(tmp_path, monkeypatch, name):
    monkeypatch.setenv("STREAMHOUSE_SECRET_X", "canary")
    if KAFKA.taken[name].kind is Kind.SECRET:
        assert secret(tmp_path, "", "STREAMHOUSE_SECRET_X", name) == "canary"
    else:
        with pytest.raises(SourceError, match="takes no secret"):
            secret(tmp_path, "", "STREAMHOUSE_SECRET_X", name)


BOTH = "['k-1:9092', 'K-2:9092']"


@pytest.mark.parametrize(
    "settings",
    [
        "secret_variables: [KAFKA]\n",
        f"secret_variables: {{KAFKA: {BOTH}}}\n",
    ],
)
def test_what_the_settings_permit_leaves(tmp_path, monkeypatch, settings):
    monkeypatch.setenv("KAFKA", "canary")
    assert secret(tmp_path, settings, "KAFKA") == "canary"


@pytest.mark.parametrize(
    ("settings", "variable", "properties"),
    [
        ("", "AWS_SECRET_ACCESS_KEY", {}),
        ("", "KAFKA", {}),
        ("", "streamhouse_secret_x", {}),
        ("", "STREAMHOUSE_STATE", {}),
        ("", "", {}),
        ("", "A=B", {}),
        ("", "STREAMHOUSE_SECRET_\0", {}),
        ("secret_variables: KAFKA\n", "KAFKA", {}),
        ("secret_variables: [KAFKA, 'hu$h']\n", "KAFKA", {}),
        ("secret_variables: {KAFKA: []}\n", "KAFKA", {}),
        ("secret_variables: {KAFKA: ['k-1:9092']}\n", "KAFKA", {}),
        ("secret_variables: {STREAMHOUSE_SECRET_X: ['other:9092']}\n", "STREAMHOUSE_SECRET_X", {}),
        (
            f"secret_variables: {{KAFKA: {BOTH}}}\n",
            "KAFKA",
            {"sasl.oauthbearer.token.endpoint.url": "https://evil/token"},
        ),
    ],
)
def test_no_other_variable_leaves(tmp_path, monkeypatch, settings, variable, properties):
    for name in ("AWS_SECRET_ACCESS_KEY", "KAFKA", "STREAMHOUSE_STATE", "STREAMHOUSE_SECRET_X"):
        monkeypatch.setenv(name, "canary")
    with pytest.raises(SourceError) as refused:
        secret(tmp_path, settings, variable, **properties)
    assert "canary" not in str(refused.value)
    assert refused.value.hint
