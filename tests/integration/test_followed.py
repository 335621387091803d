"""What the Flow Trigger decides is carried out: for tables that somebody alters, and for sources that change.

Each test runs a flow over some rows, lets something change upstream, brings more rows, and runs the flow again.
"""

import json
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import BlockedError, ChangeFailedError, RowsLostError, SourceError, StateConflictError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.upstream import EventStatus
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.ledger import NoLedger, verify
from streamhouse.stores.paimon.upkeep import PaimonUpkeep
from tests.gate.levels import deep, soak
from tests.live import drop_tables, served

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each change under each policy; one policy of most changes stays",
        stays=(
            "test_rename_column_of_a_table",
            "test_add_column_to_a_table",
            "test_widen_type_read_with_the_old_type[try_evolve]",
            "test_change_type_of_a_source[rescue-wanted5-None]",
            "test_truncate_table_that_a_person_decides_of[True]",
        ),
    ),
]

ACTIONS = {
    "take": ("ingest", "{rows: {}}", "{}", "SELECT * FROM rows"),
    "clean": (
        "clean",
        "{rows: {id: bigint, n: int, note: string}}",
        "{primary_key: [id], extra_columns: pass}",
        "SELECT id, n, note FROM rows WHERE id > 0",
    ),
    "double": (
        "customize",
        "{rows: {id: bigint, n: bigint}}",
        "{primary_key: [id]}",
        "SELECT id, n * 2 AS twice FROM rows",
    ),
}
OWNER = """\
flow: owner
sources: {{rows: {{files: {{path: data/*.parquet}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.fo}}
tables:
  ods.fo: {{tiers: {{{tier}: 30d}}}}
"""
READER = """\
flow: reader
schema_change: {policy}
steps:
  - {{use: clean, reads: {{rows: ods.fo}}, writes: dwd.fo}}
  - {{use: double, reads: {{rows: dwd.fo}}, writes: ads.fo}}
"""
TAKES = """\
flow: reader
schema_change: {policy}
sources: {{rows: {source}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.so}}
  - {{use: clean, reads: {{rows: ods.so}}, writes: dwd.fo}}
tables:
  ods.so: {{tiers: {{{tier}: 30d}}}}
"""
BESIDE = """\
flow: reader
schema_change: {policy}
sources: {{others: {{files: {{path: more/*.parquet}}}}}}
steps:
  - {{use: take, reads: {{rows: others}}, writes: ods.others, isolate: true}}
  - {{use: clean, reads: {{rows: ods.fo}}, writes: dwd.fo}}
"""
ROWS = [{"id": 1, "n": 10, "note": "a", "gone": "x"}, {"id": 2, "n": 20, "note": "b", "gone": "y"}]
TYPES = {"id": pa.int64(), "n": pa.int32(), "note": pa.string(), "gone": pa.string()}


