"""Copies of a lake that is a first tier, while a file of it is damaged or gone: an error, never other rows.

Tiering reads the data files of the first tier as every read does, so that checksums and counts are compared.
"""

import shutil

import pyarrow as pa
import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.ledger import LedgerEntry, NoLedger
from streamhouse.stores.paimon import PaimonStore
from streamhouse.tiering.move import tier
from tests.damage import DAMAGES, damage, kinds
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.proof,
    deep(
        "each kind of table, file and damage; the most frequent stay",
        stays=tuple(
            f"test_a_copy_of_a_damaged_table_gets_its_rows_or_an_error[{kind}-{copy}-{how}]"
            for kind in ("log", "keyed")
            for copy in ("none", "half")
            for how in ("flipped", "gone")
        ),
    ),
]

COLUMNS = tuple(Column(name=name, type=kind) for name, kind in {"k": "bigint", "day": "string", "v": "bigint"}.items())
KINDS = {
    "log": {},
    "log_by_day": {"partition_by": ("day",)},
    "keyed": {"primary_key": ("k",)},
    "merging": {"primary_key": ("k",), "merge": {"day": "last_value", "v": "sum"}},
}
EPOCHS = 4


class Known(NoLedger):
    """What the state store has of the first tier after each epoch."""

    def __init__(self, entry):
        self.entry = entry

    def known(self, table, tier):
        return self.entry


def store(folder, ledger=None):
    return PaimonStore(folder / "lake", folder / "locks", ledger=ledger or NoLedger())


def write(source, table, epochs):
    for epoch in epochs:
        rows = [{"k": n, "day": f"d{n % 2}", "v": epoch * 100 + n} for n in range(epoch * 5, epoch * 5 + 20)]
        upserts = pa.Table.from_pylist(rows, arrow_schema(COLUMNS))
        source.write(table, Changes(upserts), WriteContext("f/s", epoch, properties={"note": str(epoch)}))


def rows_of(lake, table):
    return sorted(map(repr, lake.read_state(table).to_pylist())) if lake.identity(table.name) is not None else []


@pytest.fixture(scope="module", params=KINDS)
def made(tmp_path_factory, request):
    """The first tier; copies that have nothing, and half of it; and the rows of all three."""
    folder = tmp_path_factory.mktemp(request.param)
    given = {"name": "ods.rows", "columns": COLUMNS, "tiers": Tiers(warm="1d", cold="forever"), **KINDS[request.param]}
    table = Table.model_validate(given)
    source, half = store(folder / "first"), store(folder / "half")
    source.create(table)
    write(source, table, range(EPOCHS // 2))
    tier(table, source, half)
    write(source, table, range(EPOCHS // 2, EPOCHS))
    (folder / "none").mkdir()
    rows = {"none": [], "half": rows_of(half, table.replica), "whole": rows_of(source, table)}
    assert rows["half"] != rows["whole"]
    return folder, table, rows, Known(LedgerEntry(source.identity(table.name), source.end(table)))


@pytest.mark.parametrize("how", [*DAMAGES, "gone"])
@pytest.mark.parametrize("copy", ["none", "half"])
def test_a_copy_of_a_damaged_table_gets_its_rows_or_an_error(made, tmp_path, copy, how):
    folder, table, rows, ledger = made
    files = kinds(folder / "first" / "lake")
    errors, wrong = 0, []
    for number, kind in enumerate(files):
        place = tmp_path / str(number)
        shutil.copytree(folder / "first", place / "first")
        shutil.copytree(folder / copy, place / "copy")
        damaged = place / "first" / files[kind].relative_to(folder / "first")
        if how == "gone":
            damaged.unlink()
        else:
            damage(damaged, how)
        found, lake = rows["whole"], store(place / "copy")
        try:
            tier(table, store(place / "first", ledger), lake)
        except StreamhouseError as error:
            found = rows[copy]
            errors += 1
            if table.name not in error.message or not error.hint:
                wrong.append(f"{kind}: {error}")
        if rows_of(lake, table.replica) != found:
            wrong.append(f"{kind}: other rows")
        shutil.copyfile(files[kind], damaged)
        tier(table, store(place / "first", ledger), lake)
        if rows_of(lake, table.replica) != rows["whole"]:
            wrong.append(f"{kind}: other rows once it is whole again")
    assert wrong == [], "\n".join(wrong)
    assert any(kind.endswith(".parquet") for kind in files)
    assert errors > 2, sorted(files)
