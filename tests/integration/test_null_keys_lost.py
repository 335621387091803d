"""Keys and partitions that are NULL: after losses, in a copy of a project, in the past, and when a key is forgotten."""

import shutil
import time
from contextlib import contextmanager, nullcontext, suppress

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import QueryRefusedError
from streamhouse.jobs import forget as forgetting
from streamhouse.jobs.forget import ForgetRequest, forget
from streamhouse.jobs.query import catalog_of, epochs_of
from streamhouse.model.table import NULL_BITS
from streamhouse.project.identity import record
from streamhouse.query.answer import answer
from streamhouse.query.embedded import answer_here
from streamhouse.query.parse import parse_query
from streamhouse.query.plain_sql import plain
from streamhouse.query.plain_values import NotPlainError
from streamhouse.query.reading import readable
from streamhouse.runtime.settle import adopt
from tests.drills import HEAD, ORDERS, Drill
from tests.gate.levels import deep, soak
from tests.oracle import assert_same_rows

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("tests/contract/test_null_keys.py has each store, and test_null_keys.py each tier"),
]

SHOPS = "{customer: string, city: string}"
ACTIONS = {
    # The text of no characters is what stores have in place of NULL.
    "keep": (
        "ingest",
        ORDERS,
        "",
        "SELECT order_id, CASE WHEN customer = 'none' THEN '' ELSE customer END AS customer, cents, tax FROM rows",
    ),
    "shops": ("ingest", SHOPS, "output: {primary_key: [customer]}\n", "SELECT customer, city FROM rows"),
    "named": (
        "clean",
        f"{ORDERS}, shops: {SHOPS}",
        "output: {primary_key: [order_id]}\n",
        """\
SELECT r.order_id, s.city, e.city AS exact
FROM rows r LEFT JOIN shops s ON s.customer = r.customer LEFT JOIN shops e ON e.customer <=> r.customer""",
    ),
}
FLOW = f"""\
flow: f
freshness: 100ms
sources:
  orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}
  shops: {{files: {{path: shops/*.csv, columns: {SHOPS}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.nl_log}}
  - {{use: shops, reads: {{rows: shops}}, writes: ods.nl_shops}}
  - {{use: valid, reads: {{rows: ods.nl_log}}, writes: dwd.nl_keyed}}
  - {{use: named, reads: {{rows: ods.nl_log, shops: {{table: ods.nl_shops, as: lookup}}}}, writes: dwd.nl_named}}
  - {{use: spent, reads: {{rows: ods.nl_log}}, writes: dws.nl_spent}}
tables:
  ods.nl_log: {{partition_by: [tax], tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  ods.nl_shops: {{tiers: {{hot: 7d, warm: 30d}}}}
  dwd.nl_keyed: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dwd.nl_named: {{tiers: {{hot: 7d, cold: forever}}}}
  dws.nl_spent: {{tiers: {{hot: 7d, warm: 30d}}}}
"""
NULL_KEYS = {
    "ods.nl_log": ("tax",),
    "ods.nl_shops": ("customer",),
    "dwd.nl_keyed": ("order_id",),
    "dwd.nl_named": ("order_id",),
    "dws.nl_spent": ("customer",),
}
LOSSES = [
    ("hot", "state"),
    *(
        pytest.param(lost, marks=soak)
        for lost in (("hot",), ("hot", "state", "checkpoints"), ("state", "checkpoints"), ("warm",), ("cold",))
    ),
]


