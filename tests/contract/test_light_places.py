"""Cold tables that a REST catalog knows and an object store holds, read without Spark; and what befalls the reader."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError, StoreUnavailableError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import NeedsSparkError
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import DatabaseTables, RestTables, tables_of
from streamhouse.stores.where import RowCondition
from tests.iceberg_rest import ID, SCOPE, SECRET, Catalog, rest_catalog
from tests.patience import PATIENCE_S
from tests.production import object_store, postgres

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

pytestmark = pytest.mark.services

COLUMNS = (Column(name="k", type="int"), Column(name="s", type="string"))
TABLE = Table(name="dwd.t", columns=COLUMNS, tiers=Tiers(cold="1d"))
ROWS = [{"k": n, "s": f"s{n}"} for n in range(4)]
NOBODY = "http://127.0.0.1:1"
LISTED = ("catalog_name", "table_namespace", "table_name", "metadata_location")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("light_places")
    with object_store(folder, "lake") as found, pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, found[name])
        yield found


@pytest.fixture(scope="module")
def catalog(store: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with rest_catalog(tmp_path_factory.mktemp("light_catalog"), "s3://lake/cold", store) as running:
        yield running


@pytest.fixture(scope="module")
def options(store: dict[str, str], catalog: Catalog) -> dict[str, str]:
    """As of the Spark catalog. The table TABLE is there."""
    found = {
        "type": "rest",
        "uri": catalog.url,
        "credential": f"{ID}:{SECRET}",
        "scope": SCOPE,
        "client.region": "us-east-1",
        "s3.endpoint": store["STREAMHOUSE_S3_ENDPOINT"],
    }
    ours = RestTables(found)._connected()
    ours.create_namespace("dwd")
    _made(ours, TABLE.name)
    return found


def _made(ours: "RestCatalog", name: str) -> Any:
    schema = pa.schema([("k", pa.int32()), ("s", pa.string())])
    made = ours.create_table(name, schema)
    made.append(pa.Table.from_pylist(ROWS, schema=schema))
    return made


def reader(options: dict[str, str], **other: str) -> IcebergReader:
    tables = tables_of({**options, **other})
    assert tables is not None
    return IcebergReader(tables)


def test_rows_history_and_files(options: dict[str, str], catalog: Catalog) -> None:
    light = reader(options)
    assert light.read_state(TABLE).to_pylist() == ROWS
    assert light.read_where(TABLE, light.end(TABLE), ("s",), [RowCondition("k", ">", (2,))]).to_pylist() == [
        {"s": "s3"}
    ]
    (file,) = light.list_files(TABLE)
    assert file.path.startswith("s3://lake/cold/dwd")
    assert light.columns("dwd.nowhere") is None
    assert light.columns("nowhere.nowhere") is None
    assert not catalog.refused


def test_nobody_is_asked_for_keys_of_the_store(options: dict[str, str]) -> None:
    """Not every catalog has some to give, and Iceberg's Java does not ask either."""
    asked: dict[str, str] = {}

    class Stub(_Quiet):
        def do_GET(self) -> None:
            asked.update(self.headers)
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)

        do_POST = do_GET  # noqa: N815

    with _served(Stub) as url, pytest.raises(StoreUnavailableError, match="fails"):
        reader({"type": "rest", "uri": url}).read_state(TABLE)
    assert "Host" in asked
    assert "X-Iceberg-Access-Delegation" not in asked
    assert "Authorization" not in asked


@pytest.mark.parametrize(
    ("other", "kind", "shown"),
    [
        ({"uri": f"{NOBODY}/api"}, StoreUnavailableError, "STREAMHOUSE_COLD_CATALOG"),
        ({"credential": f"{ID}:not-the-hush"}, StoreError, "unknown client or scope\n.*STREAMHOUSE_COLD_CREDENTIAL"),
        ({"scope": "another"}, StoreError, "unknown client or scope"),
        ({"s3.endpoint": NOBODY}, StoreUnavailableError, "STREAMHOUSE_S3_ENDPOINT"),
    ],
    ids=["catalog away", "wrong secret", "wrong scope", "store away"],
)
def test_what_is_away_or_refuses_is_told(
    options: dict[str, str], other: dict[str, str], kind: type[StoreError], shown: str
) -> None:
    with pytest.raises(StoreError, match=shown) as told:
        reader(options, **other).read_state(TABLE)
    assert type(told.value) is kind
    assert "hush" not in str(told.value)
    assert SECRET not in str(told.value)


def test_a_store_that_refuses_our_keys_is_told(options: dict[str, str]) -> None:
    class Forbidding(_Quiet):
        def do_GET(self) -> None:
            self.send_error(HTTPStatus.FORBIDDEN)

        do_HEAD = do_GET  # noqa: N815

    with _served(Forbidding) as url, pytest.raises(StoreError, match="AWS_ACCESS_KEY_ID"):
        reader(options, **{"s3.endpoint": url}).read_state(TABLE)


