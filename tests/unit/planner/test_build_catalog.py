"""The catalog says what the files say, what follows from lineage, and nothing else."""

from pathlib import Path

import pytest

from streamhouse.jobs.ask import ask
from streamhouse.model.meaning import Sharing
from streamhouse.planner.build_catalog import build_catalog
from streamhouse.planner.catalog import Catalog, ForeignKey
from streamhouse.project.cache.known_values import known_values
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
from streamhouse.registry.fingerprint import fingerprint

INGEST = """\
/* ---
action: ingest_as_is
step: ingest
inputs: {rows: {}}
output: {extra_columns: pass}
--- */
SELECT * FROM rows
"""
CLEAN = """\
/* ---
action: clean_trips
step: clean
description: Trips that ended.
synonyms: [rides]
inputs: {trips: {trip_id: bigint, start_station_id: bigint, bike: string, kind: string, km: double, at: timestamp}}
output: {primary_key: [trip_id], event_time: at}
columns:
  metres: {unit: m, description: how far}
  kind: {synonyms: [type], values: {m: [member, subscriber]}}
measures:
  distance: {sql: SUM(metres) / 1000, unit: km}
  trips: COUNT(*)
dimensions:
  started: {column: at, hierarchy: [month, day, hour]}
ai: {schema: denied}
examples:
  - given: {trips: [{trip_id: 1, start_station_id: 2, bike: red, kind: m, km: 1.0, at: "2026-01-01 00:00:00"}]}
    expect: [{trip_id: 1, start_station_id: 2, bike: red, kind: m, metres: 1000, at: "2026-01-01 00:00:00"}]
--- */
SELECT trip_id, start_station_id, bike, kind, CAST(km * 1000 AS BIGINT) AS metres, at
FROM trips WHERE km IS NOT NULL
"""
TOTALS = """\
/* ---
action: totals
step: aggregate
inputs: {trips: {start_station_id: bigint, kind: string, metres: bigint}}
--- */
SELECT start_station_id, kind, SUM(metres) AS metres, COUNT(*) AS trips FROM trips GROUP BY start_station_id, kind
"""
FLOW = """\
flow: bikes
synonyms: [hire]
sources:
  trips: {files: {path: data/trips.csv, columns: {trip_id: bigint, start_station_id: bigint, bike: string,
    kind: string, km: double, at: timestamp}}}
  stations: {files: {path: data/stations.csv, columns: {id: bigint, city: string}}}
steps:
  - {use: ingest_as_is, reads: {rows: trips}, writes: ods.trips}
  - {use: ingest_as_is, reads: {rows: stations}, writes: ods.stations}
  - {use: clean_trips, reads: {trips: ods.trips}, writes: dwd.trips}
  - {use: totals, reads: {trips: dwd.trips}, writes: dws.totals}
tables:
  ods.trips:
    primary_key: [trip_id]
    event_time: at
    columns:
      bike: {description: "the bike's colour", synonyms: [bicycle]}
  ods.stations: {primary_key: [id]}
  dwd.trips:
    description: Every trip.
    columns: {kind: {description: who paid}}
    measures: {distance: {sql: MAX(metres), unit: m}}
    ai: {rows: allowed}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "actions/ingest_as_is.sql": INGEST,
        "actions/clean_trips.sql": CLEAN,
        "actions/totals.sql": TOTALS,
        "flows/bikes.yaml": FLOW,
        "data/trips.csv": "trip_id,start_station_id,bike,kind,km,at\n1,2,red,m,1.5,2026-01-01 00:00:00\n"
        "2,2,blue,c,1.5,2026-01-01 00:00:00\n",
        "data/stations.csv": "id,city\n2,Oslo\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def catalog(root: Path, *, values: bool = False) -> Catalog:
    project = Project.at(root)
    registry = load_registry(project)
    checked = check_project(project, registry)
    assert checked.errors == ()
    return build_catalog(registry, checked.plans, known_values(project, checked.plans, pytest.fail) if values else None)


def test_a_flow_wins_over_an_action_key_by_key(root: Path) -> None:
    table = catalog(root).tables["dwd.trips"]
    assert (table.description, table.synonyms) == ("Every trip.", ("rides",))
    assert (table.measures["distance"].sql, table.measures["distance"].unit) == ("MAX(metres)", "m")
    assert table.measures["trips"].sql == "COUNT(*)"
    assert table.dimensions["started"].hierarchy == ("month", "day", "hour")
    kind = table.column("kind")
    assert (kind.description, kind.synonyms, kind.values) == (
        "who paid",
        ("type",),
        {"m": ("m", "member", "subscriber")},
    )
    assert table.sharing == Sharing(schema=False, rows=True)
    assert (table.flow, table.action, table.upstream) == ("bikes", "clean_trips", ("ods.trips",))


def test_a_column_copied_unchanged_means_what_its_origin_means(root: Path) -> None:
    found = catalog(root)
    bike, metres = found.tables["dwd.trips"].column("bike"), found.tables["dws.totals"].column("metres")
    assert (bike.description, bike.synonyms, bike.origin) == ("the bike's colour", ("bicycle",), ("ods.trips", "bike"))
    assert (metres.description, metres.unit, metres.origin) == ("", None, None)  # a sum of what has a meaning
    assert found.tables["dws.totals"].column("kind").values["m"] == ("m", "member", "subscriber")


def test_the_default_event_time_is_that_of_the_table(root: Path) -> None:
    assert catalog(root).tables["ods.trips"].event_time == "at"
    assert catalog(root).tables["dwd.trips"].event_time == "at"
    assert check_project(Project.at(root)).plans["bikes"].tables["ods.trips"].event_time == "at"


def test_an_event_time_that_is_no_column_is_an_error(root: Path) -> None:
    edit(root, "flows/bikes.yaml", "event_time: at", "event_time: att")
    (error,) = check_project(Project.at(root)).errors
    assert str(error).startswith("flows/bikes.yaml:15:17: SH202 event_time names 'att', which is no output column")


def test_keys_are_told_by_names_roles_and_types(root: Path) -> None:
    found = {(key.table, key.columns): key for key in catalog(root).keys}
    assert found["dwd.trips", ("start_station_id",)] == ForeignKey(
        "dwd.trips", ("start_station_id",), "ods.stations", ("id",)
    )
    assert ("ods.trips", ("trip_id",)) not in found  # the same trip, cleaned
    edit(root, "flows/bikes.yaml", "columns: {id: bigint", "columns: {id: string")
    assert all(key.to != "ods.stations" for key in catalog(root).keys)


def test_a_declared_key_goes_over_a_name_and_is_inherited(root: Path) -> None:
    edit(root, "flows/bikes.yaml", "      bike: {", "      bike: {references: ods.stations.id, ")
    keys = [key for key in catalog(root).keys if key.columns == ("bike",)]
    assert keys == [
        ForeignKey(table, ("bike",), "ods.stations", ("id",), declared=True) for table in ("ods.trips", "dwd.trips")
    ]


def test_values_of_examples_are_open_and_values_of_rows_are_all(root: Path) -> None:
    bike = catalog(root).tables["dwd.trips"].column("bike")
    assert (bike.values, bike.open_values) == ({"red": ("red",)}, True)
    found = catalog(root, values=True)
    bike, kind = found.tables["dwd.trips"].column("bike"), found.tables["dwd.trips"].column("kind")
    assert (bike.values, bike.open_values) == ({"blue": ("blue",), "red": ("red",)}, False)
    assert kind.values == {"c": ("c",), "m": ("m", "member", "subscriber")}
    assert found.tables["ods.stations"].column("city").values == {"Oslo": ("Oslo",)}
    edit(root, "data/stations.csv", "Oslo", "Bergen")
    assert catalog(root, values=True).tables["ods.stations"].column("city").values == {"Bergen": ("Bergen",)}


def test_values_that_cannot_be_read_are_absent(root: Path) -> None:
    checked = check_project(Project.at(root))
    (root / "data/stations.csv").unlink()
    (root / "data/trips.csv").write_text("trip_id\nnot a number\n")
    unread: list[str] = []
    assert known_values(Project.at(root), checked.plans, unread.append) == {}
    assert len(unread) == 2, "nothing is silent"
    assert "source 'trips' are not known" in unread[0] or "source 'stations' are not known" in unread[0]


def test_what_cannot_be_read_is_said_with_a_proposal(root: Path) -> None:
    (root / "data/trips.csv").write_text("trip_id\nnot a number\n")
    made = ask(Project.at(root), "number of trips")
    assert [check.name for check in made.checks if "'trips'" in check.text and check.verdict == "notice"] == ["values"]


def test_a_meaning_is_no_part_of_a_plan_and_no_cache_serves_an_old_one(root: Path) -> None:
    project = Project.at(root)
    (root / ".streamhouse").mkdir()
    before = check_project(project).plans["bikes"]
    catalog(root)
    edit(root, "actions/clean_trips.sql", "how far", "length of the way")
    edit(root, "actions/clean_trips.sql", "SUM(metres) / 1000", "SUM(metres) / 1000.0")
    edit(root, "flows/bikes.yaml", "who paid", "who is asked to pay")
    edit(root, "flows/bikes.yaml", "synonyms: [hire]", "synonyms: [hire, rental]")
    after = check_project(project).plans["bikes"]
    assert (after, after.fingerprint) == (before, before.fingerprint)
    table = catalog(root).tables["dwd.trips"]
    assert (table.column("metres").description, table.column("kind").description) == (
        "length of the way",
        "who is asked to pay",
    )


def test_equal_projects_have_equal_catalogs_in_order(root: Path) -> None:
    one, two = catalog(root), catalog(root)
    assert one == two
    assert [*one.tables] == [*two.tables] == ["ods.stations", "ods.trips", "dwd.trips", "dws.totals"]


def test_a_key_that_goes_away_in_another_flow_is_found(root: Path) -> None:
    (root / ".streamhouse").mkdir()
    (root / "flows/other.yaml").write_text(
        "flow: other\nsteps:\n  - {use: totals, reads: {trips: dwd.trips}, writes: dws.others}\n"
        "tables: {dws.others: {columns: {start_station_id: {references: ods.stations.id}}}}\n"
    )
    project = Project.at(root)
    assert check_project(project).meaning == ()
    edit(root, "flows/bikes.yaml", "ods.stations: {primary_key: [id]}", "ods.stations: {primary_key: [city]}")
    (error,) = check_project(project).meaning
    assert str(error).startswith("flows/other.yaml:4:64: SH218 references names ods.stations.id, which is no key")
    edit(root, "flows/bikes.yaml", "ods.stations: {primary_key: [city]}", "ods.stations: {primary_key: [id]}")
    assert check_project(project).meaning == ()


def test_a_meaning_is_no_rule_of_a_flow(root: Path) -> None:
    def marks() -> tuple[set[str], set[str]]:
        registry = load_registry(Project.at(root))
        every = [*registry.actions.values(), *registry.flows.values()]
        return {fingerprint(one) for one in every}, {fingerprint(one, meaning=False) for one in every}

    whole, rules = marks()
    edit(root, "actions/clean_trips.sql", "how far", "length of the way")
    edit(root, "flows/bikes.yaml", "who paid", "who is asked to pay")
    others, same = marks()
    assert same == rules
    assert len(others - whole) == 2


def test_values_that_are_chosen_among_known_ones_are_known(root: Path) -> None:
    new = "COALESCE(MIN(kind), 'none') AS k, "
    new += "CASE WHEN COUNT(*) > 1 THEN 'many' ELSE MAX(kind) END AS c, UPPER(MIN(kind)) AS u"
    edit(root, "actions/totals.sql", "kind, SUM", f"kind, {new}, SUM")
    found = catalog(root, values=True).tables["dws.totals"]
    assert tuple(found.column("k").values) == ("c", "m", "none")
    assert tuple(found.column("c").values) == ("c", "m", "many")
    assert (found.column("u").values, found.column("u").open_values) == ({}, True)
