"""Every kind of SQL, over tables whose rows are updated, deleted and late: after parts of them it equals the batch."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from streamhouse.engine import delta_step
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch
from tests.patience import SOAKING

pytestmark = deep("all queries of a corpus; test_nexmark.py stays", stays=("test_strategies",))

SOURCES = {
    "events": "{event_id: bigint, who: string, at: timestamp, kind: string, amount: int}",
    "orders": "{order_id: bigint, customer: bigint, cents: bigint, state: string, tags: array<string>,"
    ' ship: "struct<city:string,zip:int>"}',
    "customers": "{customer: bigint, city: string, tier: int, state: string}",
    "cities": "{city: string, country: string}",
    "marks": "{mark: int, customer: bigint}",
}
# What each port reads. `orders` and `customers` lose rows: those whose state becomes `gone`.
PORTS = {
    "events": "ods.cov_events",
    "orders": "dwd.cov_orders",
    "customers": "dwd.cov_customers",
    "cities": "{table: ods.cov_cities, as: lookup}",
    "marks": "ods.cov_marks",
}
BASE = {
    "ods.cov_events": ("ingest", "events", "", "SELECT * FROM events"),
    "ods.cov_orders": ("ingest", "orders", "order_id", "SELECT * FROM orders"),
    "ods.cov_customers": ("ingest", "customers", "customer", "SELECT * FROM customers"),
    "ods.cov_cities": ("ingest", "cities", "city", "SELECT * FROM cities"),
    "ods.cov_marks": ("ingest", "marks", "mark", "SELECT * FROM marks"),
    "dwd.cov_orders": ("clean", "orders", "order_id", "SELECT * FROM orders WHERE state <> 'gone'"),
    "dwd.cov_customers": ("clean", "customers", "customer", "SELECT * FROM customers WHERE state <> 'gone'"),
}


class Case(NamedTuple):
    strategy: str
    name: str
    key: str  # empty: derived from the SQL, or an append-only log
    sql: str


def cases() -> list[Case]:
    found = []
    for block in FIXTURE.read_text().strip().split("\n\n")[1:]:
        head, sql = block.split("\n", 1)
        wanted = re.fullmatch(r"-- (\w+) (\w+)(?: key=([\w,]+))?", head)
        assert wanted, head
        found.append(Case(wanted[1], wanted[2], wanted[3] or "", sql))
    return found


FIXTURE = Path(__file__).parent.parent / "fixtures" / "coverage.sql"
CASES = cases()


def order(order_id: int, customer: int | None, cents: int, state: str = "new", *tags: str) -> dict[str, Any]:
    ship = {"city": ("oslo", "rome", "bern")[order_id % 3], "zip": order_id}
    return {
        "order_id": order_id,
        "customer": customer,
        "cents": cents,
        "state": state,
        "tags": list(tags),
        "ship": ship,
    }


def customer(number: int, city: str, tier: int, state: str = "live") -> dict[str, Any]:
    return {"customer": number, "city": city, "tier": tier, "state": state}


def event(event_id: int, who: str | None, at: str, kind: str, amount: int) -> dict[str, Any]:
    return {"event_id": event_id, "who": who, "at": f"2026-01-01 {at}:00", "kind": kind, "amount": amount}


def mark(number: int) -> dict[str, Any]:
    return {"mark": number, "customer": number}


PARTS: list[dict[str, list[dict[str, Any]]]] = [
    {
        "cities": [{"city": c, "country": c[:2]} for c in ("oslo", "rome", "bern")],
        "customers": [customer(1, "oslo", 1), customer(2, "rome", 2), customer(3, "bern", 3)],
        "orders": [
            order(1, 1, 60, "new", "a", "b"),
            order(2, 1, 60, "paid", "a"),
            order(3, 2, 10),
            order(4, 9, 45, "new", "c"),
        ],
        "events": [
            event(1, "ann", "10:00", "view_page", 1),
            event(2, "ann", "10:20", "view", 2),
            event(3, "ann", "11:00", "buy", 3),
            event(4, "bob", "10:05", "buy_now", 4),
            event(5, None, "09:59", "view", 5),
        ],
        "marks": [mark(1), mark(3)],
    },
    {  # orders grow, change hands and lose their customer; a customer moves; one leaves
        "customers": [customer(2, "oslo", 1), customer(3, "bern", 3, "gone")],
        "orders": [
            order(3, 2, 200, "paid", "z"),
            order(2, 2, 60, "paid"),
            order(4, None, 45, "new", "c", "d"),
            order(5, 3, 30),
        ],
        "events": [event(6, "bob", "12:00", "view", 6), event(7, "cat", "12:10", "view_page", 2)],
        "marks": [mark(5), mark(2)],
    },
    {  # late: one event joins two sessions of ann's, others change windows that were long over
        "orders": [order(1, 1, 5, "gone"), order(5, 3, 30, "gone"), order(6, 4, 70, "new", "a")],
        "events": [
            event(8, "ann", "10:40", "view", 7),
            event(9, "bob", "09:10", "buy", 1),
            event(10, "dan", "10:59", "buy", 9),
        ],
    },
    {  # some come back
        "customers": [customer(3, "rome", 2), customer(4, "bern", 1), customer(1, "oslo", 1, "gone")],
        "orders": [order(1, 2, 80, "back", "b"), order(4, 4, 45, "paid"), order(6, 4, 7)],
        "events": [event(11, "cat", "11:45", "view", 3), event(12, "ann", "09:45", "view_page", 2)],
        "marks": [mark(6), mark(1)],
    },
]

HEADER = "/* ---\naction: {name}\nstep: {step}\ninputs: {{{inputs}}}\noutput: {{primary_key: [{key}]}}\n--- */\n{sql}\n"


@pytest.fixture
def project(tmp_path) -> Project:
    for folder in ("actions", "flows", *(f"data/{name}" for name in SOURCES)):
        (tmp_path / folder).mkdir(parents=True)
    flow = ["flow: coverage", "sources:"]
    flow += [f"  {name}: {{files: {{path: data/{name}/*.json, columns: {types}}}}}" for name, types in SOURCES.items()]
    flow.append("steps:")
    for table, (step, port, key, sql) in BASE.items():
        reads = f"{{{port}: {port if step == 'ingest' else f'ods.cov_{port}'}}}"
        write(tmp_path, table.replace(".cov", ""), step, [port], key, sql)
        flow.append(f"  - {{use: {table.replace('.cov', '')}, reads: {reads}, writes: {table}}}")
    for case in CASES:
        ports = [name for name in PORTS if re.search(rf"\b(FROM|JOIN) {name}\b", case.sql)]
        write(tmp_path, case.name, "aggregate", ports, case.key, case.sql)
        reads = ", ".join(f"{port}: {PORTS[port]}" for port in ports)
        flow.append(f"  - {{use: {case.name}, reads: {{{reads}}}, writes: dws.cov_{case.name}}}")
    (tmp_path / "flows" / "coverage.yaml").write_text("\n".join(flow) + "\n")
    return Project(tmp_path, Settings())


def write(root: Path, name: str, step: str, ports: list[str], key: str, sql: str) -> None:
    inputs = ", ".join(f"{port}: {{}}" for port in ports)
    text = HEADER.format(name=name, step=step, inputs=inputs, key=key, sql=sql)
    (root / "actions" / f"{name}.sql").write_text(text)


def deliver(root: Path, number: int) -> None:
    for name, rows in PARTS[number].items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (root / "data" / name / f"{number}.json").write_text(text)


def test_strategies(project) -> None:
    deliver(project.root, 0)
    steps = {step.action: step for step in plan_of(project, "coverage").steps}
    assert {c.name: steps[c.name].strategy for c in CASES} == {c.name: c.strategy for c in CASES}


@pytest.mark.services
@pytest.mark.spark
def test_every_query_equals_the_batch(project, spark, fluss, monkeypatch) -> None:
    monkeypatch.setattr(delta_step, "_all_is_cheaper", lambda *_: False)  # the inputs here have few rows
    deliver(project.root, 0)
    plan = plan_of(project, "coverage")
    stores = open_stores(project, spark, fluss)
    seen: dict[str, int] = {}
    try:
        for number in range(len(PARTS)):
            deliver(project.root, number)
            with project.state() as state:
                carry(
                    Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True
                )
            if not SOAKING and number % 2 == 0:
                continue  # every second part, and the last one, tell enough
            sources = {source.name: open_source(source, project.root) for source in plan.sources}
            rows = {name: source.read({}, source.available()) for name, source in sources.items()}
            wrong = []
            for name, expected in batch(spark, plan, rows).items():
                table = plan.tables[name]
                actual = stores[table.tiers.target].read_state(table)
                seen[name] = seen.get(name, 0) + actual.num_rows
                try:
                    assert_same_rows(actual, expected, key=table.primary_key, name=f"{name} after part {number}")
                except AssertionError as error:
                    wrong.append(str(error))
            assert not wrong, "\n".join(wrong)
        assert [name for name, count in seen.items() if not count] == []
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()
