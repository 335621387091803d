"""Every edit of `tests/fixtures/outcomes`, made to a flow that has run: tables hold what the outcome promises.

A case runs the flow before the edit over slice A of the rows, then after it over slice B. What each table must
hold then is computed step by step, upstream first, by plain Spark SQL over what its inputs must hold.
"""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from sqlalchemy import update

from streamhouse.change.change_request import ask
from streamhouse.change.reconcile import Reconciler
from streamhouse.compiler.diff import diff
from streamhouse.errors import BlockedError, EpochFailedError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import ReadMode, Strategy, Tier
from streamhouse.model.version import at_versions, stored_name, table_at
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, execution_of, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.sql.types import split_not_null
from streamhouse.state.schema import plan as applied_plans
from streamhouse.stores.arrow import arrow_schema, arrow_type, conform
from streamhouse.tiering.move import tier_all
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, run_step
from tests.patience import SOAKING
from tests.unit.compiler.test_outcomes import AGE, BASE, CASES, changed

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "every outcome of every strategy; one edit of each outcome stays",
        stays=(
            "test_outcome[36_version_and_notes]",
            "test_outcome[03_added_column_map]",
            "test_outcome[13_filter_keeps_history_map]",
            "test_outcome[04_added_aggregate_merge_hot]",
            "test_outcome[12_renamed_column_that_is_read]",
        ),
    ),
]

FLOW = "shop"
# With nothing but settings changed, some tables of each kind.
ANY = {"ads.large_orders", "ads.totals", "dws.sums_by_store"}

# --- rows -----------------------------------------------------------------------------------------

_ORDER = ("id", "customer", "store", "cents", "small", "rate", "tax", "note", "at")
_START = datetime(2026, 1, 1, tzinfo=UTC)
# Stores 2, 6 and 0 and customers 2, 3 and 7 are not in B; `at` counts minutes.
ORDERS_A = [
    (1, 1, 1, 150, 10, 0.1, "1.10", "Ant", 5),
    (2, 1, 2, 250, None, 0.2, "0.30", "bee", 65),
    (3, 2, 1, 90, 3, 0.3, "2.25", None, 130),
    (4, 2, 3, 1, 4, 0.4, "0.01", "Cat", 20),
    (5, 2, 2, 2, None, 0.5, "0.02", "dog", 75),
    (6, 3, 1, 4, 6, 0.6, "0.70", "Eel", 200),
    (7, 3, 2, 120, 7, 0.7, None, "fox", 10),
    (8, 5, 6, 101, 8, 0.8, "9.90", "Gnu", 15),
    (9, 5, 0, 300, 2, 0.9, "3.33", "hen", 140),
    (10, 4, 1, 100, 9, None, "1.23", "ibis", 190),
    (11, 7, 2, 210, None, 1.1, "2.34", "jay", 30),
    (12, 1, None, 1, 1, 1.2, "0.10", "kiwi", 40),
    (13, 2, 3, None, 5, 1.3, "0.20", "lynx", 50),
    (14, 3, 3, 180, 1, 1.4, "1.80", None, None),
    (15, 4, 1, 500, 7, 1.5, "5.55", "mole", 61),
    (16, 1, 3, 0, 2, 1.6, "0.60", "newt", 70),
    (17, 5, 1, 201, 3, 1.7, "2.01", "owl", 121),
    (18, 2, 6, 199, None, 1.8, "1.99", "Pig", 125),
]
ORDERS_B = [
    (21, 1, 1, 160, 4, 2.1, "1.61", "Rat", 185),
    (22, 1, 4, 3, 5, 2.2, "0.31", None, 240),
    (23, 4, 1, 2, 6, 2.3, None, "ape", 12),
    (24, 5, 3, 1, 7, 2.4, "0.11", "Bat", 66),
    (25, 5, -1, 400, 8, 2.5, "4.10", "cow", 250),
    (26, 8, 4, 220, 9, 2.6, "2.20", "Doe", None),
    (27, 8, 1, 101, 1, None, "1.05", "elk", 255),
    (28, 8, None, 1, 2, 2.8, "0.40", "Fly", 256),
    (29, 1, 3, None, 3, 2.9, "0.50", "gat", 260),
    (30, 4, 3, 4, 2, 3.0, "0.90", None, 262),
    (31, 6, 4, 150, 3, 3.1, "1.50", "Hog", 264),
]
SALES_A = [(100 + i, *rest) for i, *rest in ORDERS_A[:9]]
SALES_B = [(100 + i, *rest) for i, *rest in ORDERS_B[:7]]
RETURNS_A = [(901, 1, 1, 150, 300), (902, 3, 2, 120, 301), (903, 2, None, 4, None)]
RETURNS_B = [(911, 5, 6, 101, 400), (912, 4, 3, 7, 401)]
CUSTOMERS_A = [(1, "Ann", 1), (2, "Bob", 3), (3, "Cid", 5), (4, "Dee", None)]
CUSTOMERS_B = [(2, "Rob", 2), (5, "Eve", 1), (8, "Hal", 4)]
SLICES = {
    "orders": (_ORDER, ORDERS_A, ORDERS_B),
    "returns": (("id", "customer", "store", "cents", "at"), RETURNS_A, RETURNS_B),
    "customers": (("customer", "name", "region"), CUSTOMERS_A, CUSTOMERS_B),
}


