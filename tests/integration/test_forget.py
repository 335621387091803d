"""A person is forgotten in all layers and tiers: no row, snapshot, change log or file has the key afterwards."""

import json
from contextlib import nullcontext

import pytest

from streamhouse.change.apply import carried_out
from streamhouse.errors import ForgetRefusedError, TypeMismatchError, UnknownColumnError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs import forget as forgetting
from streamhouse.jobs.forget import ForgetRequest, forget
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier import tier_here
from streamhouse.model.outcome import Outcome
from streamhouse.model.version import stored_name, table_at
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.state.changes import Wish
from streamhouse.tiering.union import union_read
from tests.gate.levels import deep, soak
from tests.live import opened
from tests.oracle import assert_same_rows, batch

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a person in every table and tier", stays=("test_rows_of_a_followed_database_must_be_deleted_there_first",)),
]

PERSON = "person3"
ACTIONS = {
    "keep_people": ("ingest", "{rows: {}}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "keep_orders": ("ingest", "{rows: {}}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "people": (
        "clean",
        "{rows: {customer: string, city: string, visits: int}}",
        "output: {primary_key: [id]}\n",
        "SELECT customer AS id, city, visits FROM rows",
    ),
    "orders": (
        "clean",
        "{lines: {order_id: int, who: string, cents: bigint}, people: {id: string, city: string}}",
        "output: {primary_key: [order_id]}\n",
        "SELECT order_id, who AS buyer, city, cents FROM lines LEFT JOIN people ON people.id = lines.who",
    ),
    "by_city": (
        "aggregate",
        "{orders: {city: string, cents: bigint}}",
        "",
        "SELECT city, SUM(cents) AS cents, COUNT(*) AS orders FROM orders GROUP BY city",
    ),
    "paid": (
        "aggregate",
        "{rows: {order_id: int, cents: bigint}}",
        "",
        "SELECT order_id % 4 AS part, SUM(cents) AS cents FROM rows GROUP BY order_id % 4",
    ),
    "best": (
        "customize",
        "{cities: {city: string, cents: bigint}}",
        "output: {primary_key: [city]}\n",
        "SELECT city, cents FROM cities WHERE cents > 0",
    ),
}
FLOWS = {
    "forget_shop": """\
flow: forget_shop
freshness: 100ms
sources:
  people: {files: {path: data/people*.csv, columns: {customer: string, city: string, visits: int}}}
  orders: {files: {path: data/orders*.csv, columns: {order_id: int, who: string, cents: bigint}}}
steps:
  - {use: keep_people, reads: {rows: people}, writes: ods.fg_people}
  - {use: keep_orders, reads: {rows: orders}, writes: ods.fg_orders}
  - {use: people, reads: {rows: ods.fg_people}, writes: dwd.fg_people}
  - {use: orders, reads: {lines: ods.fg_orders, people: {table: dwd.fg_people, as: lookup}}, writes: dwd.fg_orders}
  - {use: paid, reads: {rows: ods.fg_orders}, writes: dws.fg_paid}
  - {use: by_city, reads: {orders: dwd.fg_orders}, writes: dws.fg_by_city}
tables:
  ods.fg_people: {tiers: {hot: 7d, warm: forever, cold: forever}}
  ods.fg_orders: {tiers: {hot: 7d, cold: forever}}
  dwd.fg_people: {tiers: {hot: 7d, warm: forever}}
  dwd.fg_orders: {tiers: {warm: 7d, cold: forever}}
  dws.fg_paid: {tiers: {hot: 7d, warm: forever}}
  dws.fg_by_city: {tiers: {warm: forever}}
""",
    "forget_board": """\
flow: forget_board
freshness: 100ms
steps:
  - {use: best, reads: {cities: dws.fg_by_city}, writes: ads.fg_best}
""",
}
CARRIERS = {"ods.fg_people", "ods.fg_orders", "dwd.fg_people", "dwd.fg_orders"}
KEY = ForgetRequest("dwd.fg_people", {"id": (PERSON,)})


@pytest.fixture
def open_(tmp_path, fluss, spark, monkeypatch):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, (step, inputs, output, query) in ACTIONS.items():
        text = f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{query}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    for name, text in FLOWS.items():
        (tmp_path / "flows" / f"{name}.yaml").write_text(text)
    with opened(Project(tmp_path, Settings(fluss=fluss)), fluss, spark) as found:
        monkeypatch.setattr(forgetting, "opened", lambda *_, **__: nullcontext(found))
        yield found


def add(open_, number, people=range(6)):
    people, data = [f"person{n}" for n in people], open_.project.root / "data"
    for name, head, lines in (
        ("people", "customer,city,visits", [f"{one},town{int(one[-1]) % 3},{number}" for one in people]),
        (
            "orders",
            "order_id,who,cents",
            [f"{number * 10 + n},{people[n % len(people)]},{number * 100 + n}" for n in range(10)],
        ),
    ):
        new = data / f".{name}"
        new.write_text("\n".join([head, *lines]) + "\n")
        new.replace(data / f"{name}{number}.csv")


def drain(open_):
    for flow in FLOWS:
        plan = plan_of(open_.project, flow)
        carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
    tier_here(open_, list(FLOWS))


def assert_as_if_never_there(open_, people=frozenset({PERSON})):
    """Every table has what the SQL makes of the sources without the person's rows."""
    import pyarrow.compute as pc

    found = {}
    for flow in FLOWS:
        plan, sources = plan_of(open_.project, flow), {}
        for source in plan.sources:
            rows = open_source(source, open_.project.root)
            rows = rows.read({}, rows.available())
            column = "customer" if source.name == "people" else "who"
            sources[source.name] = rows.filter(pc.invert(pc.is_in(rows.column(column), value_set=_texts(people))))
        sources |= {table.name: found[table.name] for table in plan.external}
        found |= batch(open_.spark, plan, sources)
        for name, table in plan.tables.items():
            stored = table_at(table, open_.state.versions())
            rows = union_read(stored, open_.stores)
            assert_same_rows(rows, found[name], key=table.primary_key, name=name)
            for tier in table.tiers.present:
                copy = stored if tier is table.tiers.target else stored.replica
                assert_same_rows(
                    open_.stores[tier].read_state(copy), found[name], key=table.primary_key, name=f"{name} in {tier}"
                )


def _texts(values):
    import pyarrow as pa

    return pa.array(sorted(values), pa.string())


def test_a_person_is_forgotten_in_every_table_and_tier(open_, monkeypatch):
    for number in range(2):
        add(open_, number)
        drain(open_)
    looked = forget(open_.project, KEY, dry_run=True)
    assert {one.table for one in looked.tables if one.columns} == CARRIERS
    assert all(one.before[0].rows for one in looked.tables if one.columns)
    assert not looked.dropped
    assert open_.state.versions() == {}
    done = forget(open_.project, KEY)
    how = {one.table: one.how for one in done.tables}
    assert how == dict.fromkeys(CARRIERS, "copied") | dict.fromkeys(
        ("dws.fg_paid", "dws.fg_by_city", "ads.fg_best"), "computed"
    )
    assert all(found.is_empty for one in done.tables for found in one.after)
    assert any(found.older for one in done.tables for found in one.before), "nothing of the past was searched"
    assert any(found.files for one in done.tables for found in one.before), "no file was searched"
    assert len(done.dropped) == len(how)
    assert open_.state.tables.retired() == []
    assert {one.where for one in done.remains} == {"source people of forget_shop", "source orders of forget_shop"}
    assert_as_if_never_there(open_)
    assert not traces(open_, PERSON)
    [event] = [event for event in open_.state.events("forget_shop") if event.kind == "forget"]
    assert f"{done.rows:,} rows" in event.text
    assert PERSON not in event.text
    # The flows go on where they were.
    add(open_, 2, people=[0, 1, 2, 4, 5])
    drain(open_)
    assert_as_if_never_there(open_)
    again = forget(open_.project, KEY)
    assert ({one.how for one in again.tables}, again.rows, again.dropped) == ({"untouched"}, 0, ())
    cut_off_and_repeated(open_, monkeypatch)


def cut_off_and_repeated(open_, monkeypatch):
    """Killed when one flow of two is done, the command does the rest when it is called again."""
    other = ForgetRequest("ods.fg_orders", {"who": ("person4",)})

    def first_only(open_, change, say):
        if change.flow == "forget_board":
            raise KeyboardInterrupt
        return carried_out(open_, change, say)

    with monkeypatch.context() as patched:
        patched.setattr(forgetting, "carried_out", first_only)
        with pytest.raises(KeyboardInterrupt):
            forget(open_.project, other)
    assert traces(open_, "person4"), "the old tables are there until both flows are done"
    forget(open_.project, other)
    assert open_.state.tables.retired() == []
    assert_as_if_never_there(open_, frozenset({PERSON, "person4"}))
    assert not traces(open_, "person4")


def traces(open_, person):
    """What is left of a person: files that name it, and folders of older versions of the tables."""
    folder, versions = open_.project.state_dir, open_.state.versions()
    serving = {stored_name(name, version).partition(".")[2] for name, version in versions.items()}
    files = [path for path in folder.rglob("*") if path.is_file() and person.encode() in path.read_bytes()]
    lakes = [path for lake in ("warm", "cold") for path in (folder / lake).glob("*/fg_*")]
    return files + [path for path in lakes if path.name not in serving]


@pytest.mark.parametrize(
    ("request_", "error", "text"),
    [
        (ForgetRequest("dwd.fg_people", {"name": ("x",)}), UnknownColumnError, "no column 'name'"),
        (ForgetRequest("ods.fg_orders", {"order_id": ("many",)}), TypeMismatchError, "'many' is no value of"),
    ],
)
def test_a_key_that_is_wrong_is_refused_before_anything_starts(open_, request_, error, text):
    for flow in FLOWS:
        open_.state.save_plan(plan_of(open_.project, flow))
    with pytest.raises(error, match=text):
        forget(open_.project, request_)


def test_copies_that_a_change_or_an_environment_has_are_refused(open_):
    for flow in FLOWS:
        open_.state.save_plan(plan_of(open_.project, flow))
    plan = plan_of(open_.project, "forget_shop")
    open_.state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"dwd.fg_people"}), environment="dev"), "ann")
    with pytest.raises(ForgetRefusedError, match="environment 'dev' of forget_shop has copies"):
        forget(open_.project, KEY)
    open_.state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"dwd.fg_people"})), "ann")
    with pytest.raises(ForgetRefusedError, match="a change that is not done"):
        forget(open_.project, KEY)


