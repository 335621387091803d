"""Files in an object store give the rows, positions and errors that the same files give in a folder."""

import bz2
import gzip
import json
import os
from datetime import UTC, datetime
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pyarrow.fs import S3FileSystem

from streamhouse.errors import (
    EnvironmentProblem,
    Location,
    RowsLostError,
    SourceError,
    StoreUnavailableError,
    StreamhouseError,
)
from streamhouse.ingest.files import open_files
from streamhouse.ingest.inferred_columns import infer_files
from streamhouse.ingest.object_reader import ObjectRanges, ObjectReader, object_reader
from streamhouse.ingest.shapes import source_shape
from streamhouse.model.plan import PlannedSource
from tests.ports import take_ports
from tests.production import object_store

COLUMNS = {"id": "bigint", "name": "string", "at": "timestamp"}
BASE = "s3://lake/"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with object_store(tmp_path_factory.mktemp("objects"), "lake") as given:
        yield given


@pytest.fixture
def shop(server, tmp_path, monkeypatch):
    """A project with the connection `landing`; its folder `land` is what each test puts into the bucket, too."""
    monkeypatch.setenv("LANDING_ID", server["AWS_ACCESS_KEY_ID"])
    monkeypatch.setenv("LANDING_SECRET", server["AWS_SECRET_ACCESS_KEY"])
    (tmp_path / ".streamhouse").mkdir()
    connect(tmp_path, server["STREAMHOUSE_S3_ENDPOINT"])
    return Shop(tmp_path, server["STREAMHOUSE_S3_ENDPOINT"])


class Shop:
    def __init__(self, root, endpoint):
        self.root, self.folder = root, f"{root.parent.name}-{root.name}"
        self.endpoint = endpoint
        self._store = S3FileSystem(
            access_key=os.environ["LANDING_ID"],
            secret_key=os.environ["LANDING_SECRET"],
            endpoint_override=endpoint,
            region="us-east-1",
        )

    def put(self, name, data):
        """A file in the folder, and the same object."""
        file = self.root / self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.put_object(name, data)

    def put_object(self, name, data):
        with self._store.open_output_stream(f"lake/{self.folder}/{name}", compression=None) as out:
            out.write(data)

    def put_at_once(self, name, data):
        """As `put_object`, by one request where Arrow makes three; no signature is asked for."""
        url, form = f"{self.endpoint}/lake/{self.folder}/{name}", {"Content-Type": "application/octet-stream"}
        urlopen(Request(url, data=data, method="PUT", headers=form)).close()

    def remove_object(self, name):
        self._store.delete_file(f"lake/{self.folder}/{name}")

    def of_folder(self, pattern, **options):
        return open_files({"path": f"{self.folder}/{pattern}", "columns": COLUMNS, **options}, self.root)

    def of_objects(self, pattern, **options):
        path = f"{BASE}{self.folder}/{pattern}"
        given = {"path": path, "connection": "landing", "every": "1ms", "columns": COLUMNS, **options}
        return open_files(given, self.root)


