"""URLs of databases and the settings of Ivy in streamhouse.yaml open no file and load no code."""

from pathlib import Path

import pytest
from psycopg.pq import Conninfo

from streamhouse.doors.databases import CATALOG, STATE
from streamhouse.doors.ivy import refused_part
from streamhouse.errors import StreamhouseError
from streamhouse.install.jars import POSTGRESQL_JAR
from streamhouse.model.connection import Connection
from streamhouse.project.settings import load_settings

PG = "jdbc:postgresql://db:5432/iceberg"
STATE_URL = "postgresql+psycopg://me@db/state"


def settings(tmp_path, text):
    (tmp_path / "streamhouse.yaml").write_text(text)
    return load_settings(tmp_path, {})


DRIVER = Path(__file__).parents[2] / "fixtures" / "doors" / "pgjdbc-properties.txt"


def test_each_parameter_of_the_drivers_is_known():
    known = {name for name in DRIVER.read_text().splitlines() if not name.startswith("#")}
    assert len(known) == 83
    assert CATALOG.taken.keys() | CATALOG.refused.keys() == known
    assert POSTGRESQL_JAR.version in DRIVER.read_text()
    library = {one.keyword.decode() for one in Conninfo.get_defaults()}
    assert library - (STATE.taken.keys() | STATE.refused.keys()) == set()
    assert STATE.taken.keys() - library == set()


@pytest.mark.parametrize("door", [CATALOG, STATE])
def test_each_parameter_is_taken_or_refused_with_a_reason(door):
    assert door.taken.keys().isdisjoint(door.refused)
    assert all(setting.why for setting in door.taken.values())
    assert all(door.refused.values())


@pytest.mark.parametrize(
    "url",
    [
        f"{PG}?socketFactory=org.springframework.context.support.ClassPathXmlApplicationContext&socketFactoryArg=x",
        f"{PG}?%73ocketFactory=a.B",
        f"{PG}%3FsocketFactory=a.B",
        f"{PG}?sslmode=require&sslfactory=a.B",
        f"{PG}?loggerFile=/tmp/x&loggerLevel=TRACE",
        f"{PG}?jaasApplicationName=x",
        f"{PG}?authenticationPluginClassName=a.B",
        f"{PG}?no_such=1",
        f"{PG}?SocketFactory=a.B",
        f"{PG}?socketFactory",
        "jdbc:derby:memory:x;create=true",
        "jdbc:h2:mem:x;INIT=RUNSCRIPT",
        "jdbc:mysql://db/x?autoDeserialize=true",
        "jdbc:sqlite:/etc/passwd",
    ],
)
def test_a_catalog_names_no_code_and_no_file(tmp_path, url):
    with pytest.raises(StreamhouseError) as refused:
        settings(tmp_path, f"cold:\n  warehouse: s3://b/c\n  catalog: '{url}'\n")
    assert "streamhouse.yaml:3:3: SH101 cold.catalog: " in str(refused.value)
    assert "STREAMHOUSE_COLD_CATALOG" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "url",
    [
        f"{STATE_URL}?plugin=evil",
        f"{STATE_URL}?passfile=/etc/shadow",
        f"{STATE_URL}?service=x&servicefile=/tmp/x",
        f"{STATE_URL}?sslkey=/etc/x",
        f"{STATE_URL}?host=evil",
        f"{STATE_URL}?options=-c%20x",
        "oracle://h/x",
        "access:///etc/passwd",
        "sqlite:///x?plugin=evil",
        "sqlite:///file:x?uri=true",
        "sqlite+evil:///x",
    ],
)
def test_the_state_names_no_code_and_no_file(tmp_path, url):
    with pytest.raises(StreamhouseError) as refused:
        settings(tmp_path, f"state: '{url}'\n")
    assert "streamhouse.yaml:1:1: SH101 state: " in str(refused.value)
    assert refused.value.hint


def test_what_is_usual_is_taken(tmp_path):
    catalog = f"cold: {{warehouse: 's3://b/c', catalog: '{PG}?user=me&sslmode=require'}}"
    text = f"state: '{STATE_URL}?sslmode=require'\n{catalog}\n"
    assert settings(tmp_path, text).state == f"{STATE_URL}?sslmode=require"


def test_who_runs_it_may_say_more(tmp_path):
    given = {"STREAMHOUSE_STATE": f"{STATE_URL}?sslrootcert=/etc/ca.pem"}
    assert load_settings(tmp_path, given).state == given["STREAMHOUSE_STATE"]