class World:
    """A flow whose sources and tables somebody else changes."""

    def __init__(self, open_: Open) -> None:
        self.open, self.root, self.state = open_, open_.project.root, open_.state
        self._written = 0

    def run(self, flow="reader"):
        """Let a flow take what waits; a look at what changed comes first."""
        plan = plan_of(self.open.project, flow)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def rows(self, table):
        return {row["id"]: row for row in served(self.open, table, flow="reader").to_pylist()}

    def column(self, table, name):
        return {key: row[name] for key, row in self.rows(table).items()}

    def events(self):
        return {str(r.event).split(": ", 1)[1]: r.status for r in self.state.upstream.events("reader")}

    def losses(self):
        return [e.text.split(": ", 1)[1] for e in self.state.events("reader") if e.kind == "loss"]

    def decide(self, *, grant):
        [question] = self.state.approvals.list("reader")
        self.state.approvals.decide(question.id, grant=grant, by="ann", reason="so be it")
        return question

    def alter(self, what, name, to=""):
        """Alter the owner's table by hand."""
        from pypaimon.schema.data_types import AtomicType
        from pypaimon.schema.schema_change import SchemaChange

        made = {
            "rename": lambda: SchemaChange.rename_column(name, to),
            "type": lambda: SchemaChange.update_column_type(name, AtomicType(to.upper())),
            "drop": lambda: SchemaChange.drop_column(name),
            "add": lambda: SchemaChange.add_column(name, AtomicType(to.upper())),
        }
        self.open.stores[Tier.WARM]._catalog.alter_table("ods.fo", [made[what]()], False)

    def write(self, **columns):
        """Append rows to the owner's table as it is now, as somebody else would."""
        store = self.open.stores[Tier.WARM]
        stored = tuple(Column(name=c.name, type=c.type) for c in store.columns("ods.fo"))
        table = self.state.plan("owner")[1].tables["ods.fo"].model_copy(update={"columns": stored})
        rows = pa.table({c.name: columns[c.name] for c in stored}, schema=arrow_schema(stored))
        self._written += 1
        store.write(table, Changes(rows), WriteContext("somebody/else", self._written))

    def file(self, name, rows, **types):
        """A file of a source."""
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith(".parquet"):
            pq.write_table(pa.table({c: pa.array([r.get(c) for r in rows], k) for c, k in types.items()}), path)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def world(tmp_path, fluss, spark):
    """Makes a project of a reader, and of the owner of the table that it reads, if it does."""
    with ExitStack() as stack:

        def make(reader, policy="evolve", tier=Tier.WARM, source=""):
            for folder in ("actions", "flows", "data"):
                (tmp_path / folder).mkdir()
            for name, (step, inputs, output, sql) in ACTIONS.items():
                header = f"action: {name}\nstep: {step}\ninputs: {inputs}\noutput: {output}\n"
                (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
            told = reader.format(policy=policy, source=source, tier=tier.value)
            (tmp_path / "flows" / "reader.yaml").write_text(told)
            if "ods.fo" in reader:
                (tmp_path / "flows" / "owner.yaml").write_text(OWNER.format(tier=tier.value))
            project = Project(tmp_path, Settings(fluss=fluss, auto_apply="all"))
            stores = open_stores(project, spark, fluss)
            for store in stores.values():
                stack.callback(store.close)
            open_ = Open(project, spark, fluss, stores, stack.enter_context(project.state()))
            stack.callback(drop_tables, open_)
            return World(open_)

        yield make


@pytest.fixture
def tabled(world):
    """The reader of a table in the warm tier, which has taken two rows and follows by some policy."""

    def make(policy):
        made = world(READER, policy)
        made.file("data/1.parquet", ROWS, **TYPES)
        made.run("owner")
        made.run()
        assert set(made.rows("dwd.fo")) == {1, 2}
        return made

    return make


def test_rename_column_of_a_table(tabled):
    world = tabled("evolve")
    world.alter("rename", "note", "remark")
    world.write(id=[3], n=[30], remark=["c"], gone=["z"])
    world.run()
    assert world.events() == {"rename_column note → remark (string)": EventStatus.APPLIED}
    rows = world.rows("dwd.fo")
    assert {i: row["note"] for i, row in rows.items()} == {1: "a", 2: "b", 3: "c"}
    assert {i: row["remark"] for i, row in rows.items()} == {1: None, 2: None, 3: "c"}, "beside it, from now on"
    world.alter("rename", "remark", "memo")
    world.write(id=[4], n=[40], memo=["d"], gone=["z"])
    world.run()
    assert world.rows("dwd.fo")[4]["note"] == "d", "by whatever name"


@pytest.mark.parametrize("policy", ["lenient", "evolve"])
def test_drop_column_that_nobody_uses(tabled, policy):
    world = tabled(policy)
    world.alter("drop", "gone")
    world.write(id=[3], n=[30], note=["c"])
    world.run()
    assert world.events() == {"drop_column gone string": EventStatus.APPLIED}
    table = world.state.plan("reader")[1].tables["dwd.fo"]
    if policy == "lenient":
        assert world.column("dwd.fo", "gone") == {1: "x", 2: "y", 3: None}
    else:
        assert "gone" not in table.column_names, "it is written no more"
        assert world.rows("dwd.fo")[3] == {"id": 3, "n": 30, "note": "c"}
    world.alter("add", "gone", "string")  # another column of that name
    world.write(id=[4], n=[40], note=["d"], gone=["w"])
    world.run()
    assert world.rows("dwd.fo")[4] == {"id": 4, "n": 40, "note": "d", "gone": "w"}


def test_drop_column_that_is_used(tabled):
    world = tabled("lenient")
    world.alter("drop", "n")
    world.write(id=[3], note=["c"], gone=["z"])
    world.run()
    [record] = world.state.upstream.events("reader")
    assert (str(record.event), record.status) == ("ods.fo: drop_column n int", EventStatus.APPLIED)
    assert "starving column: ads.fo.twice, which is made of n" in record.decision.notes
    assert world.column("dwd.fo", "n") == {1: 10, 2: 20, 3: None}
    assert world.column("ads.fo", "twice") == {1: 20, 2: 40, 3: None}


@soak
def test_drop_column_that_is_used_waits_under_evolve_and_goes_on_when_granted(tabled):
    world = tabled("evolve")
    world.alter("drop", "n")
    world.write(id=[3], note=["c"], gone=["z"])
    with pytest.raises(BlockedError):
        world.run()
    assert set(world.rows("dwd.fo")) == {1, 2}, "nothing was read meanwhile"
    world.decide(grant=True)
    world.run()
    assert world.column("ads.fo", "twice") == {1: 20, 2: 40, 3: None}


def test_add_column_to_a_table(tabled):
    world = tabled("evolve")
    world.alter("add", "tax", "int")
    world.write(id=[3], n=[30], note=["c"], gone=["z"], tax=[7])
    world.run()
    assert world.events() == {"add_column tax int": EventStatus.APPLIED}
    assert world.column("dwd.fo", "tax") == {1: None, 2: None, 3: 7}


BIG = 2**40


@pytest.mark.parametrize("policy", ["try_evolve", "ignore", "discard_row", "discard_value"])
def test_widen_type_read_with_the_old_type(tabled, policy):
    world = tabled(policy)
    world.alter("type", "n", "bigint")
    world.write(id=[3, 4], n=[30, BIG], note=["c", "d"], gone=["z", "z"])
    world.run()
    assert world.events() == {"widen_type n int → bigint": EventStatus.APPLIED}
    left_out = policy == "discard_row"
    wanted = {1: 10, 2: 20, 3: 30} if left_out else {1: 10, 2: 20, 3: 30, 4: None}
    assert world.column("dwd.fo", "n") == wanted
    became = "their rows were left out" if left_out else "they are NULL"
    assert world.losses() == [f"1 values of ods.fo.n do not fit int: {became}"]


@soak
def test_widen_type_followed_into_a_new_version(tabled):
    world = tabled("evolve")
    world.alter("type", "n", "bigint")
    world.write(id=[3], n=[BIG], note=["c"], gone=["z"])
    with pytest.raises(BlockedError):
        world.run()
    [record] = world.state.upstream.events("reader")
    assert record.status is EventStatus.FAILED
    assert "ods.fo.n is bigint, but port 'rows' of clean takes int" in record.note
    action = world.root / "actions" / "clean.sql"
    action.write_text(action.read_text().replace("n: int,", "n: bigint,"))
    world.run()
    assert world.events() == {"widen_type n int → bigint": EventStatus.APPLIED}
    assert world.column("dwd.fo", "n") == {1: 10, 2: 20, 3: BIG}
    assert world.column("ads.fo", "twice") == {1: 20, 2: 40, 3: 2 * BIG}
    assert world.state.versions()["dwd.fo"] == 2, "the hot tier alters no column"


def test_change_type_of_a_table_fills_a_second_column(tabled):
    world = tabled("lenient")
    world.alter("type", "n", "string")
    world.write(id=[3, 4], n=["30", "many"], note=["c", "d"], gone=["z", "z"])
    world.run()
    assert world.events() == {"change_type n int → string": EventStatus.APPLIED}
    assert world.column("dwd.fo", "n") == {1: 10, 2: 20, 3: 30, 4: None}
    assert world.column("dwd.fo", "n__v2") == {1: None, 2: None, 3: "30", 4: "many"}
    assert world.losses() == ["1 values of ods.fo.n do not fit int: they are NULL"]


PARQUET = "{files: {path: data/*.parquet}}"


@pytest.fixture
def sourced(world):
    """A reader of Parquet files, which has taken two rows and follows by some policy."""

    def make(policy, tier=Tier.HOT):
        made = world(TAKES, policy, tier, PARQUET)
        made.file("data/1.parquet", ROWS, **TYPES)
        made.run()
        assert set(made.rows("dwd.fo")) == {1, 2}
        return made

    return make


@pytest.mark.parametrize("policy", ["lenient", "ignore"])
def test_a_source_without_a_column(sourced, policy):
    made = sourced(policy)
    made.file("data/2.parquet", [{"id": 3, "n": 30, "note": "c", "gone": "z"}], **TYPES)  # waits, and has it
    made.file("data/3.parquet", [{"id": 4, "n": 40, "note": "d"}], **{k: v for k, v in TYPES.items() if k != "gone"})
    made.run()
    assert made.column("dwd.fo", "gone") == {1: "x", 2: "y", 3: "z", 4: None}


@pytest.mark.parametrize(
    ("policy", "wanted", "second"),
    [
        ("lenient", {1: 10, 2: 20, 3: 30, 4: None}, {1: None, 2: None, 3: "30", 4: "many"}),
        ("try_evolve", {1: 10, 2: 20, 3: 30, 4: None}, None),
        ("ignore", {1: 10, 2: 20, 3: 30, 4: None}, None),
        ("discard_row", {1: 10, 2: 20, 3: 30}, None),
        ("discard_value", {1: 10, 2: 20, 3: 30, 4: None}, None),
        ("rescue", {1: 10, 2: 20, 3: 30, 4: None}, None),
    ],
)
def test_change_type_of_a_source(sourced, policy, wanted, second):
    made = sourced(policy)
    rows = [{"id": 3, "n": "30", "note": "c"}, {"id": 4, "n": "many", "note": "d"}]
    made.file("data/2.parquet", rows, **{**TYPES, "n": pa.string()})
    made.run()
    assert made.events() == {"change_type n int → string": EventStatus.APPLIED}
    assert made.column("dwd.fo", "n") == wanted
    became = {"discard_row": "their rows were left out", "rescue": "they are kept in _rescued"}.get(
        policy, "they are NULL"
    )
    assert made.losses() == [f"1 values of rows.n do not fit int: {became}"]
    if second is not None:
        assert made.column("dwd.fo", "n__v2") == second
    if policy == "rescue":
        assert made.column("dwd.fo", "_rescued") == {1: None, 2: None, 3: None, 4: '{"n": "many"}'}


def test_fields_of_a_struct_are_rescued(world):
    made = world(TAKES, "rescue", source=PARQUET)
    took = pa.struct([("a", pa.int32())])
    wide = pa.struct([("a", pa.int64()), ("b", pa.string())])
    deep = pa.struct([("a", pa.int64()), ("b", pa.string()), ("c", pa.struct([("x", pa.int32())]))])

    def add(number, struct, *values):
        rows = [{"id": 10 * number + i, "n": 1, "note": "a", "s": value} for i, value in enumerate(values)]
        made.file(f"data/{number}.parquet", rows, id=pa.int64(), n=pa.int32(), note=pa.string(), s=struct)

    add(1, took, {"a": 1}, None)
    made.run()
    add(2, took, {"a": 2})  # waits, and is as it was
    add(3, wide, {"a": 3, "b": None}, {"a": BIG, "b": None}, {"a": 5, "b": "more"})
    made.run()
    kept = {10: {"a": 1}, 11: None, 20: {"a": 2}, 30: {"a": 3}, 31: {"a": None}, 32: {"a": 5}}
    rescued = dict.fromkeys(kept) | {31: f'{{"s": {{"a": {BIG}}}}}', 32: '{"s": {"b": "more"}}'}
    assert (made.column("dwd.fo", "s"), made.column("dwd.fo", "_rescued")) == (kept, rescued)
    add(4, deep, {"a": 6, "b": None, "c": {"x": 7}}, {"a": 8, "b": None, "c": None})
    made.run()
    kept |= {40: {"a": 6}, 41: {"a": 8}}
    rescued |= {40: '{"s": {"c": {"x": 7}}}', 41: None}
    assert (made.column("dwd.fo", "s"), made.column("dwd.fo", "_rescued")) == (kept, rescued)
    assert set(made.events().values()) == {EventStatus.APPLIED}
    assert len(made.losses()) == 2


@soak
def test_fields_that_somebody_adds_to_a_struct_of_a_table_are_rescued(world):
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    made = world(READER, "rescue")
    types = {**TYPES, "s": pa.struct([("a", pa.int32())])}
    made.file("data/1.parquet", [{**row, "s": {"a": row["id"]}} for row in ROWS], **types)
    made.run("owner")
    made.run()
    more = [SchemaChange.add_column(["s", "b"], AtomicType("STRING"))]
    made.open.stores[Tier.WARM]._catalog.alter_table("ods.fo", more, False)
    made.write(id=[3, 4], n=[30, 40], note=["c", "d"], gone=["z", "z"], s=[{"a": 3, "b": "more"}, {"a": 4, "b": None}])
    made.run()
    assert set(made.events().values()) == {EventStatus.APPLIED}
    assert made.column("dwd.fo", "s") == {number: {"a": number} for number in (1, 2, 3, 4)}
    assert made.column("dwd.fo", "_rescued") == {1: None, 2: None, 3: '{"s": {"b": "more"}}', 4: None}
    clean = made.root / "actions" / "clean.sql"
    clean.write_text(clean.read_text().replace("WHERE id > 0", "WHERE id > 1"))
    flow = made.root / "flows" / "reader.yaml"
    flow.write_text(flow.read_text() + "history: rewrite\n")
    made.run()
    assert made.column("dwd.fo", "_rescued") == {2: None, 3: '{"s": {"b": "more"}}', 4: None}, "built anew, the same"
    assert made.column("dwd.fo", "s") == {number: {"a": number} for number in (2, 3, 4)}


@soak
def test_what_does_not_fit_is_rescued_whatever_is_said_of_added_columns_and_in_histories(tabled):
    made = tabled("{policy: rescue, on: {add_column: ignore}, tables: {dwd.fo: {on: {add_column: freeze}}}}")
    made.alter("type", "n", "bigint")
    made.write(id=[3, 4], n=[30, BIG], note=["c", "d"], gone=["z", "z"])
    made.run()
    assert made.events() == {"widen_type n int → bigint": EventStatus.APPLIED}
    kept = {1: None, 2: None, 3: None, 4: f'{{"n": {BIG}}}'}
    assert made.column("dwd.fo", "_rescued") == kept
    assert made.column("dwd.fo", "n") == {1: 10, 2: 20, 3: 30, 4: None}
    assert "_rescued" not in made.state.plan("reader")[1].tables["ads.fo"].column_names
    made.alter("rename", "n", "m")
    made.write(id=[5], m=[BIG + 1], note=["e"], gone=["z"])
    made.run()
    kept[5] = f'{{"n": {BIG + 1}}}'
    assert made.column("dwd.fo", "_rescued") == kept, "by whatever name"
    action = made.root / "actions" / "clean.sql"
    action.write_text(action.read_text().replace("WHERE id > 0", "WHERE id > 1"))
    flow = made.root / "flows" / "reader.yaml"
    flow.write_text(flow.read_text() + "history: rewrite\n")
    made.run()
    del kept[1]
    assert made.state.versions()["dwd.fo"] == 2
    assert made.column("dwd.fo", "_rescued") == kept, "a table built anew by Spark's tasks holds the same"


@soak
def test_change_type_of_a_source_waits_under_evolve(sourced):
    made = sourced("evolve")
    made.file("data/2.parquet", [{"id": 3, "n": "30", "note": "c"}], **{**TYPES, "n": pa.string()})
    with pytest.raises(BlockedError):
        made.run()
    assert set(made.rows("dwd.fo")) == {1, 2}
    question = made.decide(grant=False)
    assert question.asks == "make n string where it is int"
    made.run()
    assert made.column("dwd.fo", "n") == {1: 10, 2: 20, 3: 30}, "refused: as under ignore"


TWO = """\
flow: reader
schema_change: {policy}
sources: {{rows: {source}, others: {{files: {{path: more/*.parquet}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.so}}
  - {{use: clean, reads: {{rows: ods.so}}, writes: dwd.fo}}
  - {{use: take, reads: {{rows: others}}, writes: ods.others, isolate: true}}
tables:
  ods.so: {{tiers: {{{tier}: 30d}}}}
"""


def test_what_does_not_compile_holds_its_own_readers_alone(world):
    made = world(TWO, "evolve", Tier.WARM, PARQUET)
    more = {"id": pa.int64(), "size": pa.int64()}
    made.file("data/1.parquet", ROWS, **TYPES)
    made.file("more/1.parquet", [{"id": 1, "size": 5}], **more)
    made.run()
    made.file("data/2.parquet", [{"id": 3, "n": BIG, "note": "c"}], **{**TYPES, "n": pa.int64()})  # clean takes int
    made.file("more/2.parquet", [{"id": 2, "size": 6, "place": "x"}], **more, place=pa.string())
    with pytest.raises(ChangeFailedError):
        made.run()
    assert made.events() == {
        "widen_type n int → bigint": EventStatus.FAILED,
        "add_column place string": EventStatus.APPLIED,
    }
    assert set(made.rows("dwd.fo")) == {1, 2}, "its reader stands still"
    assert made.column("ods.others", "place") == {1: None, 2: "x"}, "the other one goes on, with its column"
    action = made.root / "actions" / "clean.sql"
    action.write_text(action.read_text().replace("n: int,", "n: bigint,"))
    made.file("more/3.parquet", [{"id": 3, "size": 7, "place": "y", "shelf": 1}], **more, place=pa.string(),
              shelf=pa.int32())  # fmt: skip
    made.run()
    assert set(made.events().values()) == {EventStatus.APPLIED}
    assert made.column("dwd.fo", "n") == {1: 10, 2: 20, 3: BIG}
    assert made.column("ods.others", "shelf") == {1: None, 2: None, 3: 1}


CDC = "{cdc: {path: data/*.json, primary_key: [id], columns: {id: bigint, n: int, note: string}}}"
KINDS = {int: "int32", str: "string"}


class Database:
    """A table whose changes Debezium tells."""

    def __init__(self, made):
        self.made = made
        self.columns = {"id": ("int64", False), "n": ("int32", False), "note": ("string", True)}
        self.defaults = {}

    def change(self, name, *events):
        """One file of events: a row, or what is told as it is."""
        self.made.file(f"data/{name}.json", [self.event(e) if "id" in e else e for e in events])

    def event(self, row):
        fields = [
            {"field": n, "type": kind, "optional": optional, **self.defaults.get(n, {})}
            for n, (kind, optional) in self.columns.items()
        ]
        schema = {"fields": [{"field": "after", "type": "struct", "fields": fields}]}
        return {"schema": schema, "payload": {"op": "c", "before": None, "after": row}}


@pytest.fixture
def database(world):
    def make(policy):
        made = world(TAKES, policy, Tier.HOT, CDC)
        (made.root / "actions" / "take.sql").write_text(
            "/* ---\naction: take\nstep: ingest\ninputs: {rows: {}}\noutput: {primary_key: [id]}\n--- */\n"
            "SELECT * FROM rows\n"
        )
        found = Database(made)
        found.change("1", {"id": 1, "n": 10, "note": "a"}, {"id": 2, "n": 20, "note": "b"})
        made.run()
        assert made.column("dwd.fo", "note") == {1: "a", 2: "b"}
        return found

    return make


@pytest.mark.parametrize("policy", ["evolve", "{}"])
def test_rename_column_told_by_ddl(database, policy):
    shop = database(policy)
    shop.columns["remark"] = shop.columns.pop("note")
    ddl = {"ddl": "ALTER TABLE t RENAME COLUMN note TO remark", "tableChanges": []}
    shop.change("2", ddl, {"id": 3, "n": 30, "remark": "c"}, {"id": 2, "n": 21, "remark": "B"})
    shop.made.run()
    assert shop.made.events() == {"rename_column note → remark (string)": EventStatus.APPLIED}
    assert shop.made.column("dwd.fo", "note") == {1: "a", 2: "B", 3: "c"}
    assert shop.made.column("dwd.fo", "remark") == {1: None, 2: "B", 3: "c"}
    shop.change("3", {"id": 4, "n": 40, "remark": "d"})  # the DDL is not among the newest messages any more
    shop.made.run()
    assert shop.made.column("dwd.fo", "note")[4] == "d"
    assert list(shop.made.events()) == ["rename_column note → remark (string)"]


def test_relax_nullability(database):
    shop = database("evolve")
    shop.columns["n"] = ("int32", True)
    shop.change("2", {"id": 3, "n": None, "note": "c"})
    shop.made.run()
    assert shop.made.events() == {"relax_nullability n": EventStatus.APPLIED}
    assert shop.made.column("dwd.fo", "n") == {1: 10, 2: 20, 3: None}


def test_add_required_column(database):
    shop = database("evolve")
    shop.columns["tax"] = ("int32", False)
    shop.defaults["tax"] = {"default": 5}
    shop.change("2", {"id": 3, "n": 30, "note": "c", "tax": 7}, {"id": 4, "n": 40, "note": "d"})
    shop.made.run()
    assert shop.made.column("dwd.fo", "tax") == {1: None, 2: None, 3: 7, 4: 5}


@pytest.mark.parametrize("policy", ["lenient", "{}"])
def test_change_type_told_by_a_schema_part(database, policy):
    shop = database(policy)
    shop.columns["n"] = ("string", False)
    shop.change("2", {"id": 3, "n": "30", "note": "c"}, {"id": 1, "n": "many", "note": "a"})
    shop.made.run()
    assert shop.made.events() == {"change_type n int → string": EventStatus.APPLIED}
    assert shop.made.column("dwd.fo", "n") == {1: None, 2: 20, 3: 30}
    assert shop.made.column("dwd.fo", "n__v2") == {1: "many", 2: None, 3: "30"}
    assert shop.made.losses() == ["1 values of rows.n do not fit int: they are NULL"]


@soak
def test_change_key_is_settled_by_giving_the_new_one(database):
    shop = database("evolve")
    ddl = {"ddl": "ALTER TABLE t …", "tableChanges": [{"table": {"primaryKeyColumnNames": ["id", "n"]}}]}
    shop.change("2", ddl, {"id": 3, "n": 30, "note": "c"}, {"id": 1, "n": 11, "note": "A"})
    with pytest.raises(BlockedError):
        shop.made.run()
    assert (
        "Give the source, and the actions that write by its key, the new one" in shop.made.decide(grant=True).evidence
    )
    with pytest.raises(BlockedError):
        shop.made.run()
    assert set(shop.made.rows("dwd.fo")) == {1, 2}, "granting alone does not make it so"
    for name in ("actions/take.sql", "actions/clean.sql", "flows/reader.yaml"):
        file = shop.made.root / name
        file.write_text(file.read_text().replace("primary_key: [id]", "primary_key: [id, n]"))
    shop.made.run()
    assert set(shop.made.events().values()) == {EventStatus.OUTDATED}
    rows = served(shop.made.open, "dwd.fo", flow="reader").to_pylist()
    found = sorted((row["id"], row["n"], row["note"]) for row in rows)
    assert found == [(1, 10, "a"), (1, 11, "A"), (2, 20, "b"), (3, 30, "c")]
    assert shop.made.state.versions()["dwd.fo"] == 2


TRUNCATED = {"payload": {"op": "t", "before": None, "after": None, "ts_ms": 7}}


@pytest.mark.parametrize("policy", ["lenient", "ignore"])
def test_truncate_table_that_is_not_forwarded(database, policy):
    shop = database(policy)
    shop.change("2", {"id": 3, "n": 30, "note": "c"}, TRUNCATED, {"id": 4, "n": 40, "note": "d"})
    shop.made.run()
    assert set(shop.made.rows("dwd.fo")) == {1, 2, 3, 4}
    assert shop.made.events() == {"truncate_table": EventStatus.APPLIED}


@pytest.mark.parametrize("grant", [True, False])
def test_truncate_table_that_a_person_decides_of(database, grant):
    shop = database("evolve")
    shop.change("2", {"id": 3, "n": 30, "note": "c"}, TRUNCATED, {"id": 2, "n": 22, "note": "B"})
    with pytest.raises(BlockedError):
        shop.made.run()
    assert set(shop.made.rows("dwd.fo")) == {1, 2}
    assert "remove all rows" in shop.made.decide(grant=grant).asks
    shop.made.run()
    assert shop.made.column("ods.so", "n") == ({2: 22} if grant else {1: 10, 2: 22, 3: 30})
    assert shop.made.column("dwd.fo", "n") == ({2: 22} if grant else {1: 10, 2: 22, 3: 30})
    shop.change("3", {"id": 5, "n": 50, "note": "e"})
    shop.made.run()
    assert shop.made.column("dwd.fo", "n") == ({2: 22, 5: 50} if grant else {1: 10, 2: 22, 3: 30, 5: 50})


def test_a_truncation_in_a_flow_that_nobody_looks_at_stops_it(database):
    shop = database("evolve")
    shop.change("2", TRUNCATED, {"id": 4, "n": 40, "note": "d"})
    plan = plan_of(shop.made.open.project, "reader")
    with pytest.raises(SourceError, match="the table was truncated, and no decision about it is recorded"):
        carry(shop.made.open, plan, Meter(plan, lambda _: None, once=True), once=True)


@pytest.mark.parametrize("policy", ["lenient", "evolve"])
def test_drop_table(tabled, policy):
    made = tabled(policy)
    made.write(id=[3], n=[30], note=["c"], gone=["z"])
    made.open.stores[Tier.WARM].drop("ods.fo")
    with pytest.raises(BlockedError):
        made.run()
    assert made.events() == {"drop_table": EventStatus.WAITING}
    assert set(made.rows("dwd.fo")) == {1, 2}, "the reader stops, its tables stay"
    assert bool(made.state.approvals.list("reader")) == (policy == "evolve")


@soak
def test_drop_table_is_settled_by_taking_its_readers_out(world):
    made = world(BESIDE, "evolve")
    made.file("data/1.parquet", ROWS, **TYPES)
    made.file("more/1.parquet", [{"id": 1, "size": 5}], id=pa.int64(), size=pa.int64())
    made.run("owner")
    made.run()
    made.open.stores[Tier.WARM].drop("ods.fo")
    made.file("more/2.parquet", [{"id": 2, "size": 6}], id=pa.int64(), size=pa.int64())
    with pytest.raises(BlockedError):
        made.run()
    assert "take the steps that read it out of the flow" in made.decide(grant=True).evidence
    with pytest.raises(BlockedError):
        made.run()
    assert made.events() == {"drop_table": EventStatus.FAILED}, "granting alone does not make it so"
    table = made.state.plan("reader")[1].tables["dwd.fo"]
    flow = made.root / "flows" / "reader.yaml"
    steps = [line for line in flow.read_text().splitlines() if "ods.fo" not in line]
    flow.write_text("\n".join(steps) + "\n")
    made.run()
    assert made.events() == {"drop_table": EventStatus.OUTDATED}
    assert set(made.rows("ods.others")) == {1, 2}
    store = made.open.stores[Tier.HOT]
    assert sorted(store.read_state(table)["id"].to_pylist()) == [1, 2], "what was made of it stays"
    store.drop(table.name)


def recreate(made, tier, monkeypatch):
    """The owner's table is dropped and made again by somebody who does not use the project's ledger."""
    table, store = made.state.plan("owner")[1].tables["ods.fo"], made.open.stores[tier]
    with monkeypatch.context() as beside:
        beside.setattr(store, "ledger", NoLedger())
        store.drop(table.name)
        store.create(table)
    return table, store


@pytest.mark.parametrize("policy", ["lenient", "evolve"])
def test_recreate_table_is_read_from_its_beginning_once_a_person_says_so(tabled, policy, monkeypatch):
    made = tabled(policy)
    _, store = recreate(made, Tier.WARM, monkeypatch)
    made.write(id=[7], n=[70], note=["g"], gone=["z"])
    with pytest.raises(BlockedError):
        made.run()
    assert set(made.rows("dwd.fo")) == {1, 2}
    made.decide(grant=True)
    made.run()
    assert list(made.events().values()) == [EventStatus.APPLIED]
    assert made.column("dwd.fo", "n") == {7: 70}
    assert made.column("ads.fo", "twice") == {7: 140}
    assert made.state.versions()["dwd.fo"] == 2, "the old one is kept for a while"
    old = made.open.stores[Tier.HOT].read_state(made.state.plan("reader")[1].tables["dwd.fo"])
    assert sorted(old["id"].to_pylist()) == [1, 2]
    made.write(id=[8], n=[80], note=["h"], gone=["z"])
    made.run()
    assert made.column("dwd.fo", "n") == {7: 70, 8: 80}
    known = verify(store, made.state.plan("owner")[1].tables["ods.fo"])
    assert known is not None
    assert known.identity == store.identity("ods.fo"), "what the person said to read is what the ledger knows"


def test_a_reader_refuses_a_hot_table_of_another_flow_that_is_not_the_one_it_read(world, monkeypatch):
    """Without the Flow Trigger nobody asks; read on from the position in the old one, rows would be passed over."""
    made = world(READER, tier=Tier.HOT)
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run("owner")
    made.run()
    table, store = recreate(made, Tier.HOT, monkeypatch)
    rows = pa.Table.from_pylist([{**ROWS[0], "id": k} for k in range(7, 17)], schema=arrow_schema(table.columns))
    store.write(table, Changes(rows), WriteContext("somebody/else", 1))
    plan = plan_of(made.open.project, "reader")
    with pytest.raises(StateConflictError, match="another table"):
        carry(made.open, plan, Meter(plan, lambda _: None, once=True), once=True)
    assert set(made.rows("dwd.fo")) == {1, 2}


@soak
def test_histories_are_read_as_epochs_are(tabled):
    """A table that is built anew, by Spark's tasks, holds what the epochs gave."""
    made = tabled("try_evolve")
    made.alter("rename", "note", "remark")
    made.alter("type", "n", "bigint")
    made.write(id=[3, 4], n=[30, BIG], remark=["c", "d"], gone=["z", "z"])
    made.run()
    before = made.rows("dwd.fo")
    assert before[4] == {"id": 4, "n": None, "note": "d", "gone": "z", "remark": "d"}
    action = made.root / "actions" / "clean.sql"
    action.write_text(action.read_text().replace("WHERE id > 0", "WHERE id > 1"))
    flow = made.root / "flows" / "reader.yaml"
    flow.write_text(flow.read_text() + "history: rewrite\n")
    made.run()
    assert made.state.versions()["dwd.fo"] == 2
    after = made.rows("dwd.fo")
    assert {key: row["n"] for key, row in after.items()} == {2: 20, 3: 30, 4: None}
    assert {key: row["note"] for key, row in after.items()} == {2: "b", 3: "c", 4: "d"}


def expire(made, table=None):
    """Have upkeep forget every snapshot but the newest, as if nobody had told it of the reader."""
    upkeep = PaimonUpkeep(lambda: made.open.spark, made.open.project.warm, made.root / ".streamhouse" / "locks")
    table = table or made.state.plan("owner")[1].tables["ods.fo"]
    assert upkeep.expire(table, datetime.now(UTC) + timedelta(days=1), {}) > 0


@pytest.mark.parametrize("policy", ["lenient", "freeze"])
def test_positions_lost_of_a_table_whose_snapshots_expired_behind_a_reader(tabled, policy):
    made = tabled(policy)
    for number in (3, 4, 5):
        made.write(id=[number], n=[10 * number], note=["c"], gone=["z"])
    expire(made)
    with pytest.raises(BlockedError):
        made.run()
    [record] = made.state.upstream.events("reader")
    assert (record.event.type.value, record.status) == ("positions_lost", EventStatus.WAITING)
    assert set(made.rows("dwd.fo")) == {1, 2}, "nothing is read meanwhile"
    with pytest.raises(BlockedError):
        made.run()
    question = made.decide(grant=True)
    assert question.asks == "read ods.fo from its beginning into new versions of what is made of it"
    assert "Paimon no longer holds snapshot" in question.evidence
    assert "lost what was not read" in question.evidence
    made.run()
    [record] = made.state.upstream.events("reader")
    assert record.status is EventStatus.APPLIED
    assert made.column("dwd.fo", "n") == {number: 10 * number for number in range(1, 6)}, "its rows were there"
    assert made.column("ads.fo", "twice") == {number: 20 * number for number in range(1, 6)}
    assert made.state.versions()["dwd.fo"] == 2
    # Nothing is asked any more, and what comes is read on; a loss that comes later is asked for anew.
    made.write(id=[6], n=[60], note=["c"], gone=["z"])
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6}
    assert plan_of(made.open.project, "reader") == made.state.plan("reader")[1]
    for number in (7, 8, 9):
        made.write(id=[number], n=[10 * number], note=["c"], gone=["z"])
    expire(made)
    with pytest.raises(BlockedError):
        made.run()
    made.decide(grant=False)
    with pytest.raises(ChangeFailedError):
        made.run()
    assert [r.status for r in made.state.upstream.events("reader")].count(EventStatus.REFUSED) == 1
    assert set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6}, "its readers go on waiting"