def rows_of(names, values, types, *, notes):
    """Rows of a source as Arrow, with the columns it declares; one that has no values is made up."""

    def value(row, name):
        given = row.get(name)
        if name == "channel":
            return f"ch{row['id'] % 3}"
        if name == "note" and given is None and not notes:
            return ""
        if name == "at" and given is not None:
            return _START + timedelta(minutes=given)
        return Decimal(given) if name == "tax" and given is not None else given

    rows = [dict(zip(names, one, strict=True)) for one in values]
    return pa.table(
        {name: pa.array([value(row, name) for row in rows], arrow_type(kind)) for name, kind in types.items()}
    )


# --- the case -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """What a person chooses where a case blocks."""

    table: str
    outcome: Outcome


CHOICES = {
    "09_narrower_map": [Choice("dwd.orders", Outcome.REBUILD)],
    "09_other_type_merge": [Choice("dws.sums_by_store", Outcome.REBUILD)],
    "09_other_type_recompute": [Choice("dws.mean_by_customer", Outcome.REBUILD)],
    "12_renamed_without_hint_map": [Choice("ads.large_orders", Outcome.REBUILD)],
    "12_renamed_without_hint_recompute": [Choice("dws.mean_by_customer", Outcome.FORWARD)],
    "34_longer_retention_than_held": [Choice("dws.sums_by_store", Outcome.FORWARD)],
    "93_history_not_held": [Choice("dwd.orders", Outcome.FORWARD)],
}
# Another flow reads what these change.
READ_BY_REPORTS = {"05_dropped_column_that_is_read", "12_renamed_column_that_is_read"}
# A NULL in the key of `by_note` fails an epoch, so these cases have no NULL there.
NO_NULL_NOTES = READ_BY_REPORTS | {"90_new_step"}
IN_CI = {
    "01_comment_format_order_alias_map",
    "03_added_column_map",
    "04_added_aggregate_merge_hot",
    "09_narrower_map-dwd.orders-rebuild",
    "12_renamed_column_that_is_read",
    "13_filter_keeps_history_map",
    "35_dropped_rows_quarantined",
    "36_version_and_notes",
    "37_another_source",
    "39_isolated",
    "90_new_step",
    "93_history_not_held",
}


def _params():
    for number, case in enumerate(CASES):
        for choice in CHOICES.get(case.name, [None]):
            name = f"{case.name}-{choice.table}-{choice.outcome}" if choice else case.name
            if SOAKING or {name, case.name} & IN_CI:
                yield pytest.param(case, choice, number, id=name)


def concerned(case):
    """The tables whose steps the edit changes, with all that they read and all that reads them."""
    old, new, _ = changed(case)
    found = diff(old, new, {}, age=AGE)
    edges = {(read.table, step.writes.name) for plan in (old, new) for step in plan.steps for read in step.reads}
    tables = {s.table for s in found.steps if s.change != "same" or s.outcome is not Outcome.NO_OP}
    tables |= {t.table.removesuffix("__quarantine") for t in found.tables if t.outcome is not Outcome.NO_OP}
    tables = tables or set(ANY)
    while more := {into for source, into in edges if source in tables} - tables:
        tables |= more
    while more := {source for source, into in edges if into in tables} - tables:
        tables |= more
    return tables


