"""Tables of databases as sources: copies of them are compared. The database is in memory."""

import os
import time
from itertools import pairwise
from types import SimpleNamespace

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import Location, RowsLostError, SourceError, StoreUnavailableError
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.ingest.tables import copies, postgres_rows
from streamhouse.ingest.tables.database import StoredColumn
from streamhouse.ingest.tables.database_failures import DatabaseFailures
from streamhouse.ingest.tables.places import whole
from streamhouse.jobs.forget_remains import in_copies
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.stores.arrow import arrow_type

NAME = "public.orders"
OPTIONS = {"connection": "shop", "table": NAME, "mode": "snapshot_diff", "primary_key": ["id"]}
SHOP = {"kind": "postgres", "host": "db", "database": "shop", "user": "u", "password": {"environment": "SHOP_PASSWORD"}}
HERE = Location("flows/f.yaml", 4, 3)
ID = StoredColumn("id", "bigint", "bigint", "int8", nullable=False, id="1")
CITY = StoredColumn("city", "text", "string", "text", nullable=True, id="2")
POINT = StoredColumn("place", "point", None, "point", nullable=True, id="3")


class Database:
    """What a source asks of a database."""

    name = NAME

    def __init__(self):
        self.stored, self.rows, self.reads = (ID, CITY), {}, 0

    def columns(self):
        return self.stored

    def batches(self, columns):
        self.reads += 1
        schema = pa.schema([pa.field(one.name, arrow_type(one.type)) for one in columns])
        at = {"1": lambda key: key, "2": lambda key: self.rows[key]}
        keys = list(self.rows)
        for first in range(0, len(keys), 2):
            given = [
                pa.array([at[one.id](key) for key in keys[first : first + 2]], f.type)
                for one, f in zip(columns, schema, strict=True)
            ]
            yield pa.record_batch(given, schema=schema)