class Nullable(Drill):
    """Each file has rows without a key, and rows whose key stores have in place of NULL."""

    def __init__(self, root, spark, yaml=FLOW):
        super().__init__(root, spark, {"f": yaml})
        for name, parts in ACTIONS.items():
            (root / "actions" / f"{name}.sql").write_text(HEAD.format(name, *parts))
        (root / "shops").mkdir(exist_ok=True)
        (root / "shops" / "1.csv").write_text("customer,city\na,oslo\n,nowhere\n")

    def add(self):
        n = self.files
        lines = [f",a,{n + 1},", f"0,none,{n + 2},0", f"{n + 1},,{n + 3},1", f",,{n + 4},0", f"{n},none,1,"]
        new = self.root / "data" / ".new"
        new.write_text("\n".join(["order_id,customer,cents,tax", *lines]) + "\n")
        new.replace(self.root / "data" / f"{n:04}.csv")
        self.files += 1

    def ask(self, sql):
        """Rows by Spark, and by the other program where it takes the query: they agree."""
        stores, epochs = self.open.stores, epochs_of(self.project)
        query = parse_query(sql, catalog_of(self.project))
        rows = answer(query, stores, self.spark, epochs=epochs)
        with suppress(NotPlainError):
            here = answer_here(query, plain(query), readable(query, stores, epochs))
            assert_same_rows(here, rows.cast(here.schema), key=(), name=sql)
        return rows


@contextmanager
def nullable(root, spark):
    made = Nullable(root, spark)
    made.lose_cold()
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def saved(tmp_path_factory, spark):
    """Two epochs in all tiers; at rest."""
    with nullable(tmp_path_factory.mktemp("lost") / "project", spark) as d:
        d.begin()
        for _ in range(2):
            d.add()
            d.run()
            d.tier()
        assert {name: table.null_keys for name, table in d.plan("f").tables.items()} == NULL_KEYS
        assert d.differences() == {}
        d.end()
        d.save("now")
        yield d


@pytest.mark.parametrize("lost", LOSSES, ids=" and ".join)
def test_after_losses(saved, lost):
    saved.compose(dict.fromkeys(lost), "now")
    saved.begin()
    try:
        saved.restore(from_sources="checkpoints" in lost)
        assert saved.differences() == {}
        saved.add()
        saved.run()
        saved.tier()
        assert saved.differences() == {}
    finally:
        saved.end()
        saved.files -= 1
        (saved.root / "data" / f"{saved.files:04}.csv").unlink()


def test_in_a_copy_of_the_project(tmp_path, spark):
    yaml = FLOW.replace(", cold: forever", "").replace("hot: 7d, ", "").replace("{hot: 7d}", "{warm: 30d}")
    first = Nullable(tmp_path / "project", spark, yaml)
    first.begin()
    first.add()
    first.run()
    first.end()
    record(first.root)  # a command does so
    shutil.copytree(first.root, tmp_path / "copy", symlinks=True)
    copy = Nullable(tmp_path / "copy", spark, yaml)
    copy.files = first.files
    assert adopt(copy.project)
    copy.begin()
    try:
        assert copy.differences() == {}
        copy.add()
        copy.run()
        assert copy.differences() == {}
    finally:
        copy.end()


def now():
    """The present as text; nothing else happens in its millisecond."""
    time.sleep(0.01)
    second, rest = divmod(time.time_ns() // 1_000_000, 1000)
    time.sleep(0.01)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(second))}.{rest:03}"


PARTS = ("", ".hot", ".warm", ".cold", ".lake", ".changes", ".history", ".lake.snapshots", ".stored", ".files")
COMMANDS = (
    ("lineage", "dwd.nl_keyed"),
    ("lineage", "dwd.nl_keyed.order_id"),
    ("plan", "--explain"),
    ("flow", "show", "f"),
    ("status",),
    ("describe",),
    ("query", "SELECT * FROM dwd.nl_keyed"),
)