def test_rows_that_a_hot_log_dropped_unread_are_told_and_gone_on_behind(world, monkeypatch):
    """As if the log's time had passed: the real store, but what lies before a position cannot be read any more."""
    made = world(READER, "evolve", tier=Tier.HOT)
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run("owner")
    made.run()
    made.file("data/2.parquet", [{**ROWS[0], "id": 3}, {**ROWS[0], "id": 4}], **TYPES)
    made.run("owner")
    hot = made.open.stores[Tier.HOT]
    log = made.state.plan("owner")[1].tables["ods.fo"]
    kept_from = hot.end(log)
    made.file("data/3.parquet", [{**ROWS[0], "id": 5}], **TYPES)
    made.run("owner")
    start, read_changes = hot.start, hot.read_changes

    def read(table, begin, end, columns=None):
        if table.name == "ods.fo" and any(begin.get(bucket, 0) < first for bucket, first in kept_from.items()):
            raise RowsLostError(f"{table.name} begins at {kept_from}")
        return read_changes(table, begin, end, columns)

    monkeypatch.setattr(hot, "start", lambda table: kept_from if table.name == "ods.fo" else start(table))
    monkeypatch.setattr(hot, "read_changes", read)
    with pytest.raises(BlockedError):
        made.run()
    assert set(made.rows("dwd.fo")) == {1, 2}
    question = made.decide(grant=True)
    assert question.asks == "go on behind the rows of ods.fo that are gone"
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 5}
    assert made.column("ads.fo", "twice") == {1: 20, 2: 40, 5: 20}
    assert [record.status for record in made.state.upstream.events("reader")] == [EventStatus.APPLIED]
    assert made.losses() == ["0: 2 to 4"]
    made.file("data/4.parquet", [{**ROWS[0], "id": 6}], **TYPES)
    made.run("owner")
    made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 5, 6}
    # Of a later version of the table every row is read, also those at the offsets that were gone.
    take, owner = made.root / "actions" / "take.sql", made.root / "flows" / "owner.yaml"
    take.write_text(take.read_text().replace("FROM rows", "FROM rows WHERE id > 5"))
    owner.write_text(owner.read_text().replace("30d}}", "30d}, history: rewrite}"))
    made.run("owner")
    assert made.state.versions()["ods.fo"] == 2
    made.run()
    for numbers in ((7,), (8, 9)):  # the last two are where the gap was, and begin an epoch
        made.file(f"data/{numbers[0]}.parquet", [{**ROWS[0], "id": number} for number in numbers], **TYPES)
        made.run("owner")
        made.run()
    assert set(made.rows("dwd.fo")) == {1, 2, 5, 6, 7, 8, 9}