def write_project(root, case, side, tables, rename):
    """The files of one side of a case, with those steps only that write `tables`, which get other names."""
    written = root / side
    for layer in (BASE, case / "old") if side == "old" else (BASE, case / "new"):
        if layer.exists():
            shutil.copytree(layer, written, dirs_exist_ok=True)
    flow = yaml.safe_load((written / "flows" / "shop.yaml").read_text())
    declared = yaml.safe_load((written / "sources.yaml").read_text())[FLOW]
    types = {  # its rows lack values, which plans alone need not know
        name: {column: split_not_null(kind)[0] for column, kind in columns.items()}
        for name, columns in declared.items()
    }
    flow["steps"] = [_renamed_step(step, rename) for step in flow["steps"] if step["writes"] in tables]
    flow["tables"] = {rename(name): options for name, options in flow["tables"].items() if name in tables}
    read = {
        name for step in flow["steps"] for name in step["reads"].values() if isinstance(name, str) and "." not in name
    }
    flow["sources"] = {
        name: {"files": {"path": _pattern(source["files"]["path"]), "columns": types[name]}}
        for name, source in flow["sources"].items()
        if name in read
    }
    for folder in ("actions", "flows"):
        shutil.rmtree(root / folder, ignore_errors=True)
    shutil.copytree(written / "actions", root / "actions")
    (root / "flows").mkdir()
    (root / "flows" / "shop.yaml").write_text(yaml.safe_dump(flow, sort_keys=False))
    if case.name in READ_BY_REPORTS and side == "old":
        reports = {"flow": "reports", "steps": [_renamed_step(REPORT, rename)]}
        (root / "flows" / "reports.yaml").write_text(yaml.safe_dump(reports))
    return {name: types[name] for name in read}


REPORT = {"use": "by_note", "reads": {"orders": "dwd.orders"}, "writes": "dws.by_note"}


def _pattern(path):
    return path.replace(".csv", "/*.parquet")


def _renamed_step(step, rename):
    def read(one):
        return rename(one) if isinstance(one, str) else {**one, "table": rename(one["table"])}

    return {
        **step,
        "reads": {port: read(one) for port, one in step["reads"].items()},
        "writes": rename(step["writes"]),
    }


# --- what tables must hold ------------------------------------------------------------------------


@dataclass
class Contents:
    """What every source and table must hold.

    Attributes:
        before: Of the flow before the edit, after slice A.
        history: When the edit begins to hold: as `before`, with the columns and rows that the edit makes of it.
        came: What came to it after that: rows of a log, the changed rows of a keyed table.
        now: After slice B.
    """

    before: dict = field(default_factory=dict)
    history: dict = field(default_factory=dict)
    came: dict = field(default_factory=dict)
    now: dict = field(default_factory=dict)