IVY = "<ivysettings><settings defaultResolver='a'/><resolvers>{}</resolvers></ivysettings>"


@pytest.mark.parametrize(
    "part",
    [
        "<typedef name='a' classname='b.C'/>",
        "<classpath file='a.jar'/>",
        "<include url='http://evil/x.xml'/>",
        "<triggers><ant-call/></triggers>",
        "<properties environment='env'/>",
        "<x:typedef xmlns:x='http://ant.apache.org/ivy'/>",
    ],
)
def test_ivy_gets_no_code(tmp_path, part):
    (tmp_path / "ivy.xml").write_text(IVY.format(part))
    with pytest.raises(StreamhouseError, match="STREAMHOUSE_IVY_SETTINGS"):
        settings(tmp_path, "ivy_settings: ivy.xml\n")
    environment = {"STREAMHOUSE_IVY_SETTINGS": str(tmp_path / "ivy.xml")}
    (tmp_path / "streamhouse.yaml").unlink()
    assert load_settings(tmp_path, environment).ivy_settings == tmp_path / "ivy.xml"


def test_a_mirror_is_taken(tmp_path):
    mirror = IVY.format("<ibiblio name='a' m2compatible='true' root='https://mirror/maven2'/>")
    assert refused_part(mirror) is None
    assert refused_part("<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><ivysettings>&e;</ivysettings>")
    assert refused_part("no xml")


@pytest.mark.parametrize(
    ("host", "database"),
    [
        ("db:5432/x?socketFactory=a.B#", "shop"),
        ("db?x=1", "shop"),
        ("db&x=1", "shop"),
        ("db\0", "shop"),
        ("-c", "shop"),
        ("db", "shop?socketFactory=a.B"),
        ("db", "shop&loggerFile=/tmp/x"),
        ("db", "x host=evil"),
        ("db", "postgresql://evil/x"),
        ("db", "a\0"),
    ],
)
def test_a_captured_database_is_named_and_no_more(host, database):
    with pytest.raises(ValueError, match="pattern"):
        Connection(kind="postgres", host=host, database=database, user="me")


@pytest.mark.parametrize("host", ["db", "db-1.example.org", "10.0.0.1", "::1", "127.0.0.1"])
def test_usual_hosts_are_taken(host):
    assert Connection(kind="postgres", host=host, database="shop-1", user="me").host == host


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("['hu$h']", "no name of an environment variable"),
        ("{'hu$h': ['a:1']}", "no name of an environment variable"),
        ("KAFKA", "must be a mapping"),
        ("[[KAFKA]]", "must be a mapping"),
        ("{KAFKA: []}", "is empty"),
        ("{KAFKA: evil}", "must be a list"),
        ("{KAFKA: ['evil']}", "this is no server"),
        ("{KAFKA: ['user@evil:1']}", "this is no server"),
        ("{KAFKA: }", "has no value"),
    ],
)
def test_what_is_wrong_with_permitted_variables_is_said_once(tmp_path, text, message):
    with pytest.raises(StreamhouseError) as refused:
        settings(tmp_path, f"secret_variables: {text}\n")
    assert type(refused.value).__name__ == "FileFormatError"
    assert message in str(refused.value)
    assert "function-after" not in str(refused.value)


def test_names_alone_are_for_any_server(tmp_path):
    assert settings(tmp_path, "secret_variables: [A, B]\n").secret_variables == {"A": ("*",), "B": ("*",)}


def test_every_text_of_the_settings_is_of_one_line(tmp_path):
    """An object store, a catalog, Spark and a database take a second line for a setting, or a header, of its own."""
    for text in (
        r'object_store: {region: "a\nb"}',
        r'cold: {catalog: "http://h", warehouse: w, scope: "a\r\nX: b"}',
        r'warm: {warehouse: "w\nx"}',
        r'spark: {master: "local[2]\nspark.jars x"}',
        r'connections: {a: {kind: postgres, host: h, database: d, user: "u\nx", password: {file: p}}}',
        r'data_folders: ["a\u2028b"]',
        r'object_store: {region: "a\u001b[2Jb"}',
    ):
        with pytest.raises(StreamhouseError, match=r"control character|is not allowed"):
            settings(tmp_path, f"{text}\n")