APART = "  - {{use: clean, reads: {{rows: dwd.fo}}, writes: dwd.apart, isolate: true}}\n"


def test_positions_lost_are_read_anew_into_what_keeps_its_history_on_another_clock(world):
    made = world(READER + APART)
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run("owner")
    made.run()
    assert len(made.state.plan("reader")[1].segments) == 2
    for number in (3, 4, 5):
        made.write(id=[number], n=[10 * number], note=["c"], gone=["z"])
    expire(made)
    with pytest.raises(BlockedError):
        made.run()
    made.decide(grant=True)
    made.run()
    assert made.column("dwd.fo", "n") == {number: 10 * number for number in range(1, 6)}
    assert made.column("dwd.apart", "n") == {number: 10 * number for number in range(1, 6)}
    versions = made.state.versions("reader")
    assert [versions[name] for name in ("dwd.fo", "ads.fo", "dwd.apart")] == [2, 2, 2]
    made.write(id=[6], n=[60], note=["d"], gone=["z"])
    made.run()
    assert set(made.rows("dwd.apart")) == {1, 2, 3, 4, 5, 6}


@soak
def test_a_reader_on_another_clock_goes_on_exactly_where_a_table_built_anew_begins_to_serve(world):
    made = world(TAKES.replace("writes: dwd.fo}", "writes: dwd.fo, isolate: true}"), source=PARQUET)
    flow, take = made.root / "flows" / "reader.yaml", made.root / "actions" / "take.sql"
    flow.write_text(flow.read_text().replace("30d}}", "30d}, history: rewrite}"))
    clean = made.root / "actions" / "clean.sql"  # without a key, a row that is taken twice is there twice
    clean.write_text(clean.read_text().replace("primary_key: [id], ", ""))
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run()
    assert len(made.state.plan("reader")[1].segments) == 2
    take.write_text(take.read_text().replace("FROM rows", "FROM rows WHERE id <> 2"))
    more = [{"id": number, "n": 10 * number, "note": "c", "gone": "z"} for number in (3, 4)]
    made.file("data/2.parquet", more[:1], **TYPES)  # waits when the edit is applied
    made.run()
    made.file("data/3.parquet", more[1:], **TYPES)
    made.run()
    assert made.state.versions("reader") == {"ods.so": 2}
    assert sorted(made.rows("ods.so")) == [1, 3, 4]
    found = served(made.open, "dwd.fo", flow="reader")["id"].to_pylist()
    assert sorted(found) == [1, 2, 3, 4], "what it had, and each row that came since"


