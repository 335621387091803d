"""How far an event reaches: five layers of steps, and what each policy lets through."""

from pathlib import Path

import pytest

from streamhouse.compiler import compile_project
from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.schema_change import EventType, Policy, SchemaChange
from streamhouse.model.table import Column
from streamhouse.model.upstream import Decision, UpstreamEvent, Values
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.registry.registry import Registry
from streamhouse.upstream.impact import Impact, is_open
from streamhouse.upstream.known_input import KnownInput

ROWS = {"id": "bigint", "store": "string", "price": "int", "note": "string", "unused": "int"}
FILES = {
    "actions/take.sql": """/* ---
action: take
step: ingest
inputs: {rows: {}}
--- */
SELECT * FROM rows""",
    "actions/clean.sql": """/* ---
action: clean
step: clean
inputs: {rows: {id: bigint, store: string, price: int}}
output: {primary_key: [id], extra_columns: pass}
--- */
SELECT id, store, price, price * 2 AS double_price FROM rows WHERE store IS NOT NULL""",
    "actions/narrow.sql": """/* ---
action: narrow
step: clean
inputs: {rows: {id: bigint, price: int}}
output: {primary_key: [id]}
--- */
SELECT id, price AS cents FROM rows""",
    "actions/totals.sql": """/* ---
action: totals
step: aggregate
inputs: {sales: {store: string, price: int}}
output: {primary_key: [store]}
--- */
SELECT store, SUM(price) AS total, COUNT(*) AS sales FROM sales GROUP BY store""",
    "actions/latest.sql": """/* ---
action: latest
step: aggregate
inputs: {sales: {id: bigint, store: string}}
output: {primary_key: [id], extra_columns: pass}
--- */
SELECT id, store FROM sales""",
    "actions/board.sql": """/* ---
action: board
step: customize
inputs: {totals: {store: string, total: bigint}}
output: {primary_key: [store]}
--- */
SELECT store, total FROM totals""",
    "flows/shop.yaml": """
flow: shop
sources: {rows: {files: {path: data/*.json}}}
steps:
  - {use: take, reads: {rows: rows}, writes: ods.rows}
  - {use: clean, reads: {rows: ods.rows}, writes: dwd.sales}
  - {use: totals, reads: {sales: dwd.sales}, writes: dws.totals}
  - {use: latest, reads: {sales: dwd.sales}, writes: dws.latest}
""",
    "flows/boards.yaml": """
flow: boards
steps:
  - {use: board, reads: {totals: dws.totals}, writes: ads.board}
  - {use: narrow, reads: {rows: ods.rows}, writes: dwd.narrow}
""",
}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = Registry.load(tmp_path)
    found.check()
    return found


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=kind) for name, kind in types.items())


@pytest.fixture
def plans(registry: Registry) -> dict[str, FlowPlan]:
    return compile_project(registry.flows.values(), registry, {"shop": {"rows": columns(**ROWS)}})


def taxed(plans: dict[str, FlowPlan]) -> KnownInput:
    return KnownInput(plans["shop"].sources[0]).shown(Column(name="tax", type="int"))


def event(kind: EventType, was: Column | None = None, now: Column | None = None, name="shop:rows") -> UpstreamEvent:
    return UpstreamEvent(type=kind, object=name, before="1", after="2", was=was, now=now)


def decided(registry: Registry, plans: dict[str, FlowPlan], seen: UpstreamEvent, rules=None, **more) -> Decision:
    def opens(_, step, read):
        return is_open(registry.action(f"{step.action}@{step.version}"), read.port)

    given = SchemaChange.model_validate(rules or {})
    return Impact(plans, {"shop": given, "boards": given}, opens).decision(seen, "shop", **more)


def told(decision: Decision) -> dict[str, str]:
    return {v.step: f"{v.outcome} {v.values}{' pauses' if v.pauses else ''}" for v in decision.verdicts}


PRICE, NOTE, UNUSED = (Column(name=n, type=ROWS[n]) for n in ("price", "note", "unused"))
STORE, ID = (Column(name=n, type=ROWS[n]) for n in ("store", "id"))
TAX = Column(name="tax", type="int")
ADD = event(EventType.ADD_COLUMN, now=TAX)


