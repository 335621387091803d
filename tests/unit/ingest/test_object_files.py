"""What a source in an object store says before anything is asked, and what answers of such a store become."""

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml
from pydantic import ValidationError

from streamhouse.engine.rows_source import can_spread_changes
from streamhouse.errors import Location, SourceError, StoreUnavailableError
from streamhouse.ingest import object_reader
from streamhouse.ingest.counted_files import Counted, counted_objects
from streamhouse.ingest.files import open_files
from streamhouse.ingest.object_pattern import fixed_folder, matching
from streamhouse.model.object_connection import S3Connection
from streamhouse.model.plan import PlannedSource

COLUMNS = {"id": "bigint"}
AT = Location("flows/shop.yaml", 3, 5)
NAMES = ["b/a.csv", "b/x/a.csv", "b/x/.h/a.csv", "b/x/y/a.csv", "b/x/y/b.json", "b/z/a.csv", "b/.h/a.csv", "c/a.csv"]


def listing_of(names, asked):
    def listing(folder, recursive):
        asked.append((folder, recursive))
        below = [name for name in names if name.startswith(f"{folder}/")]
        rest = [(name, name[len(folder) + 1 :]) for name in below]
        yield from ((name, False) for name, left in rest if recursive or "/" not in left)
        folders = {left.partition("/")[0] for _, left in rest if "/" in left}
        yield from ((f"{folder}/{one}", True) for one in sorted(folders))

    return listing


@pytest.mark.parametrize(
    ("pattern", "found", "listed"),
    [
        ("b/*.csv", ["b/a.csv"], [("b", False)]),
        ("b/a.csv", ["b/a.csv"], [("b", False)]),
        ("b/[xy]/*.csv", ["b/x/a.csv"], [("b", False), ("b/x", False)]),
        ("b/*/y/*", ["b/x/y/a.csv", "b/x/y/b.json"], [("b", False), ("b/x/y", False), ("b/z/y", False)]),
        ("b/**/*.csv", ["b/a.csv", "b/x/a.csv", "b/x/y/a.csv", "b/z/a.csv"], [("b", True)]),
        ("b/x/**", ["b/x/a.csv", "b/x/y/a.csv", "b/x/y/b.json"], [("b/x", True)]),
        ("b/none/*.csv", [], [("b/none", False)]),
    ],
)
def test_only_folders_that_can_have_objects_are_listed(pattern, found, listed):
    asked = []
    assert sorted(matching(pattern, listing_of(NAMES, asked))) == found
    assert asked == listed
    assert fixed_folder(pattern) == listed[0][0]


def project(root, **more):
    place = {"kind": "s3", "paths": ["s3://landing/orders"], **more}
    (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": {"landing": place}}))
    return root


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "s3://landing/orders/*.csv"}, "connection: NAME"),
        ({"path": "s3://landing/orders/*.csv", "connection": "other"}, "there is no connection 'other'"),
        ({"path": "s3://landing/others/*.csv", "connection": "landing"}, "lies outside of what connection 'landing'"),
        ({"path": "s3://landing/orders-2/*.csv", "connection": "landing"}, "lies outside of what connection"),
        ({"path": "s3://landing/orders/**/**/**/a.csv", "connection": "landing"}, "more than 2"),
        ({"path": "s3://landing/orders/x/../../a.csv", "connection": "landing"}, "lies outside"),
        ({"path": "s3://landing/orders/./a.csv", "connection": "landing"}, "lies outside"),
        ({"path": "s3://landing/orders//a.csv", "connection": "landing"}, "lies outside"),
        ({"path": "s3://landing", "format": "csv", "connection": "landing"}, "names no object"),
        ({"path": "gs://landing/*.csv"}, "is no place that is read"),
        ({"path": "data/*.csv", "connection": "landing"}, "'connection' is of files in an object store"),
        ({"path": "data/*.csv", "every": "5s"}, "'every' is of files in an object store"),
    ],
)
def test_what_is_refused_before_anything_is_asked(tmp_path, options, message):
    with pytest.raises(SourceError) as refused:
        open_files({"columns": COLUMNS, **options}, project(tmp_path), at=AT)
    assert message in str(refused.value) + (refused.value.hint or "")
    assert refused.value.at == AT


