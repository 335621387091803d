"""What writers said last outlives the files that came with it, without the JVM that compacts."""

from pathlib import Path

import pyarrow as pa

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore, commits

TABLE = Table(
    name="dwd.carried",
    columns=(Column(name="day", type="string"), Column(name="k", type="bigint")),
    primary_key=("day", "k"),
    partition_by=("day",),
    tiers=Tiers(warm="forever"),
)


def test_each_writer_is_tagged_behind_what_was_replaced(tmp_path: Path) -> None:
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    store.create(TABLE)

    def written(writer: str, epoch: int, day: str) -> None:
        rows = pa.table({"day": [day], "k": pa.array([epoch], pa.int64())})
        store.write(TABLE, Changes(rows), WriteContext(writer, epoch, properties={"offsets": f"{writer}:{epoch}"}))

    def carry() -> int:
        commits.carry(store._handle(TABLE.name))
        return int(store.end(TABLE)["snapshot"])

    for epoch in range(4):
        written("a/s", epoch, "old")
    written("b/s", 7, "new")
    assert carry() == 5, "nothing was replaced"
    store.drop_partitions(TABLE, [("old",)])
    assert carry() == 8
    assert carry() == 8, "once is enough"
    tags = store._handle(TABLE.name).tag_manager()
    held = {name: tags.get(name).id for name in tags.list_tags()}
    assert sorted(held.values()) == [7, 8], held
    assert store.snapshot_properties(TABLE)["offsets"] == "b/s:7"
    nothing = store.read_changes(TABLE, {"snapshot": 6}, {"snapshot": 8})
    assert (nothing.upserts.num_rows, nothing.deletes and nothing.deletes.num_rows) in ((0, None), (0, 0))
    for writer, epoch in (("a/s", 3), ("b/s", 7), ("a/s", 1)):
        written(writer, epoch, "again")
    assert store.end(TABLE) == {"snapshot": 8}, "the epochs are known"
    written("a/s", 4, "next")
    assert store.snapshot_properties(TABLE)["offsets"] == "a/s:4"
    assert [one.kind for one in store.list_snapshots(TABLE)][-3:] == ["compact", "compact", "append"]