def test_an_added_column_goes_down_to_where_its_layer_stops_it(registry, plans):
    found = decided(registry, plans, ADD)
    assert told(found) == {
        "ods.rows": "swap taken",
        "dwd.sales": "swap taken",
        "dwd.narrow": "no-op not read",
        "dws.totals": "no-op not read",
        "dws.latest": "no-op not read",
    }
    assert "dws.latest is frozen, so tax stops before it" in found.notes
    assert found.paused == ()


def test_an_added_column_goes_to_every_open_port_when_all_evolve(registry, plans):
    found = decided(registry, plans, ADD, {"policy": "evolve"})
    assert told(found)["dws.latest"] == "swap taken"
    assert told(found)["dws.totals"] == "no-op not read"
    assert "ads.board" not in told(found)


def test_what_is_told_is_what_the_compiler_makes_of_it(registry, plans):
    for rules, expected in (
        ({}, {"ods.rows", "dwd.sales"}),
        ({"policy": "evolve"}, {"ods.rows", "dwd.sales", "dws.latest"}),
        ({"tables": {"dwd.sales": "ignore"}, "policy": "evolve"}, {"ods.rows"}),
        ({"layers": {"ods": "freeze"}}, set()),
        ({"tables": {"dwd.sales": {"columns": {"tax": "freeze"}}}, "policy": "evolve"}, {"ods.rows"}),
    ):
        given = SchemaChange.model_validate(rules)
        flows = [registry.flows["shop"].model_copy(update={"schema_change": given}), registry.flows["boards"]]
        known = taxed(plans)
        seen = KnownInputs(plans, {"shop": {"rows": known}})
        made = compile_project(flows, registry, {"shop": {"rows": known.columns}}, views=seen.views(flows))
        has = {t.name for plan in made.values() for t in plan.tables.values() if "tax" in t.column_names}
        assert has == expected, rules
        changes = diff(plans["shop"], made["shop"], {})
        assert {s.table for s in changes.steps if s.change == "changed" and s.outcome is Outcome.SWAP} == expected
        # Once applied, it stays so: nothing seeps in at the next compilation.
        after = KnownInputs(made)
        flat = {"shop": {source.name: source.columns for source in made["shop"].sources}}
        assert compile_project(flows, registry, flat, views=after.views(flows)) == made


def test_a_person_lets_in_what_is_frozen(registry, plans):
    rules = SchemaChange.model_validate({"layers": {"ods": "freeze"}})
    flows = [f.model_copy(update={"schema_change": rules}) for f in registry.flows.values()]
    seen = KnownInputs(plans, {"shop": {"rows": taxed(plans)}}, {"shop": frozenset({("rows", "tax")})})
    made = compile_project(flows, registry, {"shop": {"rows": taxed(plans).columns}}, views=seen.views(flows))
    assert "tax" in made["shop"].tables["ods.rows"].column_names
    assert "tax" in made["shop"].tables["dwd.sales"].column_names


def test_an_edit_that_names_the_column_brings_it_in(registry, plans):
    action = registry.action("latest")
    edited = action.model_copy(
        update={"inputs": {"sales": {**action.inputs["sales"], "tax": "int"}}, "sql": "SELECT id, tax FROM sales"}
    )
    known = Registry([*(a for a in registry.actions.values() if a.action != "latest"), edited], registry.flows.values())
    seen = KnownInputs(plans, {"shop": {"rows": taxed(plans)}})
    made = compile_project(
        registry.flows.values(),
        known,
        {"shop": {"rows": taxed(plans).columns}},
        views=seen.views(registry.flows.values()),
    )
    assert "tax" in made["shop"].tables["dws.latest"].column_names


def test_a_plan_without_hidden_columns_keeps_its_fingerprint(plans):
    assert "hidden" not in plans["shop"].model_dump_json()


