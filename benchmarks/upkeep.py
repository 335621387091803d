"""Many small commits to a lake table, kept up as `streamhouse run` does it: what lies on disk then.

Each commit brings 10 rows; after every so many comes a round of upkeep. Counted is what is in the table's folder: data
files, and all else as metadata; at the end, after a last round, and at most, before a round. There are no readers.

    python benchmarks/upkeep.py [--commits 5000 | --quick] [--every 250] [--only warm cold] [--kinds log keyed]
"""

import argparse
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from method.report import Bound, Figure, show

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.session import local_session
from streamhouse.runtime.stores import open_stores, open_upkeep
from streamhouse.stores.base import Changes, Store, WriteContext
from streamhouse.stores.upkeep import LakeUpkeep

ROWS = 10
KEYS = 1_000
METADATA_MB, FILES = 10, 50


@dataclass(frozen=True)
class OnDisk:
    """What lies in a table's folder."""

    files: int
    data_files: int
    metadata_mb: float

    def __str__(self) -> str:
        return f"{self.files:,} files, {self.data_files:,} of them data; {self.metadata_mb:.1f} MB of metadata"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=250, help="commits between two rounds of upkeep")
    parser.add_argument("--only", nargs="+", choices=("warm", "cold"), default=("warm", "cold"))
    parser.add_argument("--kinds", nargs="+", choices=("log", "keyed"), default=("log", "keyed"))
    parser.add_argument("--quick", action="store_true", help="300 commits")
    options = parser.parse_args()
    commits = 300 if options.quick else options.commits
    with tempfile.TemporaryDirectory(prefix="upkeep-") as folder:
        project = Project(Path(folder), Settings.model_validate({"spark": {"master": "local[2]"}}))
        spark = local_session(project)
        stores, keepers = open_stores(project, spark, None, (Tier.WARM, Tier.COLD)), open_upkeep(project, spark)
        for tier in map(Tier, options.only):
            for kind in options.kinds:
                root = Path(folder) / ".streamhouse" / tier.value
                show(measured(stores[tier], keepers[tier], root, kind, commits, options.every))
        spark.stop()


def measured(store: Store, keeper: LakeUpkeep, root: Path, kind: str, commits: int, every: int) -> list[Figure]:
    """Fill one table; see the module."""
    columns = (Column(name="k", type="bigint"), Column(name="v", type="bigint"))
    key = ("k",) if kind == "keyed" else ()
    table = Table(
        name=f"dwd.{kind}", columns=columns, primary_key=key, tiers=Tiers.model_validate({keeper.tier: "forever"})
    )
    store.create(table)
    most, began, upkeep_s = OnDisk(0, 0, 0), time.monotonic(), 0.0
    for epoch in range(commits):
        rows = pa.table({"k": [(epoch * ROWS + n) % KEYS for n in range(ROWS)], "v": [epoch] * ROWS})
        store.write(table, Changes(rows.cast(pa.schema([("k", pa.int64()), ("v", pa.int64())]))), context(epoch))
        if (epoch + 1) % every == 0 or epoch + 1 == commits:
            before, start = on_disk(root, kind), time.monotonic()
            most = max(most, before, key=lambda one: one.metadata_mb)
            now = datetime.now(UTC)
            keeper.compact(table)
            keeper.expire(table, now - timedelta(days=1), {}, unless_many=now + timedelta(minutes=1))
            upkeep_s += time.monotonic() - start
    seconds, end = time.monotonic() - began, on_disk(root, kind)
    name = f"{keeper.tier}, {kind}, {commits:,} commits"
    found = store.read_state(table).num_rows
    assert found == (min(KEYS, commits * ROWS) if key else commits * ROWS), found
    print(f"{name}: at most {most}; at the end {end}; {seconds / commits * 1000:.0f} ms each, upkeep {upkeep_s:.0f} s")
    return [
        Figure(f"{name}: metadata", "MB", end.metadata_mb, bound=Bound(at_most=METADATA_MB)),
        Figure(f"{name}: data files", "files", end.data_files, bound=Bound(at_most=FILES)),
        Figure(f"{name}: all files", "files", end.files),
    ]


def context(epoch: int) -> WriteContext:
    """Of one commit."""
    return WriteContext("upkeep/main", epoch, properties={"streamhouse.offsets": f'{{"0": {epoch * ROWS}}}'})


def on_disk(root: Path, name: str) -> OnDisk:
    """What lies in the folder of a table, checksums of Hadoop's file system left out."""
    (folder,) = {path for path in root.rglob(name) if path.is_dir()}
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".crc")]
    data = [path for path in files if path.suffix == ".parquet"]
    metadata = sum(path.stat().st_size for path in files if path.suffix != ".parquet")
    return OnDisk(len(files), len(data), metadata / 1e6)


if __name__ == "__main__":
    main()