def connect(root, endpoint, **more):
    place = {"kind": "s3", "paths": ["s3://lake"], "endpoint": endpoint, **more}
    keys = {"access_key": {"environment": "LANDING_ID"}, "secret_key": {"environment": "LANDING_SECRET"}}
    (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": {"landing": keys | place}}))


def csv_of(numbers):
    return ("id,name,at\n" + "".join(f"{n},n{n},2026-01-01T00:00:{n % 60:02}Z\n" for n in numbers)).encode()


def json_of(numbers):
    rows = ({"id": n, "name": f"n{n}", "at": "2026-01-01T00:00:00Z"} for n in numbers)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet_of(numbers, **options):
    times = [datetime(1955, 1, 1, tzinfo=UTC)] * len(numbers)
    sink = pa.BufferOutputStream()
    rows = {"id": list(numbers), "name": [f"n{n}" for n in numbers], "other": [n / 2 for n in numbers], "at": times}
    pq.write_table(pa.table(rows), sink, row_group_size=4, **options)
    return sink.getvalue().to_pybytes()


def drain(source, max_rows, position=None):
    """Each range that the source gives, and its rows."""
    position, found = position or {}, []
    while (end := source.advance(position, max_rows)) != position:
        found.append((end, source.read(position, end).to_pylist()))
        position = end
    return found


def without(base, found):
    """Ranges with names that do not say where the files are."""
    return [({name.removeprefix(base): rows for name, rows in end.items()}, rows) for end, rows in found]


FILES = [
    ("*.csv", "day-{}.csv", csv_of),
    ("*.jsonl", "day-{}.jsonl", json_of),
    ("*.parquet", "day-{}.parquet", parquet_of),
    ("*.parquet", "day-{}.parquet", lambda numbers: parquet_of(numbers, use_deprecated_int96_timestamps=True)),
    ("*.csv.gz", "day-{}.csv.gz", lambda numbers: gzip.compress(csv_of(numbers))),
    ("*.jsonl.bz2", "day-{}.jsonl.bz2", lambda numbers: bz2.compress(json_of(numbers))),
    ("**/*.csv", "region {}/1+1%.csv", csv_of),
    ("**/*.csv", "a+b c=d&e/{}%20%2F?#'~€ü日.csv", csv_of),
    ("2026-*/[a-b]?.csv", "2026-{}/a1.csv", csv_of),
]


@pytest.mark.parametrize(("pattern", "name", "write"), FILES)
def test_rows_and_positions(shop, pattern, name, write):
    for at, number in enumerate((10, 9, 100)):  # numbers in names count as numbers
        shop.put(name.format(number), write(range(at * 10, at * 10 + 6)))
    for passed_over in ("_part.csv", ".hidden.csv", "empty.csv"):
        shop.put(passed_over, b"" if passed_over == "empty.csv" else b"id\n1\n")
    for max_rows in (4, 1000):
        ours = drain(shop.of_objects(pattern), max_rows)
        assert without(f"{BASE}{shop.folder}/", ours) == without(
            f"{shop.folder}/", drain(shop.of_folder(pattern), max_rows)
        )
        assert sum(len(rows) for _, rows in ours) == 18
    assert shop.of_objects(pattern).read({}, shop.of_objects(pattern).available(), ("id",)).num_rows == 18


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"id,name,at\n1,a,2026-01-01\nx,b,2026-01-01\n"),
        ("a.jsonl", b'{"id": 1}\n{"id": "x"}\n'),
        ("a.csv.gz", gzip.compress(csv_of(range(2000)))[:-40]),
        ("a.csv", b"PK\x03\x04" + bytes(60)),
        ("a.parquet", b"id,name\n1,2\n"),
        ("a.parquet", parquet_of(range(8))[:-20]),
    ],
)
def test_errors_name_file_and_line(shop, name, data):
    shop.put(name, data)
    said = []
    for source in (shop.of_folder(name), shop.of_objects(name)):
        with pytest.raises(SourceError) as refused:
            source.available()
        said.append((str(refused.value.at), str(refused.value), refused.value.hint))
    theirs = [text.replace(f"{shop.folder}/", f"{BASE}{shop.folder}/", 1) for text in said[0][:2]]
    assert theirs == list(said[1][:2])
    assert said[0][2] == said[1][2]


def test_dead_letters(shop):
    shop.put("a.csv", b"id,name,at\n1,a,2026-01-01\nx,b,2026-01-01\n3,c,2026-01-01\n")
    bad = []
    for source in (
        shop.of_folder("*.csv", on_bad_rows="dead_letter"),
        shop.of_objects("*.csv", on_bad_rows="dead_letter"),
    ):
        end = source.available()
        assert source.read({}, end)["id"].to_pylist() == [1, 3]
        (letter,) = source.bad_rows({}, end)
        bad.append((letter.letter.position.rpartition("/")[2], letter.letter.raw, letter.reason, letter.message))
    assert bad[0] == bad[1]