class Expected:
    """Computes `Contents`; the SQL of a step over equal rows is run once for all cases."""

    def __init__(self, spark, ran):
        self.spark = spark
        self.ran = ran
        self.all = Contents()

    def run(self, step, inputs):
        given = {read.port: inputs[read.table] for read in step.reads}
        reads = tuple(sorted((port, rows.schema.to_string(), str(rows.to_pylist())) for port, rows in given.items()))
        key = (step.sql, str(step.expect), tuple(c.model_dump_json() for c in step.columns), reads)
        if key not in self.ran:
            self.ran[key] = run_step(self.spark, step, given)
        return self.ran[key]

    def first(self, plan, sources):
        """Slice A, before any edit."""
        self.all.before = dict(sources)
        for step in plan.steps:
            kept, out = self.run(step, self.all.before)
            self.all.before[step.writes.name] = _keyed(step, kept)
            if step.quarantine is not None:
                self.all.before[step.quarantine.name] = out

    def edited(self, plan, found, history, came):
        """Slice B, after the edit.

        Args:
            plan: The new one.
            found: What the edit changes, after a person's choices.
            history: Source → rows that were there when the edit was made.
            came: Source → rows that came later.
        """
        every = self.all
        every.history, every.came = dict(history), dict(came)
        every.now = {name: _both(history[name], came[name]) for name in history}
        outcomes = {change.step: change for change in found.steps}
        for step in plan.steps:
            if step.strategy is Strategy.MAP:
                self._by_row(step, outcomes[step.id])
            else:
                self._by_key(step, outcomes[step.id])
        for name, rows in every.before.items():
            every.now.setdefault(name, rows)  # of steps that are gone

    def _by_row(self, step, change):
        every, name = self.all, step.writes.name
        anew = _is_computed_anew(change)
        lookups = {read.table for read in step.reads if read.mode is ReadMode.LOOKUP}
        if anew:
            kept, out = self.run(step, every.history)
            every.history[name] = _keyed(step, kept)
        else:
            every.history[name] = _reshaped(step, every.before[name])
            out = None
        came, out_now = self.run(step, every.came | {lookup: every.now[lookup] for lookup in lookups})
        every.came[name] = came
        every.now[name] = _keyed(step, _both(every.history[name], came))
        if step.quarantine is not None:
            earlier = out if anew else every.before.get(step.quarantine.name, out_now.slice(0, 0))
            every.now[step.quarantine.name] = _both(earlier, out_now)

    def _by_key(self, step, change):
        every, name = self.all, step.writes.name
        whole = self.run(step, every.now)[0]
        key = step.writes.primary_key
        added = [f.columns[0] for f in change.findings if f.rule in {3, 4, 11, 12} and f.outcome in ADDED]
        added = [c for c in added if every.before.get(name) is not None and c in _came(step, every.before[name])]
        if step.strategy is Strategy.RECOMPUTE and (base := self._untouched(step, change)) is not None:
            every.now[name] = self._touched_anew(step, whole, base)
            return
        if _is_computed_anew(change) or not added:
            every.now[name] = whole
            return
        if step.strategy is Strategy.MERGE:
            latest = {tuple(row[k] for k in key): row for row in self.run(step, every.came)[0].to_pylist()}
        else:
            touched = self._touched(step)
            latest = {k: row for row in whole.to_pylist() if (k := tuple(row[name] for name in key)) in touched}
        rows = [
            row | {c: latest.get(tuple(row[k] for k in key), {}).get(c) for c in added} for row in whole.to_pylist()
        ]
        every.now[name] = pa.Table.from_pylist(rows, schema=whole.schema)

    def _touched(self, step):
        """The keys that rows which came since concern."""
        return {
            tuple(row[read.key_columns[k]] for k in step.writes.primary_key)
            for read in step.reads
            if read.mode is not ReadMode.LOOKUP
            for row in self.all.came[read.table].to_pylist()
        }

    def _untouched(self, step, change):
        """What keys hold that nothing touches, where that is not what they would hold now; else None."""
        keeps = (
            change.change == "changed" and change.outcome is Outcome.FORWARD and any(f.rows for f in change.findings)
        )
        if keeps:
            return self.all.before[step.writes.name]
        if any(read.mode is ReadMode.LOOKUP for read in step.reads):
            return self.run(step, self.all.history)[0] if _is_computed_anew(change) else None
        return None

    def _touched_anew(self, step, whole, base):
        """Rows of the keys that were touched as the new SQL has them now; others as they were."""
        touched, key = self._touched(step), step.writes.primary_key

        def rows(table, *, new):
            return [row for row in table.to_pylist() if (tuple(row[k] for k in key) in touched) is new]

        return pa.Table.from_pylist([*rows(whole, new=True), *rows(base, new=False)], schema=whole.schema)


ADDED = {Outcome.SWAP, Outcome.FORWARD}


def _is_computed_anew(change):
    """Whether the outcome promises older rows as if the new SQL had always run, and not only another place for them."""
    rebuilt = [f for f in change.findings if f.outcome is Outcome.REBUILD]
    keeps = change.table.startswith(("ods.", "dwd."))
    return change.change == "new" or any(not f.keeps_values or not keeps for f in rebuilt)


def _came(step, before):
    renamed = {new for new, was in step.renamed.items() if was in before.column_names}
    return {c.name for c in step.columns if c.name not in before.column_names and c.name not in renamed}


def _both(first, second):
    return pa.concat_tables([first, second], promote_options="default").combine_chunks()


