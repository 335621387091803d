"""Iceberg tables of others as sources, on real tables that PyIceberg wrote."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from streamhouse.errors import Location, RowsLostError, SourceError, StreamhouseError
from streamhouse.ingest.base import ForgetfulSource, KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.ingest.tables import base
from streamhouse.ingest.tables.failures import Failures
from streamhouse.ingest.tables.iceberg_files import IcebergFiles, IcebergSeen
from streamhouse.ingest.tables.places import whole
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.stores.iceberg.tables import FolderTables
from tests.other_lakes import IcebergLake, contents

NAME = "sales.orders"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("n", pa.int32())])
PLAIN = {"connection": "lake", "table": NAME}
KEYED = {**PLAIN, "mode": "snapshot_diff", "primary_key": ["id"]}
SHOP = {"kind": "postgres", "host": "db", "database": "shop", "user": "u"}
HERE = Location("flows/f.yaml", 4, 3)


def rows(*given):
    return pa.Table.from_pylist([{"id": i, "name": name, "n": n} for i, name, n in given], schema=SCHEMA)


def settings(root, **connections):
    known = {"lake": {"kind": "iceberg", "warehouse": "lake"}, **connections}
    (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": known}))


@pytest.fixture
def lake(tmp_path):
    settings(tmp_path)
    made = IcebergLake(tmp_path / "lake")
    made.create(NAME, SCHEMA)
    made.root = tmp_path
    return made


def opened(lake, options=PLAIN, **more):
    return open_source(Source(name="orders", kind="table", options={**options, **more}, at=HERE), lake.root)


def planned(lake, options=PLAIN, columns=None, **more):
    found = columns or opened(lake, options).columns()
    return PlannedSource(name="orders", kind="table", options=options, columns=found, **more)


def at(number):
    """The position where a snapshot was read as a whole."""
    return whole(number).position


def values(table):
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def metadata_file(lake, name):
    folder = lake.folder / name.replace(".", "/") / "metadata"
    return folder / f"v{(folder / 'version-hint.text').read_text()}.metadata.json"


def declared(lake, name):
    """The metadata of a table as its newest file has them."""
    return json.loads(metadata_file(lake, name).read_text())


def declare(lake, name, **changed):
    """Change the metadata, as a library would that writes what PyIceberg does not."""
    metadata_file(lake, name).write_text(json.dumps({**declared(lake, name), **changed}))


class TestAppend:
    def test_each_range_has_the_rows_of_its_snapshots(self, lake):
        assert opened(lake).available() == {}
        lake.append(NAME, rows((1, "a", 1), (2, "b", 2)))
        lake.append(NAME, rows((3, "c", 3)))
        source = opened(lake)
        assert isinstance(source, ForgetfulSource)
        assert not isinstance(source, KeyedSource)
        assert [(c.name, c.type) for c in source.columns()] == [("id", "bigint"), ("name", "string"), ("n", "int")]
        assert source.available() == at(2)
        assert values(source.read({}, {"snapshot": 2})) == [(1, "a", 1), (2, "b", 2), (3, "c", 3)]
        assert values(source.read({"snapshot": 1}, {"snapshot": 2}, ("name",))) == [("c",)]
        assert source.rows_between({}, {"snapshot": 2}) == 3
        assert source.rows_between({"snapshot": 1}, {"snapshot": 2}) == 1
        lake.append(NAME, rows((4, "d", 4)))
        assert values(source.read({"snapshot": 1}, {"snapshot": 2})) == [(3, "c", 3)], "the same at each call"

    def test_an_epoch_takes_whole_snapshots(self, lake):
        for i in range(4):
            lake.append(NAME, rows((i, "a", 1), (10 + i, "b", 2)))
        source = opened(lake)
        assert source.advance({}, 100) == at(4), "the first one takes the rows that are there"
        assert source.advance({"snapshot": 1}, 1) == at(2)
        assert source.advance({"snapshot": 1}, 5) == at(3)
        assert source.advance(at(4), 5) == at(4)

    def test_a_position_of_before_gets_its_parts_by_an_epoch_without_rows(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        source, old = opened(lake), {"snapshot": 1}
        assert source.advance(old, 5) == at(1)
        assert source.rows_between(old, at(1)) == 1
        assert source.read(old, at(1)).num_rows == 0
        assert source.rows_between(at(1), at(1)) == 0

    def test_a_snapshot_without_rows_is_passed(self, lake):
        """Else a reader would stay before it until it expires."""
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, SCHEMA.empty_table())
        source = opened(lake)
        assert source.rows_between(at(1), source.available()) == 1
        assert source.advance(at(1), 10) == at(2)
        assert source.read(at(1), at(2)).num_rows == 0

    @pytest.mark.parametrize("change", ["delete", "overwrite"])
    def test_rows_that_are_removed_stop_it_after_those_before(self, lake, change):
        lake.append(NAME, rows((1, "a", 1), (2, "b", 2)))
        lake.append(NAME, rows((3, "c", 3)))
        lake.delete(NAME, "id = 1") if change == "delete" else lake.overwrite(NAME, rows((9, "z", 9)))
        source = opened(lake)
        assert source.advance({"snapshot": 1}, 100) == at(2)
        with pytest.raises(SourceError, match=r"snapshot 3 of sales.orders removed rows") as refused:
            source.advance({"snapshot": 2}, 100)
        assert "mode: snapshot_diff" in refused.value.hint
        assert refused.value.at == HERE
        with pytest.raises(SourceError, match="removed rows"):
            source.read({"snapshot": 2}, {"snapshot": 3})

    def test_a_snapshot_that_expired_unread_is_an_error(self, lake):
        for i in range(4):
            lake.append(NAME, rows((i, "a", 1)))
        lake.expire(NAME, [1, 2, 3])
        source = opened(lake)
        for ask in (
            lambda: source.advance({"snapshot": 2}, 9),
            lambda: source.read({"snapshot": 2}, {"snapshot": 4}),
            lambda: source.rows_between({"snapshot": 2}, {"snapshot": 4}),
        ):
            with pytest.raises(RowsLostError, match="no longer has each snapshot after 2") as lost:
                ask()
            assert "max-snapshot-age-ms" in lost.value.hint
        assert source.oldest() == {"snapshot": 3}
        assert values(source.read({"snapshot": 3}, {"snapshot": 4})) == [(3, "a", 1)], "its start may be gone"

    def test_a_person_may_go_on_behind_what_is_lost(self, lake):
        for i in range(4):
            lake.append(NAME, rows((i, "a", 1)))
        lake.expire(NAME, [1, 2])
        source = open_source(planned(lake, given_up={"snapshot": ((1, 2),)}), lake.root)
        assert source.advance({"snapshot": 1}, 1) == at(3)
        assert values(source.read({"snapshot": 1}, {"snapshot": 4})) == [(2, "a", 1), (3, "a", 1)]

    def test_a_file_that_is_gone_is_an_error(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, rows((2, "a", 1)))
        for file in (lake.root / "lake").rglob("*.parquet"):
            file.unlink()
        with pytest.raises(RowsLostError, match=r"a file of sales.orders is gone"):
            opened(lake).read({"snapshot": 1}, {"snapshot": 2})

    def test_a_table_that_went_back_is_an_error(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        first = lake.table(NAME).metadata.current_snapshot_id
        lake.append(NAME, rows((2, "a", 1)))
        lake.table(NAME).manage_snapshots().set_current_snapshot(first).commit()
        lake.publish(NAME)
        with pytest.raises(SourceError, match="went back to snapshot 1"):
            opened(lake).advance({"snapshot": 2}, 10)
        lake.append(NAME, rows((3, "a", 1)))
        with pytest.raises(RowsLostError, match="another history"):
            opened(lake).read({"snapshot": 2}, {"snapshot": 3})


def steps(lake, options, max_rows, between=lambda: None):
    """How a reader goes to the end, as another process at each step: its positions."""
    reached = [{}]
    while (end := opened(lake, options).advance(reached[-1], max_rows)) != reached[-1]:
        assert opened(lake, options).rows_between(reached[-1], end) > 0
        reached.append(end)
        between()
    return reached


class TestFirstRows:
    """A reader that begins takes the rows that are there by parts."""

    @pytest.mark.parametrize("options", [PLAIN, KEYED], ids=["append", "snapshot_diff"])
    @pytest.mark.parametrize(("max_rows", "parts"), [(3, [1, 2, 3, 4]), (7, [3, 4]), (8, [4])])
    def test_no_epoch_has_more_rows_than_it_may(self, lake, options, max_rows, parts):
        for i in range(4):
            lake.append(NAME, rows((i, "a", 1), (10 + i, "b", 2)))
        found = steps(lake, options, max_rows)
        assert found == [{}, *({"snapshot": 4, "part": n} for n in parts[:-1]), at(4)]
        taken = [opened(lake, options).read(*bounds) for bounds in pairwise(found)]
        assert [part.num_rows for part in taken] == [2 * (b - a) for a, b in zip([0, *parts], parts, strict=False)]
        assert values(pa.concat_tables(taken)) == values(opened(lake, options).read({}, at(4)))
        assert sum(opened(lake, options).rows_between(*b) for b in pairwise(found)) == 8

    @pytest.mark.parametrize("options", [PLAIN, KEYED], ids=["append", "snapshot_diff"])
    def test_a_large_file_is_read_in_pieces(self, lake, options, monkeypatch):
        monkeypatch.setattr(base, "PART_ROWS", 4)
        for i in range(3):
            lake.append(NAME, rows(*((10 * i + n, "a", n) for n in range(10))))
        found = steps(lake, options, 9)
        taken = [opened(lake, options).read(*bounds) for bounds in pairwise(found)]
        assert max(part.num_rows for part in taken) <= 9
        assert values(pa.concat_tables(taken)) == values(opened(lake, options).read({}, at(3)))
        assert [opened(lake, options).rows_between(*b) for b in pairwise(found)] == [part.num_rows for part in taken]
        names = [opened(lake, options).read(*bounds, ("name",)) for bounds in pairwise(found)]
        assert [part.num_rows for part in names] == [part.num_rows for part in taken]

    def test_what_happens_meanwhile_comes_after_them(self, lake):
        for i in range(3):
            lake.append(NAME, rows((i, "a", 1), (10 + i, "b", 2)))
        changes = iter(
            [
                lambda: lake.delete(NAME, "id = 10"),
                lambda: lake.upsert(NAME, rows((1, "A", 1), (50, "new", 5)), ["id"]),
                lambda: None,
            ]
        )
        found = steps(lake, KEYED, 2, lambda: next(changes, lambda: None)())
        assert found[1:4] == [{"snapshot": 3, "part": 1}, {"snapshot": 3, "part": 2}, at(3)]
        have = {}
        for start, end in pairwise(found):
            done = opened(lake, KEYED).changes(start, end)
            assert {row["id"]: row for row in done.before.to_pylist()} == {
                row["id"]: have[row["id"]]
                for row in [*done.upserts.to_pylist(), *(done.deletes.to_pylist() if done.deletes else [])]
                if row["id"] in have
            }
            have |= {row["id"]: row for row in done.upserts.to_pylist()}
            for row in done.deletes.to_pylist() if done.deletes is not None else []:
                del have[row["id"]]
            state = opened(lake, KEYED).state(end)
            assert values(state) == sorted((tuple(row.values()) for row in have.values()), key=repr)
        assert sorted(have) == [0, 1, 2, 11, 12, 50]

    def test_a_range_may_begin_among_them_and_end_after_them(self, lake):
        for i in range(3):
            lake.append(NAME, rows((i, "a", 1)))
        middle = opened(lake).advance({}, 1)
        lake.append(NAME, rows((3, "d", 1)))
        read = values(opened(lake).read({}, middle)) + values(opened(lake).read(middle, at(4)))
        assert sorted(read) == [(0, "a", 1), (1, "a", 1), (2, "a", 1), (3, "d", 1)]
        lake.delete(NAME, "id = 2")
        lake.upsert(NAME, rows((0, "A", 1)), ["id"])
        source = opened(lake, KEYED)
        have = {row["id"]: row for row in source.state(middle).to_pylist()}
        done = source.changes(middle, source.available())
        have |= {row["id"]: row for row in done.upserts.to_pylist()}
        for row in done.deletes.to_pylist() if done.deletes is not None else []:
            have.pop(row["id"], None)
        assert {key: row["name"] for key, row in have.items()} == {0: "A", 1: "a", 3: "d"}

    def test_a_snapshot_that_expires_before_all_parts_were_read_is_an_error(self, lake):
        for i in range(3):
            lake.append(NAME, rows((i, "a", 1)))
        for options in (PLAIN, KEYED):
            middle = {"snapshot": 2, "part": 1}
            assert opened(lake, options).advance(middle, 1) == at(2)
        lake.expire(NAME, [1, 2])
        for options in (PLAIN, KEYED):
            with pytest.raises(RowsLostError, match="no longer has snapshot 2"):
                opened(lake, options).advance(middle, 1)

    def test_a_key_in_two_parts_is_refused_before_the_first_row(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, rows((2, "b", 1)))
        lake.append(NAME, rows((1, "c", 1)))
        source = opened(lake, KEYED)
        with pytest.raises(SourceError, match="more than one row with the key id=1"):
            source.changes({}, source.advance({}, 1))


class TestSnapshotDiff:
    def test_changes_lead_from_one_state_to_the_next(self, lake):
        lake.append(NAME, rows((1, "a", 1), (2, "b", 2), (3, "c", 3)))
        lake.append(NAME, rows((7, "g", 7)))
        lake.delete(NAME, "id = 2")
        lake.upsert(NAME, rows((1, "A", 1), (4, "d", 4)), ["id"])
        source = opened(lake, KEYED)
        assert isinstance(source, KeyedSource)
        assert source.primary_key == ("id",)
        end = source.available()
        done = source.changes({"snapshot": 2}, end)
        assert values(done.upserts) == [(1, "A", 1), (4, "d", 4)]
        assert values(done.deletes) == [(2,)]
        assert values(done.before) == [(1, "a", 1), (2, "b", 2)]
        assert values(source.state(end)) == [(1, "A", 1), (3, "c", 3), (4, "d", 4), (7, "g", 7)]
        assert values(source.state({"snapshot": 1}, ("n",))) == [(1, 1), (2, 2), (3, 3)]
        first = source.changes({}, end, before=False)
        assert values(first.upserts) == values(source.state(end))
        assert first.deletes is None
        assert values(source.read({"snapshot": 2}, end, ("name",))) == [(1, "A"), (4, "d")]

    def test_columns_that_are_not_read_change_nothing(self, lake):
        lake.append(NAME, rows((1, "a", 1), (2, "b", 2)))
        lake.overwrite(NAME, rows((1, "a", 5), (2, "B", 2)))
        source = opened(lake, KEYED)
        done = source.changes({"snapshot": 1}, source.available(), ("name",))
        assert values(done.upserts) == [(2, "B")]
        assert done.deletes is None

    def test_a_key_that_is_there_twice_is_refused(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, rows((1, "b", 2)))
        source = opened(lake, KEYED)
        for ask in (
            lambda: source.changes({"snapshot": 1}, {"snapshot": 2}),
            lambda: source.state({"snapshot": 2}),
        ):
            with pytest.raises(SourceError, match=r"more than one row with the key id=1") as refused:
                ask()
            assert "primary_key" in refused.value.hint

    def test_a_key_without_a_value_is_refused(self, lake):
        lake.append(NAME, rows((None, "a", 1)))
        with pytest.raises(SourceError, match="column 'id' has no value"):
            opened(lake, KEYED).state({"snapshot": 1})

    def test_without_the_snapshot_before_there_is_no_difference(self, lake):
        for i in range(3):
            lake.append(NAME, rows((i, "a", 1)))
        lake.expire(NAME, [1, 2])
        source = opened(lake, KEYED)
        for ask in (
            lambda: source.advance({"snapshot": 2}, 9),
            lambda: source.changes({"snapshot": 2}, {"snapshot": 3}),
        ):
            with pytest.raises(RowsLostError, match="no longer has snapshot 2, with which"):
                ask()


class TestColumns:
    def test_renamed_dropped_and_wider_columns_are_found_by_their_ids(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        with lake.table(NAME).update_schema() as change:
            from pyiceberg.types import LongType

            change.update_column("n", LongType())
            change.rename_column("name", "title")
            change.add_column("note", LongType())
        lake.publish(NAME)
        now = opened(lake)
        assert [(c.name, c.type) for c in now.columns()] == [
            ("id", "bigint"), ("title", "string"), ("n", "bigint"), ("note", "bigint"),
        ]  # fmt: skip
        assert values(now.read({}, {"snapshot": 1}, ("id", "title"))) == [(1, "a")]
        assert now.read({}, {"snapshot": 1}, ("note",)).to_pylist() == [{"note": None}]
        before = (Column(name="name", type="string"), Column(name="n", type="int"))
        old = open_source(planned(lake, columns=before), lake.root)
        assert values(old.read({}, {"snapshot": 1})) == [("a", 1)], "a plan of before reads what it read before"

    def test_a_value_that_no_longer_fits_is_an_error(self, lake):
        with lake.table(NAME).update_schema() as change:
            from pyiceberg.types import LongType

            change.update_column("n", LongType())
        lake.publish(NAME)
        wide = SCHEMA.set(2, pa.field("n", pa.int64()))
        lake.append(NAME, pa.Table.from_pylist([{"id": 1, "name": "a", "n": 1 << 40}], schema=wide))
        source = open_source(planned(lake, columns=(Column(name="n", type="int"),)), lake.root)
        with pytest.raises(SourceError, match=r"column 'n' of sales.orders does not fit int: 1099511627776"):
            source.read({}, {"snapshot": 1})

    def test_the_trigger_sees_columns_before_their_rows(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        some = {**PLAIN, "columns": {"id": "bigint", "name": "string"}}
        first = source_shape("f:orders", planned(lake, some), lake.root)
        assert [c.name for c in first.columns] == ["id", "name"]
        assert [c.name for c, _ in first.unknown] == ["n"]
        with lake.table(NAME).update_schema() as change:
            from pyiceberg.types import StringType

            change.rename_column("name", "title")
            change.add_column("note", StringType())
        lake.publish(NAME)
        then = source_shape("f:orders", planned(lake, some, columns=opened(lake).columns()), lake.root)
        assert [(c.name, c.id) for c in then.columns] == [("id", "1"), ("title", first.columns[1].id)]
        assert [c.name for c, _ in then.unknown] == ["n", "note"]
        assert then.version != first.version
        every = source_shape("f:orders", planned(lake), lake.root)
        assert [c.name for c in every.columns] == ["id", "title", "n", "note"]
        assert every.unknown == ()

    @pytest.mark.parametrize(
        ("more", "message", "hint"),
        [
            ({"columns": {"idd": "bigint"}}, "sales.orders has no column 'idd'", "did you mean 'id'?"),
            ({"columns": {"id": "date"}}, "column 'id' of sales.orders is bigint there", "declare it as bigint"),
            ({"not_null": ["m"]}, "not_null names 'm'", "n"),
            ({"table": "sales.ordres"}, "connection 'lake' has no table sales.ordres", "name one that is there"),
            ({"connection": "lakes"}, "there is no connection 'lakes'", "did you mean 'lake'?"),
            ({"connection": "schemas"}, "the connection 'schemas' has no tables", "kind: iceberg, paimon, fluss"),
            ({"connection": "shop"}, "a database says which rows a table has now", "cdc: {postgres: …}"),
            ({"every": "5m"}, "'every' is of tables of databases, and 'lake' is of kind iceberg", "leave it out"),
            ({"mode": "upsert", "primary_key": ["id"]}, "have no changelog, which", "mode: snapshot_diff"),
            ({"mode": "snapshot_diff"}, "needs 'primary_key'", "options of table"),
            ({"primary_key": ["id"]}, "mode append adds rows", "options of table"),
            ({**KEYED, "primary_key": ["x"]}, "not_null names 'x'", "its columns are"),
            ({"table": "../../etc.passwd"}, "option 'table' of table", "options of table"),
            ({"table": "sales/orders"}, "option 'table' of table", "options of table"),
            ({"warehouse": "/etc"}, "unknown option 'warehouse' of table", "options of table"),
        ],
    )
    def test_wrong_options_have_place_and_hint(self, lake, more, message, hint):
        settings(lake.root, shop=SHOP, schemas={"kind": "schema_registry", "url": "http://r"})
        with pytest.raises(StreamhouseError) as refused:
            opened(lake, **more)
        assert message in refused.value.message
        assert hint in refused.value.hint
        assert refused.value.at == HERE

    def test_a_type_that_spark_lacks_is_left_to_the_person(self, lake):
        lake.create("sales.times", pa.schema([("id", pa.int64()), ("t", pa.time64("us"))]))
        with pytest.raises(SourceError, match=r"column 't' of sales.times is time") as refused:
            opened(lake, table="sales.times")
        assert "'columns'" in refused.value.hint
        assert opened(lake, table="sales.times", columns={"id": "bigint"}).columns()[0].name == "id"

    def test_format_1_is_refused(self, lake):
        lake.create("sales.old", SCHEMA, version=1)
        with pytest.raises(SourceError, match="format 1") as refused:
            opened(lake, table="sales.old")
        assert "ALTER TABLE sales.old SET TBLPROPERTIES ('format-version' = '2')" in refused.value.hint

    def test_format_3_is_read(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, rows((2, "b", 2)))
        declare(lake, NAME, **{"format-version": 3, "next-row-id": 0})
        for options in (PLAIN, KEYED):
            source = opened(lake, options)
            assert values(source.read({}, source.available())) == [(1, "a", 1), (2, "b", 2)]
            assert values(source.read(at(1), at(2))) == [(2, "b", 2)]

    def test_an_initial_default_of_format_3_is_the_value_of_older_rows(self, lake):
        from pyiceberg.types import StringType

        lake.append(NAME, rows((1, "a", 1)))
        lake.table(NAME).update_schema().add_column("city", StringType()).commit()
        lake.publish(NAME)
        schemas = declared(lake, NAME)["schemas"]
        schemas[-1]["fields"][-1] |= {"initial-default": "Bern", "write-default": "Bern"}
        declare(lake, NAME, **{"format-version": 3, "next-row-id": 0, "schemas": schemas})
        assert values(opened(lake).read({}, at(1))) == [(1, "a", 1, "Bern")]

    def test_a_type_of_format_3_that_cannot_be_read_is_named(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        schemas = declared(lake, NAME)["schemas"]
        schemas[-1]["fields"].append({"id": 9, "name": "payload", "type": "variant", "required": False})
        declare(lake, NAME, **{"format-version": 3, "next-row-id": 0, "schemas": schemas})
        with pytest.raises(SourceError, match="variant"):
            opened(lake)

    def test_a_format_of_the_future_is_refused(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        declare(lake, NAME, **{"format-version": 4})
        with pytest.raises(SourceError, match=r"sales.orders .* cannot be read: its metadata: .*'4' found using"):
            opened(lake)


class TestOwner:
    def test_nothing_of_the_table_is_changed(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        lake.append(NAME, rows((2, "b", 2)))
        before = contents(lake.folder)
        for options in (PLAIN, KEYED):
            source = opened(lake, options)
            source.advance({}, 10), source.oldest(), source.identity()
            source.read({}, source.available()), source.read({"snapshot": 1}, source.available())
        source.changes({"snapshot": 1}, {"snapshot": 2}), source.state({"snapshot": 2})
        with pytest.raises(SourceError):
            opened(lake, table="sales.none")
        assert contents(lake.folder) == before

    def test_a_table_that_was_made_again_is_another_one(self, lake):
        first = opened(lake).identity()
        shutil.rmtree(lake.folder)
        again = IcebergLake(lake.folder)
        again.create(NAME, SCHEMA)
        assert opened(lake).identity() != first

    def test_files_outside_of_the_warehouse_are_not_read(self, lake):
        lake.append(NAME, rows((1, "a", 1)))
        away = lake.root / "private.parquet"
        pq.write_table(rows((5, "secret", 5)), away)
        lake.table(NAME).add_files([f"file://{away}"])
        lake.publish(NAME)
        with pytest.raises(SourceError, match="a file outside of its warehouse"):
            opened(lake).read({"snapshot": 1}, {"snapshot": 2})


def delete_file(lake, file, content, schema, rows_of_file, **more):
    """An entry of a manifest for a file of deletes that is written here."""
    from pyiceberg.manifest import DataFile, FileFormat
    from pyiceberg.typedef import Record

    path = lake.folder / "sales" / "orders" / "data" / f"{file}.parquet"
    pq.write_table(pa.table(rows_of_file, schema=schema), path)
    made = DataFile.from_args(
        content=content,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=len(next(iter(rows_of_file.values()))),
        file_size_in_bytes=path.stat().st_size,
        **more,
    )
    made.spec_id = 0
    return made


class TestDeletesByValue:
    def test_rows_with_the_values_are_left_out(self, lake):
        from pyiceberg.manifest import DataFileContent

        lake.append(NAME, rows((1, "a", 1), (2, None, 2), (3, "c", 3), (4, "a", 4)))
        lake.append(NAME, rows((5, "a", 5)))

        def deletes(file, ids, **columns):
            numbers = {name: {"PARQUET:field_id": str(number)} for name, number in zip(columns, ids, strict=True)}
            fields = [SCHEMA.field(name).with_metadata(numbers[name]) for name in columns]
            by_value = DataFileContent.EQUALITY_DELETES
            return delete_file(lake, file, by_value, pa.schema(fields), columns, equality_ids=list(ids))

        stored = FolderTables(lake.folder).table(NAME)
        files = IcebergFiles(IcebergSeen(NAME, stored, Failures(NAME, "lake", (), HERE), lake.folder, HERE))
        parts = files.at(stored.metadata.current_snapshot())
        assert [part.equality for part in parts] == [(), ()]
        old = next(part for part in parts if part.task.file.record_count == 4)
        new = next(part for part in parts if part.task.file.record_count == 1)
        by_name = deletes("by_name", (2,), name=["a", None])
        by_both = deletes("by_both", (1, 2), id=[3, 5], name=["c", "other"])
        assert values(files.read([replace(old, equality=(by_name,)), new], ["id"])) == [(3,), (5,)]
        assert values(files.read([replace(old, equality=(by_both,))], ["id", "n"])) == [(1, 1), (2, 2), (4, 4)]
        assert values(files.read([replace(old, equality=(by_both,))], ["name"])) == [("a",), ("a",), (None,)]
        both = [replace(part, equality=(by_name, by_both)) for part in parts]
        assert values(files.read(both, ["n"])) == []
        assert replace(old, equality=(by_name,)).facts != old.facts

    def test_pieces_have_the_rows_that_deletes_leave(self, lake):
        """Rows are numbered after position deletes; deletes by value take rows out of each piece."""
        from pyiceberg.manifest import DataFileContent

        lake.append(NAME, rows(*((n, "a" if n % 2 else "b", n) for n in range(20))))
        stored = FolderTables(lake.folder).table(NAME)
        files = IcebergFiles(IcebergSeen(NAME, stored, Failures(NAME, "lake", (), HERE), lake.folder, HERE))
        [part] = files.at(stored.metadata.current_snapshot())
        places = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])
        gone = list(range(0, 20, 3))
        named = {"file_path": [part.task.file.file_path] * len(gone), "pos": gone}
        by_place = delete_file(lake, "places", DataFileContent.POSITION_DELETES, places, named)
        number = pa.schema([pa.field("name", pa.string(), metadata={"PARQUET:field_id": "2"})])
        by_value = delete_file(
            lake, "values", DataFileContent.EQUALITY_DELETES, number, {"name": ["b"]}, equality_ids=[2]
        )
        left = [n for n in range(20) if n % 3]
        task = type(part.task)(part.task.file, {by_place})
        for equality, wanted in (((), left), ((by_value,), [n for n in left if n % 2])):
            whole_part = replace(part, task=task, equality=equality)
            assert [row["id"] for row in files.read([whole_part], ["id"]).to_pylist()] == wanted
            pieces = [files.read([replace(whole_part, rows=range(n, n + 4))], ["id"]) for n in range(0, 20, 4)]
            assert [row["id"] for row in pa.concat_tables(pieces).to_pylist()] == wanted
            assert [row["id"] for row in pieces[1].to_pylist()] == [n for n in left[4:8] if n in wanted]