@pytest.mark.parametrize("silent", ["/v1/oauth/tokens", "/v1/config", "/v1/namespaces"])
def test_a_catalog_that_takes_requests_and_does_not_answer_is_told(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    over = Event()

    class Silent(_Quiet):
        def do_GET(self) -> None:
            if self.path.startswith(silent):
                over.wait(PATIENCE_S)
            self._tell({"defaults": {}, "overrides": {}})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith(silent):
                over.wait(PATIENCE_S)
            self._tell({"access_token": "t", "token_type": "bearer", "expires_in": 600})

        def _tell(self, told: dict[str, Any]) -> None:
            with suppress(OSError):
                self.send_response(HTTPStatus.OK)
                self.end_headers()
                self.wfile.write(json.dumps(told).encode())

    monkeypatch.setattr("streamhouse.stores.iceberg.rest_client.ANSWER_S", 0.5)
    with _served(Silent) as url:
        try:
            with pytest.raises(StoreUnavailableError, match="catalog of the cold tier does not answer"):
                reader(options, uri=url).read_state(TABLE)
        finally:
            over.set()


def test_a_file_that_is_gone_is_told(options: dict[str, str], store: dict[str, str]) -> None:
    made = _made(RestTables(options)._connected(), "dwd.gone")
    (task,) = made.scan().plan_files()
    _delete(store, task.file.file_path)
    with pytest.raises(StoreError, match="is gone"):
        reader(options).read_state(TABLE.model_copy(update={"name": "dwd.gone"}))


def test_a_catalog_that_signs_requests_is_left_to_spark(options: dict[str, str]) -> None:
    ours = RestTables(options)
    ours._catalog = ours._connected()
    loaded = ours._catalog.load_table

    def signing(name: str) -> Any:
        found = loaded(name)
        found.io.properties["s3.remote-signing-enabled"] = "true"
        return found

    ours._catalog.load_table = signing  # type: ignore[method-assign,assignment]
    with pytest.raises(NeedsSparkError, match="signs"):
        IcebergReader(ours).read_state(TABLE)


# What neither a local folder nor this catalog needs is not imported.
ALONE = """
import json, sys
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import tables_of

table = Table(name="dwd.t", columns=(Column(name="k", type="int"),), tiers=Tiers(cold="1d"))
rows = IcebergReader(tables_of(json.loads(sys.argv[1]))).read_state(table)
heavy = {"boto3", "fsspec", "pandas", "pyspark", "sqlalchemy"}
print(rows.num_rows, sorted(heavy & set(sys.modules)))
"""


def test_reading_imports_little_and_says_nothing(options: dict[str, str]) -> None:
    command = [sys.executable, "-W", "default", "-c", ALONE, json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["4 []"], done.stderr
    assert "Deprecat" not in done.stderr


@pytest.fixture(scope="module")
def database(options: dict[str, str]) -> Iterator[dict[str, str]]:
    """Options of a catalog in PostgreSQL that knows a table of the other one, and one whose bucket is not there."""
    from sqlalchemy import create_engine, text

    found = RestTables(options).table(TABLE.name)
    assert found is not None
    with postgres() as url:
        engine = create_engine(url)
        with engine.begin() as connection:
            named = ", ".join(f"{name} text" for name in LISTED)
            connection.execute(text(f"create table iceberg_tables ({named})"))
            for name, location in (("t", found.metadata_location), ("lost", "s3://nowhere/t/v.metadata.json")):
                row = {"name": name, "location": location}
                connection.execute(text("insert into iceberg_tables values ('cold', 'dwd', :name, :location)"), row)
        engine.dispose()
        host = url.partition("@")[2]
        files = {key: value for key, value in options.items() if key in ("client.region", "s3.endpoint")}
        yield {**files, "type": "jdbc", "uri": f"jdbc:postgresql://{host}?user=streamhouse&password=not-the-hush"}


def test_a_database_lists_tables(database: dict[str, str]) -> None:
    light = reader(database)
    assert isinstance(light._tables, DatabaseTables)
    assert light.read_state(TABLE).to_pylist() == ROWS
    assert light.columns("dwd.nowhere") is None
    with pytest.raises(StoreError, match="no bucket nowhere"):
        light.columns("dwd.lost")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda uri: "jdbc:postgresql://127.0.0.1:1/lake?password=not-the-hush", StoreUnavailableError),
        (lambda uri: uri.replace("user=streamhouse", "user=nobody"), StoreError),
        (lambda uri: uri.replace("/postgres?", "/none?"), StoreError),
    ],
    ids=["away", "unknown user", "unknown database"],
)
def test_a_database_that_is_away_or_refuses_is_told(
    database: dict[str, str], change: Callable[[str], str], kind: type[StoreError]
) -> None:
    with pytest.raises(StoreError, match="database with the catalog") as told:
        reader(database, uri=change(database["uri"])).read_state(TABLE)
    assert type(told.value) is kind
    assert "hush" not in str(told.value)


def test_a_database_without_tables_of_iceberg_has_none(database: dict[str, str]) -> None:
    assert reader(database, uri=database["uri"].replace("/postgres?", "/template1?")).columns(TABLE.name) is None


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def _served(answers: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server that answers so for the length of a block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _delete(store: dict[str, str], path: str) -> None:
    place = path.removeprefix("s3://")
    with urlopen(Request(f"{store['STREAMHOUSE_S3_ENDPOINT']}/{place}", method="DELETE")) as answer:
        assert answer.status == HTTPStatus.NO_CONTENT