@pytest.mark.parametrize(
    ("was", "rules", "expected"),
    [
        (UNUSED, {"policy": "lenient"}, {"ods.rows": "swap null"}),
        (UNUSED, {"policy": "evolve"}, {"ods.rows": "swap null", "dwd.sales": "swap null", "dws.latest": "swap null"}),
        (PRICE, {"policy": "lenient"}, {"ods.rows": "block rows wait pauses"}),
        (STORE, {"policy": "lenient"}, {"ods.rows": "block rows wait pauses"}),
        (ID, {"policy": "lenient"}, {"ods.rows": "block rows wait pauses"}),
        (PRICE, {"policy": "ignore"}, {"ods.rows": "swap null"}),
        (PRICE, {}, {"ods.rows": "block rows wait pauses"}),
    ],
)  # fmt: skip
def test_a_dropped_column_starves_what_is_made_of_it(registry, plans, was, rules, expected):
    found = decided(registry, plans, event(EventType.DROP_COLUMN, was), rules)
    assert told(found) == expected
    if was is PRICE:
        starving = {note.split()[2].rstrip(",") for note in found.notes if note.startswith("starving")}
        assert starving == {
            "dwd.sales.double_price", "dws.latest.double_price", "dwd.narrow.cents", "dws.totals.total",
            "ads.board.total",
        }  # fmt: skip


def test_a_wider_type_goes_down_until_a_layer_is_frozen(registry, plans):
    wide = PRICE.model_copy(update={"type": "bigint"})
    found = decided(registry, plans, event(EventType.WIDEN_TYPE, PRICE, wide))
    assert told(found) == {
        "ods.rows": "rebuild taken",
        "dwd.sales": "rebuild taken",
        "dwd.narrow": "rebuild taken",
        "dws.totals": "block rows wait pauses",
        "dws.latest": "block rows wait pauses",
    }


def test_a_frozen_step_that_does_not_read_the_column_goes_on(registry, plans):
    wide = NOTE.model_copy(update={"type": "struct<a:int>"})
    rules = {"layers": {"ods": "try_evolve"}}
    assert decided(registry, plans, event(EventType.CHANGE_TYPE, NOTE, wide), rules).paused == ()
    wide = UNUSED.model_copy(update={"type": "bigint"})
    found = decided(registry, plans, event(EventType.WIDEN_TYPE, UNUSED, wide), {})
    assert found.paused == (("shop", "dws.latest"),)


def test_a_person_s_decision_replaces_the_rules(registry, plans):
    found = decided(registry, plans, event(EventType.DROP_COLUMN, PRICE), {}, policy=Policy.IGNORE)
    assert told(found) == {"ods.rows": "swap null"}
    assert found.verdicts[0].said == "a person"


def test_a_table_that_another_flow_reads(registry, plans):
    found = decided(registry, plans, event(EventType.RECREATE_TABLE, name="dws.totals"))
    assert [(v.flow, v.step, v.outcome, v.values) for v in found.verdicts] == [
        ("boards", "ads.board", Outcome.BLOCK, Values.WAIT)
    ]
    assert found.paused == (("boards", "ads.board"),)


def test_nobody_is_concerned(registry, plans):
    assert decided(registry, plans, event(EventType.DROP_TABLE, name="dwd.others")).verdicts == ()


def test_what_two_flows_call_alike_is_told_apart(registry, plans):
    other = plans["shop"].model_copy(update={"flow": "other"})
    found = decided(registry, {**plans, "other": other}, ADD)
    assert found.verdicts[0].flow == "shop"
    assert [v.flow for v in found.verdicts if v.step == "ods.rows"] == ["shop"]


def test_positions_that_are_lost_hold_those_who_stood_there_and_nobody_else(registry, plans):
    lost = event(EventType.POSITIONS_LOST, name="ods.rows").model_copy(update={"lost": {"0": ((3, 9),)}})
    impact = Impact(plans, {}, lambda *_: True)
    found = impact.decision(lost, "boards")
    assert found.paused == (("boards", "dwd.narrow"),), "the other flow has other positions"
    assert impact.decision(lost, "shop").verdicts == (), "its steps get the rows as they are made"
    [main] = plans["shop"].segments
    apart = plans["shop"].model_copy(
        update={
            "segments": (
                main.model_copy(update={"steps": main.steps[:1]}),
                main.model_copy(update={"name": "apart", "steps": main.steps[1:]}),
            )
        }
    )
    found = Impact({**plans, "shop": apart}, {}, lambda *_: True).decision(lost, "shop")
    assert found.paused == (("shop", "dwd.sales"),), "a segment of its own has positions in it"