def _keyed(step, rows):
    if not step.writes.primary_key or step.strategy is not Strategy.MAP:
        return rows
    last = {tuple(row[k] for k in step.writes.primary_key): row for row in rows.to_pylist()}
    return pa.Table.from_pylist(list(last.values()), schema=rows.schema)


def _reshaped(step, rows):
    """Rows of an older shape of the table in the one it has now."""
    names = {name: step.renamed.get(name, name) for name in step.writes.column_names}
    found = {
        name: rows[name if name in rows.column_names else was] if {name, was} & set(rows.column_names) else None
        for name, was in names.items()
    }
    schema = arrow_schema(step.columns)
    return pa.table(
        {
            field.name: pa.nulls(rows.num_rows, field.type)
            if found[field.name] is None
            else found[field.name].cast(field.type)
            for field in schema
        }
    )


# --- running --------------------------------------------------------------------------------------


class Shop:
    """The project of one case, over real stores."""

    def __init__(self, open_, case, number):
        self.open = open_
        self.case = case
        self.root = open_.project.root
        self.tables = concerned(case)
        self.number = number
        self.types = {}
        self.written = set()

    def rename(self, name):
        return f"{name}_{self.number}" if "." in name else name  # a source keeps its name

    def edit(self, side):
        self.types = write_project(self.root, self.case, side, self.tables, self.rename)
        for source in self.types:
            (self.root / "data" / source).mkdir(parents=True, exist_ok=True)
        (self.root / "data" / "sales").mkdir(parents=True, exist_ok=True)
        plan = plan_of(self.open.project, FLOW)
        self.written |= set(plan.tables)
        return plan

    def rows(self, source, values, names):
        return rows_of(names, values, self.types[source], notes=self.case.name not in NO_NULL_NOTES)

    def add(self, folder, file, rows):
        new = self.root / "data" / f".{file}"
        pq.write_table(rows, new)
        new.replace(self.root / "data" / folder / f"{file}.parquet")

    def carry(self, flow=FLOW):
        plan = plan_of(self.open.project, flow)
        carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True)

    def served(self, table, tier):
        return self.open.stores[tier].read_state(table_at(table, self.open.state.versions()))

    def tier(self):
        plan = self.open.state.plan(FLOW)[1]
        tier_all(at_versions(plan, self.open.state.versions()), self.open.stores)

    def age(self):
        """As if the flow had been applied long ago, as the cases have it."""
        earlier = applied_plans.c.applied_ms - int(AGE.total_seconds() * 1000)
        self.open.state._database.write(lambda c: c.execute(update(applied_plans).values(applied_ms=earlier)))

    def check(self, plan, contents, what):
        stored = at_versions(plan, self.open.state.versions()).tables
        for (name, table), held in zip(plan.tables.items(), stored.values(), strict=True):
            for tier in table.tiers.present:
                rows = contents[name]
                assert_same_rows(
                    self.open.stores[tier].read_state(held),
                    conform(rows, table.columns),
                    key=table.primary_key,
                    name=f"{what}: {name} ({tier})",
                )

    def check_marks(self, found):
        """Columns whose older rows hold something else are told, with the time from which on rows do not."""
        revision, _ = self.open.state.plan(FLOW)
        told = "\n".join(e.text for e in self.open.state.events(FLOW) if e.kind == "meaning")
        for change in found.steps:
            since = self.open.state.tables.meanings(change.table)
            if change.change == "new" or _is_computed_anew(change):
                marked = self.open.state.recent_changes(FLOW, 1)[0].marks
                assert set(since) == set(marked.get(change.table, ())), change.table
                continue
            forward = [f for f in change.findings if f.outcome is Outcome.FORWARD and not f.keeps_values]
            assert {c for f in forward for c in f.columns} <= set(change.marks)
            assert change.marks or not forward, change.table
            if change.table in self.anew:
                continue
            assert set(since) == set(change.marks), change.table
            assert all(meaning.revision == revision for meaning in since.values())
            if change.marks:
                assert f"{change.table} has its new meaning in: {', '.join(change.marks)}" in told

    @property
    def anew(self):
        """What the last change built anew."""
        return set(self.open.state.recent_changes(FLOW, 1)[0].versions)

    def drop(self):
        versions = self.open.state.versions()
        for name in self.written | {self.rename("dws.by_note")}:
            for version in range(1, versions.get(name, 1) + 3):
                for store in self.open.stores.values():
                    store.drop(stored_name(name, version))
                    store.drop(f"{stored_name(name, version)}__quarantine")