@pytest.fixture
def database(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_PASSWORD", "hush")
    (tmp_path / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": {"shop": SHOP}}))
    made = Database()
    made.root = tmp_path
    monkeypatch.setattr(postgres_rows, "PostgresRows", lambda *_: made)
    return made


def opened(database, later=True, **more):
    """A source of another process, by default when the next copy is due."""
    for file in database.root.rglob("looked") if later else ():
        os.utime(file, (0, 0))
    return open_source(Source(name="orders", kind="table", options={**OPTIONS, **more}, at=HERE), database.root)


def at(number):
    return whole(number).position


def test_changes_are_what_two_copies_differ_in(database):
    database.rows = {1: "a", 2: "b", 3: "c"}
    first = opened(database).available()
    assert first == at(1)
    database.rows = {1: "A", 3: "c", 4: "d"}
    source = opened(database)
    assert source.available() == at(2) == source.advance(first, 100)
    done = source.changes(first, at(2))
    assert done.upserts.to_pylist() == [{"id": 1, "city": "A"}, {"id": 4, "city": "d"}]
    assert done.deletes.to_pylist() == [{"id": 2}]
    assert done.before.to_pylist() == [{"id": 1, "city": "a"}, {"id": 2, "city": "b"}]
    database.rows = {}
    assert source.changes(first, at(2)).deletes.to_pylist() == [{"id": 2}], "the same at each call"
    assert opened(database).available() == at(3)
    assert opened(database).state(at(3)).num_rows == 0


def test_rows_that_are_the_same_are_no_copy_and_are_not_asked_for_too_often(database):
    database.rows = {1: "a"}
    assert opened(database).available() == at(1)
    assert opened(database).available() == at(1)
    assert database.reads == 2
    assert opened(database, later=False).available() == at(1)
    assert database.reads == 2
    looked = next(database.root.rglob("looked"))
    os.utime(looked, (time.time() - 100,) * 2)
    assert opened(database, later=False, every="1h").available() == at(1)
    assert database.reads == 2
    assert opened(database, later=False).available() == at(1)
    assert database.reads == 3


def test_the_first_rows_come_in_parts(database):
    database.rows = dict.fromkeys(range(7), "a")
    found = [{}]
    for number in range(4):
        found.append(opened(database).advance(found[-1], 4))
        database.rows[100 + number] = "later"
    assert found[1:3] == [{"snapshot": 1, "part": 2}, at(1)]
    have = {}
    for start, end in pairwise(found):
        done = opened(database).changes(start, end)
        have |= {row["id"]: row["city"] for row in done.upserts.to_pylist()}
        assert have == {row["id"]: row["city"] for row in opened(database).state(end).to_pylist()}


def test_columns_are_found_by_their_ids_and_news_reach_the_trigger(database):
    database.rows = {1: "a"}
    plan = PlannedSource(name="orders", kind="table", options=OPTIONS, columns=opened(database).columns())
    before = source_shape("f:orders", plan, database.root)
    opened(database).available()
    database.stored = (ID, StoredColumn("town", "text", "string", "text", nullable=True, id="2"))
    shape = source_shape("f:orders", plan, database.root)
    assert {one.id: one.name for one in shape.columns} == {"1": "id", "2": "town"}
    assert shape.version != before.version
    assert open_source(plan, database.root).state(at(1)).to_pylist() == [{"id": 1, "city": "a"}]
    assert opened(database, later=False).state(at(1)).to_pylist() == [{"id": 1, "town": "a"}]


def test_a_column_that_cannot_be_read_must_be_left_out(database):
    database.rows, database.stored = {1: "a"}, (ID, CITY, POINT)
    with pytest.raises(SourceError, match=r"column 'place' of public\.orders is point"):
        opened(database)
    source = opened(database, columns={"id": "bigint", "city": "string"})
    assert source.state(source.available()).to_pylist() == [{"id": 1, "city": "a"}]


def test_a_key_that_is_there_twice_is_refused(database):
    database.rows = {1: "a", 2: "a"}
    source = opened(database, primary_key=["city"])
    with pytest.raises(SourceError, match="more than one row with the key city='a'"):
        source.changes({}, source.advance({}, 1))


def test_a_copy_that_is_gone_is_an_error(database, monkeypatch):
    monkeypatch.setattr(copies, "MOST_COPIES", 2)
    for number in range(1, 5):
        database.rows = {1: str(number)}
        assert opened(database).available() == at(number)
    assert len(list(database.root.rglob("*.parquet"))) == 2
    with pytest.raises(RowsLostError, match="no longer has snapshot 1"):
        opened(database).advance(at(1), 10)
    with pytest.raises(RowsLostError, match="no longer has snapshot 1"):
        opened(database).changes(at(1), at(4))
    done = opened(database).changes(at(3), at(4))
    assert done.upserts.to_pylist() == [{"id": 1, "city": "4"}]


def test_no_number_is_given_twice(database):
    for number in range(3):
        database.rows = {1: str(number)}
        opened(database).available()
    for file in database.root.rglob("*.parquet"):
        file.unlink()
    assert opened(database).available() == at(4)
    with pytest.raises(RowsLostError, match="no longer has snapshot 3"):
        opened(database).advance(at(3), 10)


def test_a_process_that_dies_while_it_copies_leaves_nothing(database):
    database.rows = {1: "a", 2: "b", 3: "c"}
    opened(database).available()
    database.rows = {1: "x", 2: "y", 3: "z"}
    real = database.batches

    def dying(columns):
        yield next(iter(real(columns)))
        raise KeyboardInterrupt

    database.batches = dying
    with pytest.raises(KeyboardInterrupt):
        opened(database).available()
    database.batches = real
    assert opened(database, later=False).state(at(1)).to_pylist() == [
        {"id": i, "city": city} for i, city in ((1, "a"), (2, "b"), (3, "c"))
    ]
    assert opened(database).available() == at(2)
    assert [file.name for file in database.root.rglob("*.new")] == []


def test_copies_are_only_for_us_and_another_source_when_they_were_removed(database):
    database.rows = {1: "a"}
    source = opened(database)
    source.available()
    first = source.identity()
    for path in (database.root / ".streamhouse" / "tables" / "shop").rglob("*"):
        assert not path.stat().st_mode & 0o077, path
    assert opened(database).identity() == first
    [group] = (database.root / ".streamhouse" / "tables" / "shop" / NAME).glob("*/")
    group.rename(database.root / "aside")
    assert opened(database).identity() != first


def test_who_forgets_a_person_hears_of_older_copies(database):
    for number in range(3):
        database.rows = {1: str(number)}
        opened(database).available()
    planned = PlannedSource(name="orders", kind="table", options=OPTIONS, columns=opened(database).columns())
    found = SimpleNamespace(sources={("f", "orders")}, plans={"f": SimpleNamespace(sources=(planned,))})
    [remains] = in_copies(database.root / ".streamhouse" / "tables", found)
    assert (remains.where, remains.what) == (
        "copies for the source orders of f",
        "2 older copies of the table were not searched",
    )


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            OSError("connection to 'h' failed: hush"),
            StoreUnavailableError,
            "does not answer: connection to 'h' failed: ***",
        ),
        (OSError(1045, "denied for 'u' (hush)"), SourceError, "cannot be read: denied for 'u' (***)"),
        (OSError(), SourceError, "cannot be read: OSError"),
    ],
)
def test_no_message_has_the_password(error, kind, text):
    failures = DatabaseFailures(NAME, "shop", "hush", HERE)
    made = failures.away(error) if kind is StoreUnavailableError else failures.refused(error)
    assert isinstance(made, kind)
    assert text in made.message
    assert "hush" not in f"{made}"