def assert_no_door_shows_the_column_of_bits(d, capsys):
    for name in d.plan("f").tables:
        shown = 0
        for part in PARTS:
            with suppress(QueryRefusedError):  # a tier that the table has not
                rows = d.ask(f"SELECT * FROM {name}{part}")
                assert NULL_BITS not in f"{rows.column_names} {rows.to_pylist()}", f"{name}{part}"
                shown += 1
        assert shown >= len(PARTS) - 1
        with pytest.raises(QueryRefusedError, match="unknown column"):
            d.ask(f"SELECT {NULL_BITS} FROM {name}")
    (d.root / "streamhouse.yaml").write_text(f"auto_apply: all\ncold: {{warehouse: {d._cold}}}\n")
    for words in COMMANDS:
        for more in ((), ("--json",)):
            capsys.readouterr()
            code = main([*words, *more, "--project", str(d.root)])
            printed = capsys.readouterr()
            assert code in (0, 10), f"{words}: {printed.out}{printed.err}"
            assert "nl_keyed" in printed.out or words[0] in ("status", "query")
            assert NULL_BITS not in printed.out + printed.err, words


def test_moments_changes_lookups_and_doors(tmp_path, spark, capsys):
    with nullable(tmp_path / "project", spark) as d:
        d.begin()
        past = []
        for _ in range(3):
            d.add()
            d.run()
            d.tier()
            epoch = d.open.state.last_epoch("f", d.plan("f").segments[0].name).epoch
            past.append((now(), epoch, d.expected()))
        names = d.plan("f").tables
        for moment, epoch, rows in past:
            for name, table in names.items():
                for at in (f"TIMESTAMP AS OF '{moment}'", f"AS OF EPOCH {epoch}"):
                    found = d.ask(f"SELECT * FROM {name} {at}")
                    assert_same_rows(found, rows[name], key=table.primary_key, name=f"{name} {at}")
        snapshots = d.ask("SELECT snapshot FROM dwd.nl_keyed.lake.snapshots ORDER BY snapshot").to_pylist()
        newest = d.ask(f"SELECT * FROM dwd.nl_keyed VERSION AS OF {snapshots[-1]['snapshot']}")
        assert_same_rows(newest, past[-1][2]["dwd.nl_keyed"], key=("order_id",), name="a snapshot")
        keyed = "SELECT order_id, customer FROM dwd.nl_keyed"
        assert d.ask(f"{keyed} WHERE order_id = 0").num_rows == 1
        assert d.ask(f"{keyed} WHERE order_id IN (0, NULL)").num_rows == 1
        assert d.ask(f"{keyed} WHERE order_id IS NULL").num_rows == 1
        assert d.ask(f"{keyed} WHERE order_id = NULL").num_rows == 0
        assert d.ask(f"{keyed} WHERE order_id <=> NULL").num_rows == 1
        changes = d.ask("SELECT * FROM dwd.nl_keyed.changes")
        assert changes.column_names[4:] == list(names["dwd.nl_keyed"].column_names)
        kinds = [row["_kind"] for row in changes.to_pylist() if row["order_id"] is None]
        assert kinds[0] == "+I"
        assert kinds.count("+I") - kinds.count("-D") == 1, "one row without a key, which changes"
        assert {row["order_id"] for row in changes.to_pylist()} >= {None, 0}
        assert_no_door_shows_the_column_of_bits(d, capsys)


@pytest.mark.parametrize(("column", "value"), [("order_id", "0"), ("customer", "")])
def test_what_stands_for_null_is_not_forgotten(tmp_path, spark, monkeypatch, column, value):
    """A key that stores have in place of NULL is forgotten, and rows without the key stay."""
    with nullable(tmp_path / "project", spark) as d:
        d.begin()
        monkeypatch.setattr(forgetting, "opened", lambda *_, **__: nullcontext(d.open))
        for _ in range(2):
            d.add()
            d.run()
            d.tier()
        before = d.ask("SELECT * FROM dwd.nl_keyed").to_pylist()
        done = forget(d.project, ForgetRequest("dwd.nl_keyed", {column: (value,)}))
        assert all(found.is_empty for one in done.tables for found in one.after)
        wanted = {"order_id": 0, "customer": ""}[column]
        after = d.ask("SELECT * FROM dwd.nl_keyed").to_pylist()
        assert [row for row in before if row[column] != wanted] == sorted(after, key=before.index)
        assert len(after) < len(before)
        assert any(row[column] is None for row in after)