@pytest.fixture(scope="module")
def ran():
    return {}


@pytest.fixture
def shop(tmp_path, fluss, spark, request):
    case, number = request.getfixturevalue("case"), request.getfixturevalue("number")
    with opened_shop(case, number, tmp_path, fluss, spark) as found:
        yield found


@contextmanager
def opened_shop(case, number, folder, fluss, spark):
    root = folder / "project"
    root.mkdir()
    project = Project(root, Settings(fluss=fluss))
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        found = Shop(Open(project, spark, fluss, stores, state), case, number)
        try:
            yield found
        finally:
            found.drop()
    for store in stores.values():
        store.close()


@pytest.mark.parametrize(("case", "choice", "number"), list(_params()))
def test_outcome(case, choice, number, shop, spark, ran):
    old = shop.edit("old")
    first = {}
    for name in shop.types:
        names, a, _ = SLICES[name]
        first[name] = shop.rows(name, a, names)
        shop.add(name, "a", first[name])
    expected = Expected(spark, ran)
    expected.first(old, first)
    shop.carry()
    if case.name in READ_BY_REPORTS:
        shop.carry("reports")
    shop.age()
    shop.tier()
    shop.check(old, expected.all.before, "before")

    new = shop.edit("new")
    compared = compare(new, Applied.of(shop.open.state), {})
    assert compared.found.outcome.value == (case / "outcome.txt").read_text().split("\n")[0]
    found = compared.found
    if found.outcome is Outcome.BLOCK:
        standing = shop.open.state.plan(FLOW), shop.open.state.versions()
        with pytest.raises(BlockedError):
            shop.carry()
        assert (shop.open.state.plan(FLOW), shop.open.state.versions()) == standing
        assert shop.open.state.open_change(FLOW) is None
        shop.check(old, expected.all.before, "blocked")
        if choice is None:
            return
        choices = {shop.rename(choice.table): choice.outcome}
        found = compared.decided(choices)
        change = ask(shop.open.state, compared, "test", choices)
        standing = at_versions(shop.open.state.plan(FLOW)[1], shop.open.state.versions())
        execution_of(shop.open, standing).stand(Reconciler(shop.open, FLOW))
        assert not shop.open.state.change(change.id).is_open

    history, came = _second(shop, first)
    expected.edited(new, found, history, came)
    if case.name == "35_warning_fails":
        with pytest.raises(EpochFailedError):
            shop.carry()
        return
    shop.carry()
    if case.name == "37_another_source":
        shop.add("sales", "b", came["orders"])
        shop.carry()
    shop.tier()
    shop.check(new, expected.all.now, "after")
    shop.check_marks(found)
    for name in set(old.tables) - set(new.tables):
        table = old.tables[name]
        assert_same_rows(
            shop.served(table, table.tiers.target), conform(expected.all.now[name], table.columns), name=f"gone: {name}"
        )


def _second(shop, first):
    """The rows that were there when the edit was made, and those that come then, written to their files."""
    history, came = {}, {}
    for name, kinds in shop.types.items():
        names, _, b = SLICES[name]
        if shop.case.name == "37_another_source" and name == "orders":
            history[name] = shop.rows(name, SALES_A, names)
            came[name] = shop.rows(name, SALES_B, names)
            shop.add("sales", "a", history[name])
            continue
        came[name] = shop.rows(name, b, names)
        # Of a source that was not read before, all rows come after the edit.
        known = first.get(name)
        if known is None:
            shop.add(name, "a", shop.rows(name, SLICES[name][1], names))
            came[name] = _both(shop.rows(name, SLICES[name][1], names), came[name])
            known = came[name].slice(0, 0)
        nulls = {column: pa.nulls(known.num_rows, arrow_type(kind)) for column, kind in kinds.items()}
        history[name] = pa.table({c: known[c] if c in known.column_names else nulls[c] for c in kinds})
        shop.add(name, "b", shop.rows(name, b, names))
    return history, came


