"""A damaged file of a warm table, metadata or data, is the rows that were written or an error that names it."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore, commits
from streamhouse.stores.paimon.light import PaimonReader
from streamhouse.stores.where import RowCondition
from tests.gate.levels import deep

pytestmark = pytest.mark.proof

COLUMNS = tuple(Column(name=name, type=kind) for name, kind in {"k": "bigint", "day": "string", "v": "bigint"}.items())
KINDS = {
    "log": {},
    "log_by_day": {"partition_by": ("day",)},
    "keyed": {"primary_key": ("k",)},
    "keyed_by_day": {"primary_key": ("k", "day"), "partition_by": ("day",)},
    "merging": {"primary_key": ("k",), "merge": {"day": "last_value", "v": "sum"}},
}
CHECKSUMS = "checksums"
WHERE = (RowCondition("v", ">", (350,)),)
EPOCHS = 4


def a_table(kind: str) -> Table:
    return Table.model_validate({"name": f"ods.{kind}", "columns": COLUMNS, "tiers": Tiers(warm="1d"), **KINDS[kind]})


def filled(folder: Path, kind: str) -> Table:
    store, table = PaimonStore(folder / "warm", folder / "locks"), a_table(kind)
    store.create(table)
    for epoch in range(EPOCHS):
        rows = [{"k": n, "day": f"d{n % 2}", "v": epoch * 100 + n} for n in range(epoch * 5, epoch * 5 + 20)]
        upserts = pa.Table.from_pylist(rows, arrow_schema(COLUMNS))
        store.write(table, Changes(upserts), WriteContext("f/s", epoch, properties={"note": str(epoch)}))
    return table


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Table]]:
    known: dict[str, tuple[Path, Table]] = {}

    def get(kind: str) -> tuple[Path, Table]:
        if kind not in known:
            folder = tmp_path_factory.mktemp(kind)
            known[kind] = (folder, filled(folder, kind))
        return known[kind]

    return get


def place(folder: Path, table: Table) -> Path:
    return folder / "warm" / "ods.db" / table.name.partition(".")[2]


def files(folder: Path) -> list[Path]:
    """Those of a table, but for the hints, which say nothing that is believed, and what no read needs."""
    return sorted(f for f in folder.rglob("*") if f.is_file() and f.name not in ("LATEST", "EARLIEST"))


@contextmanager
def damaged(file: Path, content: bytes) -> Iterator[None]:
    before = file.read_bytes()
    file.write_bytes(content)
    try:
        yield
    finally:
        file.write_bytes(before)


def damages(content: bytes, chance: random.Random, flips: int) -> Iterator[bytes]:
    for _ in range(flips):
        flipped = bytearray(content)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        yield bytes(flipped)
    yield content[: chance.randrange(len(content))]


def snapshots(folder: Path) -> int:
    return len(list((folder / "snapshot").glob("snapshot-*")))


def answers(store: PaimonStore, table: Table) -> dict[str, object]:
    """What is asked of a table, by each way to its rows and to what its commits say."""

    def rows(found: pa.Table) -> list[str]:
        return sorted(map(repr, found.to_pylist()))

    end = store.end(table)
    changes = store.read_changes(table, {"snapshot": 1}, end)
    found: dict[str, object] = {
        "end": end,
        "state": rows(store.read_state(table)),
        "where": rows(store.read_where(table, None, ("k", "v"), WHERE)),
        "past": rows(store.read_state(table, {"snapshot": 2})),
        "changes": (rows(changes.upserts), changes.deletes),
        "last": store.last_commit(table, "f/s"),
        "newest": store.snapshot_properties(table),
        "between": store.rows_between(table, {"snapshot": 0}, end),
        "identity": store.identity(table.name),
        "columns": store.columns(table.name),
        "partitions": store.partitions(table, {"snapshot": 1}),
    }
    if not table.primary_key:
        found["placed"] = rows(store.read_placed(table, None, ("k",), "at"))
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "keyed_by_day",
        *(
            pytest.param(kind, marks=deep("each kind of table; one kind stays"))
            for kind in KINDS
            if kind != "keyed_by_day"
        ),
    ],
)
def test_a_damaged_file_is_the_same_rows_or_an_error_that_names_it(warm, kind):
    folder, table = warm(kind)
    readers = [kind_(folder / "warm", folder / "locks") for kind_ in (PaimonStore, PaimonReader)]
    whole, chance = [answers(one, table) for one in readers], random.Random(20)
    errors, wrong = 0, []
    for number, file in enumerate(files(place(folder, table))):
        reader, right = readers[number % 2], whole[number % 2]
        for content in damages(file.read_bytes(), chance, 1):
            with damaged(file, content):
                try:
                    found = answers(reader, table)
                except StoreError as error:
                    errors += 1
                    if str(file) not in str(error) or not error.hint:
                        wrong.append((file.name, type(reader).__name__, f"without the file: {error}"))
                else:
                    wrong += [
                        (file.name, type(reader).__name__, what, found[what])
                        for what in right
                        if found[what] != right[what]
                    ]
    assert not wrong, "\n".join(map(str, wrong))
    assert errors > len(files(place(folder, table))), "most files are needed"


def test_a_damaged_manifest_is_not_taken_over_by_the_next_commit(tmp_path):
    table = filled(tmp_path, "keyed")
    store, rows = PaimonStore(tmp_path / "warm", tmp_path / "locks"), pa.table({"k": [1], "day": ["d1"], "v": [7]})
    newest = (place(tmp_path, table) / CHECKSUMS / f"snapshot-{EPOCHS}").read_text()
    needed = [file for file in sorted((place(tmp_path, table) / "manifest").iterdir()) if file.name in newest]
    assert len(needed) > EPOCHS
    for file in needed:
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 8
        number = snapshots(place(tmp_path, table))
        with damaged(file, bytes(content)), suppress(StoreError):
            store.write(table, Changes(rows), WriteContext("other", 1))
            pytest.fail(f"{file.name} is needed by no commit")
        assert snapshots(place(tmp_path, table)) == number, "nothing is committed"
    assert store.read_state(table).num_rows


def test_what_another_program_committed_is_compared_with_itself_until_our_next_commit(tmp_path):
    table = filled(tmp_path, "log")
    shutil.rmtree(place(tmp_path, table) / CHECKSUMS)  # as a table of an earlier version
    readers = [kind(tmp_path / "warm", tmp_path / "locks") for kind in (PaimonStore, PaimonReader)]
    whole, chance, wrong = readers[0].read_state(table).num_rows, random.Random(3), []
    for file in files(place(tmp_path, table) / "manifest"):
        for content in damages(file.read_bytes(), chance, 4):
            with damaged(file, content):
                for reader in readers:
                    try:
                        if reader.read_state(table).num_rows != whole:
                            wrong.append(file.name)
                    except StoreError:
                        pass
    assert not wrong, "\n".join(map(str, wrong))
    readers[0].write(table, Changes(readers[0].read_state(table)), WriteContext("f/s", EPOCHS))
    recorded = (place(tmp_path, table) / CHECKSUMS / "files").read_text()
    assert recorded.count("data-") == EPOCHS + 1, "all files of the snapshot, not its own alone"


def test_records_that_are_damaged_say_nothing_and_go_on(tmp_path):
    table = filled(tmp_path, "log")
    store, own = PaimonStore(tmp_path / "warm", tmp_path / "locks"), place(tmp_path, table) / CHECKSUMS
    rows = store.read_state(table)
    ledger = own / "files"
    ledger.write_bytes(ledger.read_bytes()[:-7])  # cut off by a kill
    assert PaimonStore(tmp_path / "warm", tmp_path / "locks").read_state(table).equals(rows)
    store.write(table, Changes(rows), WriteContext("f/s", EPOCHS))
    assert store.read_state(table).num_rows == 2 * rows.num_rows
    assert store.last_commit(table, "f/s")["streamhouse.epoch"] == str(EPOCHS)


def test_a_snapshot_that_a_kill_left_without_a_record_is_recorded_by_the_repeated_epoch(tmp_path, monkeypatch):
    table = filled(tmp_path, "log")
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    rows, again = store.read_state(table), WriteContext("f/s", EPOCHS)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("streamhouse.stores.paimon.store.record", killed)
        with pytest.raises(KeyboardInterrupt):
            store.write(table, Changes(rows), again)
    name = f"snapshot-{store.end(table)['snapshot']}"
    assert not (place(tmp_path, table) / CHECKSUMS / name).exists()
    store.write(table, Changes(rows), again)
    assert (place(tmp_path, table) / CHECKSUMS / name).exists()
    assert store.read_state(table).num_rows == 2 * rows.num_rows
    assert commits.tagged_snapshots(store._handle(table.name))


@pytest.mark.parametrize("part", ["schema/schema-0", f"snapshot/snapshot-{EPOCHS}", "snapshot/LATEST"])
def test_a_damaged_table_can_be_dropped_and_made_again(tmp_path, part):
    table = filled(tmp_path, "keyed")
    (place(tmp_path, table) / part).write_bytes(b"")
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    store.drop(table.name)
    assert not place(tmp_path, table).exists()
    store.create(table)
    assert store.read_state(table).num_rows == 0