def test_columns_have_to_be_declared(tmp_path):
    options = {"path": "s3://landing/orders/*.csv", "connection": "landing"}
    with pytest.raises(SourceError, match="need 'columns'") as refused:
        open_files(options, project(tmp_path), at=AT)
    assert "source infer" in refused.value.hint
    with pytest.raises(SourceError, match=r"lies outside"):
        open_files({**options, "path": "s3://landing/orders/../x.csv"}, project(tmp_path), at=AT)


def test_counts_outlive_a_process_and_a_damaged_line(tmp_path):
    (tmp_path / ".streamhouse").mkdir()
    counts = counted_objects(tmp_path, "csv")
    counts.put("a", Counted(3, 10, "e", 7))
    counts.put("b", Counted(4, 20, "f", 7))
    counts.moved("b", 9)
    (file,) = (tmp_path / ".streamhouse" / "cache" / "objects").iterdir()
    file.write_bytes(file.read_bytes().replace(b'"rows": 3', b'"rows": 4') + b"0000 {cut")
    again = counted_objects(tmp_path, "csv")
    assert again.get("a") is None, "it is counted again"
    assert again.get("b") == Counted(4, 20, "f", 9)
    assert counted_objects(tmp_path, "json").get("b") is None


@contextmanager
def answering(status, code):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>told by {code}</Message></Error>".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "code", "error", "message"),
    [
        (403, "AccessDenied", SourceError, "may not read"),
        (403, "InvalidAccessKeyId", SourceError, "may not read"),
        (403, "SignatureDoesNotMatch", SourceError, "may not read"),
        (404, "NoSuchBucket", SourceError, "has no bucket 'landing'"),
        (301, "PermanentRedirect", SourceError, "another region"),
        (400, "AuthorizationHeaderMalformed", SourceError, "another region"),
        (503, "SlowDown", StoreUnavailableError, "does not answer"),
        (500, "InternalError", StoreUnavailableError, "does not answer"),
    ],
)
def test_answers_become_errors_that_say_what_to_do(tmp_path, monkeypatch, status, code, error, message):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-of-a-key")
    with answering(status, code) as endpoint:
        options = {"path": "s3://landing/orders/*.csv", "connection": "landing", "columns": COLUMNS}
        source = open_files(options, project(tmp_path, endpoint=endpoint), at=AT)
        with pytest.raises(error) as refused:
            source.available()
    assert message in str(refused.value) + (refused.value.hint or "")
    assert "canary" not in f"{refused.value!r}{refused.value.__cause__!r}"
    assert error is StoreUnavailableError or refused.value.at == AT


@pytest.mark.parametrize("path", ["s3://landing/a/../b", "s3://landing/./a", "s3://landing//a", "s3://landing/*"])
def test_a_connection_permits_folders_alone(path):
    with pytest.raises(ValidationError, match=r"an empty part|is a pattern"):
        S3Connection(kind="s3", paths=(path,))


def test_a_server_that_never_answers_is_an_error_in_bounded_time(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-of-a-key")
    monkeypatch.setattr(object_reader, "_ANSWER_S", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        options = {"path": "s3://landing/orders/*.csv", "connection": "landing", "columns": COLUMNS}
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        source = open_files(options, project(tmp_path, endpoint=endpoint), at=AT)
        with pytest.raises(StoreUnavailableError, match="'landing' does not answer"):
            source.available()  # else it hangs, and the limit of pytest ends it
    attempts = object_reader._ATTEMPTS
    assert attempts * (object_reader._CONNECT_S + 30.0) <= 120, "with the limits of the product"


def test_only_the_driver_reads_objects():
    options = {"path": "s3://landing/orders/*.csv", "connection": "landing", "columns": COLUMNS}
    columns = [{"name": "id", "type": "bigint"}]
    stored = PlannedSource(name="o", kind="files", options=options, columns=columns)
    local = PlannedSource(name="o", kind="files", options={"path": "data/*.csv", "columns": COLUMNS}, columns=columns)
    assert not can_spread_changes(stored), "Spark's tasks have no keys"
    assert can_spread_changes(local)
