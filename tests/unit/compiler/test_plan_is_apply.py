"""What `plan` says of each table is what `apply` asks for: a table that gets a new version is `rebuild`."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from streamhouse.change.change_request import wish_of
from streamhouse.compiler.migration import copied, tables_to_rebuild, taken_up
from streamhouse.model.outcome import Outcome
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.project.compare import Applied, TableContents, compare
from streamhouse.state.store import StateStore
from tests.unit.compiler.test_outcomes import AGE, CASES, base, changed

REBUILT = (Outcome.REBUILD, Outcome.BLOCK)


def applied(old, others, ever=()):
    """The plans as they run; `ever`: further columns that tables of the flow once had."""
    plans = {old.flow: (1, old)} | {name: (1, plan) for name, plan in others.items()}
    columns = {name: {*table.column_names, *dict(ever).get(name, ())} for name, table in old.tables.items()}
    contents = TableContents({}, set(old.tables), lambda _: columns)
    return Applied(plans, {old.flow: AGE}, lambda: contents)


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_every_edit(case: Path) -> None:
    old, new, others = changed(case)
    found = compare(new, applied(old, others), {}).found
    built = tables_to_rebuild(found, new, set(old.tables)) & set(old.tables)
    told = {table.table for table in found.tables if table.outcome in REBUILT and table.table in new.tables}
    blocked = {table.table for table in found.tables if table.outcome is Outcome.BLOCK}
    assert built - blocked == told - blocked
    for table in found.tables:
        ddl = {str(one) for tier in table.tiers for one in tier.ddl}
        assert ("new version" in ddl) is (table.table in built and table.table not in blocked), table
        assert not {one for one in ddl if one.startswith(("rename", "widen", "add field"))}
    if built - blocked:
        assert found.outcome in REBUILT


TIERS = [(Tier.HOT,), (Tier.WARM,), (Tier.COLD,), (Tier.HOT, Tier.COLD), (Tier.WARM, Tier.COLD), tuple(Tier)]


@pytest.mark.parametrize("tiers", TIERS, ids=lambda tiers: "-".join(tiers))
@pytest.mark.parametrize(
    "edit", [{"name": "price"}, {"type": "decimal(20,2)"}, {"name": "price", "type": "decimal(20,2)"}], ids=str
)
def test_another_name_or_a_wider_type_is_a_new_version_in_every_tier(tiers, edit) -> None:
    plan = base()["shop"]
    step = next(one for one in plan.steps if one.writes.name == "ads.large_orders")
    held = step.writes.tiers.model_copy(update={tier.value: None for tier in Tier})
    held = held.model_copy(update={tier.value: timedelta(days=30) for tier in tiers})
    was = Column(name="cost", type="decimal(10,2)")

    def with_column(column, renamed):
        columns = (*step.writes.columns, column)
        table = step.writes.model_copy(update={"columns": columns, "tiers": held})
        sql = step.sql.replace("SELECT", f"SELECT CAST(1 AS {column.type}) AS {column.name}, ", 1)
        changed_step = step.model_copy(
            update={"writes": table, "columns": (*step.columns, column), "renamed": renamed, "sql": sql}
        )
        segments = tuple(
            s.model_copy(update={"steps": tuple(changed_step if one == step else one for one in s.steps)})
            for s in plan.segments
        )
        return plan.model_copy(update={"segments": segments})

    now = was.model_copy(update=edit)
    old, new = with_column(was, {}), with_column(now, {now.name: "cost"} if now.name != "cost" else {})
    found = compare(new, applied(old, {}), {}).found
    told = next(table for table in found.tables if table.table == "ads.large_orders")
    assert told.outcome is Outcome.REBUILD
    assert [(tier.tier, tier.outcome) for tier in told.tiers] == [(tier, Outcome.REBUILD) for tier in tiers]
    assert tables_to_rebuild(found, new, set(old.tables)) == {"ads.large_orders"}


def test_a_column_that_comes_back_is_told_as_the_copy_that_it_is() -> None:
    old = base()["shop"]
    step = next(one for one in old.steps if one.writes.name == "ads.large_orders")
    column = Column(name="colour", type="string")
    table = step.writes.model_copy(update={"columns": (*step.writes.columns, column)})
    wider = step.model_copy(
        update={
            "writes": table,
            "columns": (*step.columns, column),
            "sql": step.sql.replace("SELECT", "SELECT CAST(NULL AS STRING) AS colour, ", 1),
        }
    )
    segments = tuple(
        s.model_copy(update={"steps": tuple(wider if one == step else one for one in s.steps)}) for s in old.segments
    )
    new = old.model_copy(update={"segments": segments})
    first = compare(new, applied(old, {}), {}).found
    assert first.outcome is Outcome.SWAP, "a column that the table never had"
    ever = {"ads.large_orders": {"colour"}}
    found = compare(new, applied(old, {}, ever), {}).found
    told = next(one for one in found.tables if one.table == "ads.large_orders")
    assert (found.outcome, told.outcome) == (Outcome.REBUILD, Outcome.REBUILD)
    [change] = [one for one in found.steps if one.table == "ads.large_orders"]
    assert change.main is not None
    assert "a column comes back" in change.main.proof
    again = taken_up(old, new, {name: {*t.column_names, *ever.get(name, ())} for name, t in old.tables.items()})
    to_rebuild = tables_to_rebuild(found, new, set(old.tables), again)
    assert to_rebuild == again == {"ads.large_orders"}
    assert copied(found, new, to_rebuild, again) == {"ads.large_orders"}, "its rows go on as they are"


def test_a_name_that_was_given_up_once_is_told_by_the_state_store(tmp_path: Path) -> None:
    old = base()["shop"]
    step = next(one for one in old.steps if one.writes.name == "ads.large_orders")
    less = step.writes.columns[-1].name
    without = step.model_copy(
        update={
            "writes": step.writes.model_copy(update={"columns": step.writes.columns[:-1]}),
            "columns": tuple(c for c in step.columns if c.name != less),
        }
    )
    segments = tuple(
        s.model_copy(update={"steps": tuple(without if one == step else one for one in s.steps)}) for s in old.segments
    )
    middle = old.model_copy(update={"segments": segments})
    with StateStore(f"sqlite:///{tmp_path}/state.db") as state:
        state.save_plan(old)
        state.save_plan(middle)
        compared = compare(old, replace(Applied.of(state), ages={}), {})
        wish = wish_of(state, old, compared.found)
    told = {one.table for one in compared.found.tables if one.outcome is Outcome.REBUILD}
    assert told == wish.to_rebuild == {"ads.large_orders"}
    assert wish.outcome is Outcome.REBUILD
