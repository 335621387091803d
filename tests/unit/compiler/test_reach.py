"""Where the rows of a person are, by lineage; what is made again, and what cannot be."""

import pytest

from streamhouse.compiler.reach import alike, reach
from streamhouse.errors import UnknownColumnError, UnknownTableError
from streamhouse.project.desired import desired
from streamhouse.project.project import Project

ROWS = "{id: int, who: string, city: string, cents: bigint, at: timestamp}"
ACTIONS = {
    "keep": ("ingest", "{rows: {}}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "renamed": (
        "clean",
        f"{{lines: {ROWS}}}",
        "output: {primary_key: [id]}\n",
        "SELECT id, who AS buyer, cents FROM lines",
    ),
    "joined": (
        "clean",
        "{orders: {id: int, buyer: string}, people: {person: string, name: string}}",
        "output: {primary_key: [id]}\n",
        "SELECT orders.id, people.name FROM orders JOIN people ON people.person = orders.buyer",
    ),
    "largest": (
        "aggregate",
        "{orders: {buyer: string, cents: bigint}}",
        "output: {primary_key: [most]}\n",
        "SELECT MAX(buyer) AS most, MAX(cents) AS cents FROM orders GROUP BY cents % 3",
    ),
    "totals": ("aggregate", f"{{lines: {ROWS}}}", "", "SELECT city, SUM(cents) AS cents FROM lines GROUP BY city"),
    "persons": (
        "clean",
        "{rows: {person: string, name: string}}",
        "output: {primary_key: [person]}\n",
        "SELECT person, name FROM rows",
    ),
}
SOURCES = f"""\
sources:
  lines: {{files: {{path: data/*.csv, columns: {ROWS}}}}}
  persons: {{files: {{path: persons/*.csv, columns: {{person: string, name: string}}}}}}
"""
SHOP = f"""\
flow: shop
{SOURCES}steps:
  - {{use: keep, reads: {{rows: lines}}, writes: ods.lines}}
  - {{use: keep, reads: {{rows: persons}}, writes: ods.persons}}
  - {{use: renamed, reads: {{lines: ods.lines}}, writes: dwd.orders}}
  - {{use: persons, reads: {{rows: ods.persons}}, writes: dwd.persons}}
  - {{use: joined, reads: {{orders: dwd.orders, people: {{table: dwd.persons, as: lookup}}}}, writes: dwd.named}}
  - {{use: largest, reads: {{orders: dwd.orders}}, writes: dws.largest}}
  - {{use: totals, reads: {{lines: ods.lines}}, writes: dws.totals}}
"""


def plans(root, text=SHOP, tables=""):
    for folder in ("actions", "flows", "data", "persons", "a"):
        (root / folder).mkdir()
    for name, (step, inputs, output, query) in ACTIONS.items():
        header = f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{query}\n"
        (root / "actions" / f"{name}.sql").write_text(header)
    (root / "flows" / "shop.yaml").write_text(text + tables)
    return desired(Project.at(root)).plans


def test_a_key_is_followed_through_copies_joins_and_chosen_values(tmp_path):
    found = reach(plans(tmp_path), "dwd.orders", ["buyer"])
    assert {name: one.columns for name, one in found.tables.items()} == {
        "ods.lines": (("who",),),
        "dwd.orders": (("buyer",),),
        "dws.largest": (("most",),),
        "ods.persons": (("person",),),
        "dwd.persons": (("person",),),
    }
    assert {name for _, name in found.sources} == {"lines", "persons"}
    assert "joins" in " ".join(found.tables["dwd.persons"].why)
    affected = found.affected([("", name) for name in found.tables])
    assert affected == {*found.tables, "dwd.named", "dws.totals"}
    assert found.copies(affected) == {"ods.lines", "ods.persons", "dwd.orders", "dwd.persons"}
    assert (found.obstacles(affected), found.unnamed) == ([], frozenset())


def test_only_what_is_made_of_found_rows_is_made_again(tmp_path):
    found = reach(plans(tmp_path), "dwd.orders", ["buyer"])
    assert found.affected([("", "dwd.orders")]) == {"dwd.orders", "dwd.named", "dws.largest"}
    assert found.affected([("", "dwd.orders")], spared=["dws.largest"]) == {"dwd.orders", "dwd.named"}


def test_all_columns_of_a_key_must_be_carried(tmp_path):
    found = reach(plans(tmp_path), "ods.lines", ["who", "id"])
    assert {name: one.columns for name, one in found.tables.items()} == {
        "ods.lines": (("who",), ("id",)),
        "dwd.orders": (("buyer",), ("id",)),
    }


def test_a_further_column_names_the_same_persons(tmp_path):
    every = plans(tmp_path)
    assert "ods.lines" not in reach(every, "dwd.persons", ["name"]).tables
    assert "ods.lines" in reach(every, "dwd.persons", ["name"], [("ods.lines", "city")]).tables
    assert alike(reach(every, "dws.totals", ["city"]), ["city"]) == []
    assert alike(reach(every, "dwd.orders", ["cents"]), ["cents"]) == ["dws.totals.cents"]


def test_what_was_computed_from_rows_that_are_dropped_cannot_be_computed_again(tmp_path):
    tables = "tables:\n  ods.lines: {tiers: {hot: 7d}}\n"
    found = reach(plans(tmp_path, tables=tables), "ods.lines", ["who"])
    affected = found.affected([("", "ods.lines")])
    [obstacle] = found.obstacles(affected)
    assert (obstacle.table, obstacle.reason) == (
        "dws.totals",
        "it is computed from ods.lines, which has dropped its old rows",
    )
    assert "--spare dws.totals" in obstacle.hint
    assert found.obstacles(found.affected([("", "ods.lines")], ["dws.totals"])) == []


def test_a_source_that_is_read_again_in_each_epoch_brings_the_rows_back(tmp_path):
    text = f"flow: shop\n{SOURCES}steps:\n  - {{use: largest, reads: {{orders: again}}, writes: dws.largest}}\n"
    text = text.replace(
        "sources:\n", "sources:\n  again: {files: {path: a/*.csv, columns: {buyer: string, cents: bigint}}}\n"
    )
    found = reach(plans(tmp_path, text), "dws.largest", ["most"])
    [obstacle] = found.obstacles(found.affected([("", "dws.largest")]))
    assert "reads again again in each epoch" in obstacle.reason


@pytest.mark.parametrize(
    ("table", "column", "error"),
    [("dwd.order", "buyer", UnknownTableError), ("dwd.orders", "who", UnknownColumnError)],
)
def test_names_that_nothing_has_are_refused(tmp_path, table, column, error):
    with pytest.raises(error):
        reach(plans(tmp_path), table, [column])