CHANGES = """\
flow: forget_changes
freshness: 100ms
sources:
  buyers: {cdc: {path: changes/*.jsonl, primary_key: [customer], columns: {customer: string, cents: bigint}}}
steps:
  - {use: keep_people, reads: {rows: buyers}, writes: ods.fc_buyers}
  - {use: total, reads: {rows: ods.fc_buyers}, writes: dws.fc_total}
tables:
  ods.fc_buyers: {tiers: {warm: forever}}
  dws.fc_total: {tiers: {warm: forever}}
"""
TOTAL = """\
/* ---
action: total
step: aggregate
inputs: {rows: {customer: string, cents: bigint}}
--- */
SELECT LENGTH(customer) AS size, SUM(cents) AS cents FROM rows GROUP BY LENGTH(customer)
"""


def test_rows_of_a_followed_database_must_be_deleted_there_first(open_):
    """Else a later change of such a row would take it out of the sums a second time."""
    root = open_.project.root
    (root / "actions" / "total.sql").write_text(TOTAL)
    (root / "flows" / "forget_changes.yaml").write_text(CHANGES)
    (root / "changes").mkdir()
    key = ForgetRequest("ods.fc_buyers", {"customer": (PERSON,)})

    def happens(number, *events):
        lines = [json.dumps({"op": op, "before": before, "after": after, "ts_ms": 1}) for op, before, after in events]
        (root / "changes" / f"{number}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        plan = plan_of(open_.project, "forget_changes")
        carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)

    def totals():
        table = table_at(plan_of(open_.project, "forget_changes").tables["dws.fc_total"], open_.state.versions())
        return {row["size"]: row["cents"] for row in union_read(table, open_.stores).to_pylist()}

    rows = [{"customer": f"person{n}", "cents": 10 * n} for n in range(1, 5)]
    happens(1, *(("c", None, row) for row in rows))
    assert totals() == {7: 100}
    assert forget(open_.project, key, dry_run=True).obstacles
    with pytest.raises(ForgetRefusedError, match="follows the source buyers"):
        forget(open_.project, key)
    happens(2, ("d", rows[2], None))
    done = forget(open_.project, key)
    [before] = next(one.before for one in done.tables if one.table == "ods.fc_buyers")
    assert (before.rows, before.older, done.rows) == (0, 1, 0), "only earlier snapshots had it"
    assert [(one.where, one.what) for one in done.remains] == [
        ("change events of the source buyers of forget_changes", "2 events name it")
    ]
    assert not traces(open_, PERSON)
    happens(3, ("u", rows[0], rows[0] | {"cents": 15}))
    assert totals() == {7: 75}


@soak
def test_a_spared_table_goes_on_with_what_it_has(open_):
    add(open_, 0)
    drain(open_)
    before = union_read(plan_of(open_.project, "forget_shop").tables["dws.fg_paid"], open_.stores).to_pylist()
    spared = ("dws.fg_paid", "dws.fg_by_city")
    done = forget(open_.project, ForgetRequest("dwd.fg_people", {"id": (PERSON,)}, spared=spared))
    assert {one.where for one in done.remains if not one.where.startswith("source")} == set(spared)
    assert {one.table: one.how for one in done.tables if one.table in spared} == dict.fromkeys(spared, "spared")
    assert open_.state.tables.retired() == []
    add(open_, 1, people=[0, 1, 2, 4, 5])
    drain(open_)
    sums = {row["part"]: row["cents"] for row in before}
    for n in range(10):
        sums[(10 + n) % 4] += 100 + n
    after = union_read(plan_of(open_.project, "forget_shop").tables["dws.fg_paid"], open_.stores).to_pylist()
    assert {row["part"]: row["cents"] for row in after} == sums