def test_a_restart_counts_nothing_again_and_knows_what_was_replaced(shop, monkeypatch):
    shop.put("1.csv", csv_of(range(5)))
    ((end, _),) = drain(shop.of_objects("*.csv"), 100)
    shop.put("2.csv", csv_of(range(5, 8)))
    looked = []
    look = ObjectReader._look
    monkeypatch.setattr(ObjectReader, "_look", lambda self, url: (looked.append(url), look(self, url))[1])
    assert [row["id"] for _, rows in drain(shop.of_objects("*.csv"), 2, end) for row in rows] == [5, 6, 7]
    assert not [url for url in looked if url.endswith("/1.csv")]
    shop.put_object("1.csv", csv_of(range(50, 55)))
    shop.put_object("2.csv", csv_of(range(5, 8)))  # the same content again is the same object
    with pytest.raises(SourceError, match=r"1\.csv.*replaced after it was first read"):
        shop.of_objects("1.csv").read({}, shop.of_objects("1.csv").available())
    assert shop.of_objects("2.csv").available() == {f"{BASE}{shop.folder}/2.csv": 3}


def test_an_object_that_is_gone(shop):
    shop.put("1.csv", csv_of(range(5)))
    end, said = shop.of_objects("*.csv").available(), []
    local = shop.of_folder("*.csv").available()
    shop.remove_object("1.csv")
    (shop.root / shop.folder / "1.csv").unlink()
    for source, position in ((shop.of_folder("*.csv"), local), (shop.of_objects("*.csv"), end)):
        with pytest.raises(RowsLostError, match="is gone, with rows not read yet") as refused:
            source.read({}, position)
        said.append(str(refused.value))
    assert said[0].replace(f"{shop.folder}/", f"{BASE}{shop.folder}/") == said[1]
    assert shop.of_objects("*.csv").advance(end, 10) == end, "what was read is read"


def test_an_object_that_is_replaced_between_listing_and_read(shop):
    for name, write in (("1.csv", csv_of), ("1.jsonl", json_of), ("1.parquet", parquet_of)):
        shop.put_object(name, write(range(10, 15)))
        source = shop.of_objects(name)
        end = source.available()
        shop.put_object(name, write(range(20, 25)))  # of the same size
        for again in (source, shop.of_objects(name)):
            with pytest.raises(SourceError, match="replaced after it was first read"):
                again.read({}, end)
        shop.put_object(name, write(range(10, 15)))
        assert [row["id"] for row in shop.of_objects(name).read({}, end).to_pylist()] == list(range(10, 15))


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_an_object_that_changes_while_it_is_read(shop, monkeypatch, change):
    """Arrow asks for ranges without saying of which content: what came after the change is not taken."""
    shop.put_object("1.csv", csv_of(range(10, 15)))
    source = shop.of_objects("1.csv")
    read = ObjectRanges.read

    def changed_before(self, size=-1):
        shop.put_object("1.csv", csv_of(range(20, 25))) if change == "replaced" else shop.remove_object("1.csv")
        return read(self, size)

    monkeypatch.setattr(ObjectRanges, "read", changed_before)
    error = SourceError if change == "replaced" else RowsLostError
    with pytest.raises(error, match=r"replaced after|is gone"):
        source.available()


def test_listings_of_several_pages(shop):
    for n in range(1201):
        shop.put_at_once(f"many/{n:05}.csv", b"x")
    for pattern in ("many/*.csv", "**/*.csv"):
        names = list(
            object_reader("landing", f"{BASE}{shop.folder}/{pattern}", shop.root).listed(
                f"{BASE}{shop.folder}/{pattern}"
            )
        )
        assert names == [f"{BASE}{shop.folder}/many/{n:05}.csv" for n in range(1201)]