def test_history_that_was_kept_stays_when_the_table_gets_another_version(tmp_path, fluss, spark, ran):
    """Rows of the first meaning stay so, also when a later edit needs another version of the table."""
    by_name = {case.name: case for case in CASES}
    with opened_shop(by_name["14_expression_keeps_history_map"], len(CASES), tmp_path, fluss, spark) as shop:
        shop.edit("old")
        names, a, b = SLICES["orders"]
        for source in shop.types:
            shop.add(source, "a", shop.rows(source, SLICES[source][1], SLICES[source][0]))
        shop.carry()
        shop.edit("new")
        shop.add("orders", "b", shop.rows("orders", b, names))
        shop.carry()
        table = shop.rename("dwd.orders")
        marked = shop.open.state.tables.meanings(table)
        assert set(marked) == {"note"}
        clean = shop.root / "actions" / "clean_orders.sql"
        clean.write_text(clean.read_text().replace("o.small,", "CAST(o.small AS BIGINT) AS small,"))
        plan = plan_of(shop.open.project, FLOW)
        found = compare(plan, Applied.of(shop.open.state), {}).found
        assert found.outcome is Outcome.REBUILD
        shop.add("orders", "c", shop.rows("orders", SALES_A, names))
        shop.carry()
        assert table in shop.anew
        assert shop.open.state.tables.meanings(table) == marked
        held = shop.served(plan.tables[table], plan.tables[table].tiers.target)
        assert str(held.schema.field("small").type) == "int64"
        notes = {row["id"]: row["note"] for row in held.to_pylist()}
        kept = [(row, str.upper) for row in a] + [(row, str.lower) for row in [*b, *SALES_A]]
        expected = {
            row[0]: case(row[7]) if row[7] else row[7] for row, case in kept if row[2] is not None and (row[3] or 0) > 0
        }
        assert notes == expected


def test_what_was_given_up_and_comes_back_holds_nothing_of_its_former_life(tmp_path, fluss, spark):
    """A column that is written again is NULL before that; a step that runs again makes its table anew."""
    by_name = {case.name: case for case in CASES}
    with opened_shop(by_name["05_dropped_column_map"], len(CASES) + 1, tmp_path, fluss, spark) as shop:
        names, a, b = SLICES["orders"]
        flow, action = shop.root / "flows" / "shop.yaml", shop.root / "actions" / "large_orders.sql"
        table = shop.rename("ads.large_orders")

        def large(rows, note):
            return {row[0]: note(row) for row in rows if row[2] is not None and (row[3] or 0) > 100}

        def held(plan):
            return {row["id"]: row.get("note") for row in shop.served(plan.tables[table], Tier.HOT).to_pylist()}

        shop.edit("old")
        for source in shop.types:
            shop.add(source, "a", shop.rows(source, SLICES[source][1], SLICES[source][0]))
        shop.carry()
        without = shop.edit("new")
        shop.add("orders", "b", shop.rows("orders", b, names))
        shop.carry()
        assert held(without) == large([*a, *b], lambda _: None)
        action.write_text(action.read_text().replace("AS twice", "AS twice, lower(note) AS note"))
        again = plan_of(shop.open.project, FLOW)
        assert compare(again, Applied.of(shop.open.state), {}).found.outcome is Outcome.REBUILD
        shop.add("orders", "c", shop.rows("orders", SALES_A, names))
        shop.carry()
        lower = large(SALES_A, lambda row: row[7].lower() if row[7] else None)
        assert held(again) == large([*a, *b], lambda _: None) | lower
        assert set(shop.open.state.tables.meanings(table)) == {"note"}

        written = flow.read_text()
        left = yaml.safe_load(written)
        left["steps"] = [step for step in left["steps"] if step["writes"] != table]
        flow.write_text(yaml.safe_dump(left))
        shop.add("orders", "d", shop.rows("orders", SALES_B, names))
        shop.carry()
        assert held(again) == large([*a, *b], lambda _: None) | lower
        flow.write_text(written)
        shop.carry()
        every = [*a, *b, *SALES_A, *SALES_B]
        assert held(again) == large(every, lambda row: row[7].lower() if row[7] else None)
        assert shop.open.state.tables.meanings(table) == {}