def test_snapshots_that_were_read_may_expire(tabled):
    made = tabled("evolve")
    for number in (3, 4, 5):
        made.write(id=[number], n=[10 * number], note=["c"], gone=["z"])
    made.run()
    expire(made)
    made.write(id=[6], n=[60], note=["d"], gone=["z"])
    made.run()
    assert made.events() == {}
    assert set(made.rows("dwd.fo")) == {1, 2, 3, 4, 5, 6}


def test_a_source_that_is_new_to_a_flow_is_refused_where_not_all_its_readers_have_read_as_much(world):
    made = world(TAKES, source="{files: {path: data/*.parquet}}")
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run()
    flow = made.root / "flows" / "reader.yaml"
    before = made.state.plan("reader")[1]
    renamed = flow.read_text().replace("{rows: {files", "{fresh: {files").replace("{rows: rows}", "{rows: fresh}")
    more = "steps:\n  - {use: take, reads: {rows: fresh}, writes: ods.beside}\n"
    flow.write_text(renamed.replace("steps:\n", more))
    with pytest.raises(ChangeFailedError, match="reads fresh for the first time, and not all its readers have read"):
        made.run()
    assert made.state.plan("reader")[1] == before, "nothing was applied"
    assert set(made.rows("dwd.fo")) == {1, 2}
    assert made.state.versions().get("ods.so", 1) == 1
    # As the hint says: first those that are built anew, then the others.
    flow.write_text(renamed)
    made.file("data/2.parquet", [{"id": 3, "n": 30, "note": "c", "gone": "z"}], **TYPES)
    made.run()
    assert sorted(made.rows("ods.so")) == [1, 2, 3]
    assert set(made.rows("dwd.fo")) == {1, 2, 3}


@soak
def test_new_steps_behind_each_other_get_the_history_of_what_the_flow_has_read(world):
    made = world(TAKES, source=PARQUET)
    made.file("data/1.parquet", ROWS, **TYPES)
    made.run()
    flow = made.root / "flows" / "reader.yaml"
    more = "  - {use: clean, reads: {rows: ods.so}, writes: dwd.more}\n"
    more += "  - {use: double, reads: {rows: dwd.more}, writes: ads.more, isolate: true}\n"
    flow.write_text(flow.read_text().replace("steps:\n", f"steps:\n{more}"))
    made.file("data/2.parquet", [{"id": 3, "n": 30, "note": "c", "gone": "z"}], **TYPES)
    made.run()
    assert made.column("dwd.more", "n") == {1: 10, 2: 20, 3: 30}
    assert made.column("ads.more", "twice") == {1: 20, 2: 40, 3: 60}
    assert set(made.rows("dwd.fo")) == {1, 2, 3}