def test_a_look_lists_once_however_many_objects_there_are(shop, monkeypatch):
    for n in range(5):
        shop.put_object(f"{n}.csv", csv_of([n]))
    source, listed, list_ = shop.of_objects("*.csv"), [], ObjectReader._list
    monkeypatch.setattr(ObjectReader, "_list", lambda *given: (listed.append(given), list_(*given))[1])
    assert len(source.available()) == 5
    assert len(listed) == 1


def test_a_name_that_may_lead_elsewhere(shop):
    source = shop.of_objects("*.csv")
    for name in (f"{BASE}{shop.folder}/../x.csv", "s3://other/x.csv", f"{BASE}{shop.folder}//x.csv"):
        with pytest.raises(SourceError, match="lies outside of what connection 'landing' permits"):
            source.read({}, {name: 1})


def test_a_name_with_an_empty_part(shop):
    shop.put_at_once("deep/1.csv", csv_of(range(3)))
    shop.put_at_once("deep//2.csv", csv_of(range(3)))
    with pytest.raises(SourceError, match=r"deep//2\.csv"):
        shop.of_objects("deep/**/*.csv").available()


def test_a_folder_without_objects_has_no_rows_and_no_bucket_is_an_error(shop):
    assert shop.of_objects("none-yet/*.csv").available() == {}
    for pattern in ("s3://nowhere/*.csv", "s3://nowhere/a/**/*.csv", "s3://nowhere/a.csv"):
        connect(shop.root, shop.endpoint, paths=["s3://nowhere"])
        options = {"path": pattern, "connection": "landing", "columns": COLUMNS}
        with pytest.raises(SourceError, match="connection 'landing' has no bucket 'nowhere'") as refused:
            open_files(options, shop.root, at=Location("flows/shop.yaml", 3, 5)).available()
        assert refused.value.at == Location("flows/shop.yaml", 3, 5)


def test_columns_are_found_and_looked_at(shop):
    shop.put("1.csv", csv_of(range(5)))
    path = f"{BASE}{shop.folder}/*.csv"
    found = infer_files(path, shop.root)
    assert {column.name: column.type for column in found.columns} == {
        "id": "bigint",
        "name": "string",
        "at": "timestamp",
    }
    options = {"path": path, "connection": "landing", "columns": {"id": "bigint"}, "every": "1ms"}
    planned = PlannedSource(name="o", kind="files", options=options, columns=[{"name": "id", "type": "bigint"}])
    shape = source_shape("f:o", planned, shop.root)
    assert [column.name for column in shape.columns] == ["id"]
    assert [column.name for column, _ in shape.unknown] == ["name", "at"]


def test_who_does_not_answer_or_refuses(shop, monkeypatch):
    (port,) = take_ports(1)
    connect(shop.root, f"http://127.0.0.1:{port}")
    with pytest.raises(StoreUnavailableError, match="'landing' does not answer"):
        shop.of_objects("*.csv").available()
    connect(shop.root, f"http://127.0.0.1:{port}", region="eu-central-1")
    monkeypatch.delenv("LANDING_SECRET")
    with pytest.raises(EnvironmentProblem, match="LANDING_SECRET is not set"):
        shop.of_objects("*.csv").available()


def test_no_file_of_the_project_has_the_keys(shop, server):
    shop.put("1.csv", csv_of(range(5)))
    drain(shop.of_objects("*.csv"), 2)
    with pytest.raises(StreamhouseError) as refused:
        open_files({"path": "s3://lake/x/a.parquet", "connection": "landing", "columns": COLUMNS}, shop.root).read(
            {}, {"s3://lake/x/a.parquet": 1}
        )
    secret = server["AWS_SECRET_ACCESS_KEY"]
    assert secret not in repr(refused.value) + str(refused.value.__cause__)
    written = [file for file in shop.root.rglob("*") if file.is_file()]
    assert [file for file in written if "objects" in file.parts], "the rows that were counted"
    assert not [file for file in written if secret.encode() in file.read_bytes()]
    assert os.environ["LANDING_SECRET"] == secret
