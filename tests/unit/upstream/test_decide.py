"""Every cell of `docs/trigger.md`: one file for each kind of event, one line for each reader and policy."""

from pathlib import Path

import pytest

from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import SUBJECT_TO_POLICY, EventType, Policy, SchemaChange
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import MergeFunction, Tier
from streamhouse.model.upstream import UpstreamEvent, Values, Verdict
from streamhouse.upstream.decide import decide, verdict
from streamhouse.upstream.reading_step import ColumnUse, ReadingStep
from tests.golden import Golden
from tests.tables import each

CELLS = Path(__file__).parents[2] / "fixtures/upstream/cells"
TIERS = Tiers.model_validate({"hot": "7d", "warm": "30d", "cold": "forever"})
LAKES = Tiers.model_validate({"warm": "30d", "cold": "forever"})
OLD = "struct<a:int>"
TABLE = Table(
    name="dwd.orders",
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in {"id": "int", "amount": "int", "note": "string", "s": OLD}.items()
    ),
    primary_key=("id",),
    tiers=TIERS,
)
EXTREMES = Table(
    name="dws.extremes",
    columns=(Column(name="note", type="string"), Column(name="greatest", type="int")),
    primary_key=("note",),
    tiers=TIERS,
    merge={"greatest": MergeFunction.MAX},
)


def column(name: str, kind: str) -> Column:
    return Column(name=name, type=kind)


def event(kind: EventType, was: Column | None = None, now: Column | None = None, **more: object) -> UpstreamEvent:
    told = {"object": "ods.orders", **more}
    return UpstreamEvent(type=kind, before="1", after="2", was=was, now=now, **told)


def reader(
    use: ColumnUse = ColumnUse.PASSED, output: str = "amount", table: Table = TABLE, **more: object
) -> ReadingStep:
    starved = () if use in (ColumnUse.NOTHING, ColumnUse.PASSED) else ("dws.totals.total",)
    return ReadingStep("shop", table.name, table, uses=use, outputs=(output,), starved=starved, **more)


E = EventType
LAKE = TABLE.model_copy(update={"tiers": LAKES})
INT, BIG, TEXT, SMALL = (column("amount", kind) for kind in ("int", "bigint", "string", "smallint"))
ID, BIG_ID = column("id", "int"), column("id", "bigint")
OPEN, CLOSED = reader(ColumnUse.NOTHING, "", open=True), reader(ColumnUse.NOTHING, "")
FURTHER = reader(ColumnUse.NOTHING, "", open=True, derived=True)
KEY = reader(ColumnUse.KEY, "id")
TAX, RAW = column("tax", "int"), column("raw", "variant")
S, S2 = column("s", OLD), column("s", "struct<a:int,b:string>")
LESS = column("total", "int")

CASES: dict[EventType, dict[str, tuple[UpstreamEvent, ReadingStep]]] = {
    E.ADD_COLUMN: {
        "open port": (event(E.ADD_COLUMN, now=TAX), OPEN),
        "closed port": (event(E.ADD_COLUMN, now=TAX), CLOSED),
        "open port, further down": (event(E.ADD_COLUMN, now=TAX), FURTHER),
        "open port, a type that a tier cannot hold": (event(E.ADD_COLUMN, now=RAW), OPEN),
    },
    E.ADD_REQUIRED_COLUMN: {
        "open port, with a default": (event(E.ADD_REQUIRED_COLUMN, now=TAX, default="0"), OPEN),
        "open port, without": (event(E.ADD_REQUIRED_COLUMN, now=TAX), OPEN),
        "closed port": (event(E.ADD_REQUIRED_COLUMN, now=TAX), CLOSED),
    },
    E.DROP_COLUMN: {
        "not read": (event(E.DROP_COLUMN, INT), CLOSED),
        "passed on, used by nobody": (event(E.DROP_COLUMN, INT), reader(ColumnUse.PASSED)),
        "makes a value": (event(E.DROP_COLUMN, INT), reader(ColumnUse.VALUE)),
        "input of an aggregate": (event(E.DROP_COLUMN, INT), reader(ColumnUse.AGGREGATE)),
        "joins, groups or filters": (event(E.DROP_COLUMN, INT), reader(ColumnUse.ROWS)),
        "in an expectation that fails": (event(E.DROP_COLUMN, INT), reader(ColumnUse.CONTRACT)),
        "key": (event(E.DROP_COLUMN, ID), KEY),
    },
    E.RENAME_COLUMN: {
        "not read": (event(E.RENAME_COLUMN, INT, LESS), CLOSED),
        "passed on": (event(E.RENAME_COLUMN, INT, LESS), reader()),
        "passed on, open port": (event(E.RENAME_COLUMN, INT, LESS), reader(open=True)),
        "makes a value of another name": (event(E.RENAME_COLUMN, INT, LESS), reader(ColumnUse.VALUE, "cents")),
        "key": (event(E.RENAME_COLUMN, ID, LESS), KEY),
    },
    E.MAYBE_RENAME: {
        "passed on, open port": (event(E.MAYBE_RENAME, INT, LESS), reader(open=True)),
        "makes a value": (event(E.MAYBE_RENAME, INT, LESS), reader(ColumnUse.VALUE, "cents")),
        "key": (event(E.MAYBE_RENAME, ID, LESS), KEY),
        "not read, closed port": (event(E.MAYBE_RENAME, INT, LESS), CLOSED),
    },
    E.WIDEN_TYPE: {
        "not read": (event(E.WIDEN_TYPE, INT, BIG), CLOSED),
        "passed on": (event(E.WIDEN_TYPE, INT, BIG), reader()),
        "passed on, no hot tier": (event(E.WIDEN_TYPE, INT, BIG), reader(table=LAKE)),
        "passed on, no tier can": (event(E.WIDEN_TYPE, INT, column("amount", "decimal(20,0)")), reader(table=LAKE)),
        "greatest value": (event(E.WIDEN_TYPE, INT, BIG), reader(ColumnUse.AGGREGATE, "greatest", EXTREMES)),
        "key": (event(E.WIDEN_TYPE, ID, BIG_ID), KEY),
    },
    E.NARROW_TYPE: {
        "not read": (event(E.NARROW_TYPE, INT, SMALL), CLOSED),
        "passed on": (event(E.NARROW_TYPE, INT, SMALL), reader()),
        "key": (event(E.NARROW_TYPE, ID, column("id", "smallint")), KEY),
    },
    E.CHANGE_TYPE: {
        "passed on, open port": (event(E.CHANGE_TYPE, INT, TEXT), reader(open=True)),
        "not read": (event(E.CHANGE_TYPE, INT, TEXT), CLOSED),
        "passed on": (event(E.CHANGE_TYPE, INT, TEXT), reader()),
        "key": (event(E.CHANGE_TYPE, ID, column("id", "string")), KEY),
    },
    E.RELAX_NULLABILITY: {
        "not read": (event(E.RELAX_NULLABILITY, INT, INT), CLOSED),
        "passed on": (event(E.RELAX_NULLABILITY, INT, INT), reader()),
        "key": (event(E.RELAX_NULLABILITY, ID, ID), KEY),
    },
    E.TIGHTEN_NULLABILITY: {
        "passed on, proved": (event(E.TIGHTEN_NULLABILITY, INT, INT, proved=True), reader()),
        "passed on, not proved": (event(E.TIGHTEN_NULLABILITY, INT, INT), reader()),
    },
    E.CHANGE_KEY: {"any": (event(E.CHANGE_KEY), OPEN)},
    E.CHANGE_LAYOUT: {"any": (event(E.CHANGE_LAYOUT), OPEN)},
    E.ADD_FIELD: {
        "not read": (event(E.ADD_FIELD, S, S2), CLOSED),
        "passed on": (event(E.ADD_FIELD, S, S2), reader(output="s")),
        "passed on, no hot tier": (event(E.ADD_FIELD, S, S2), reader(output="s", table=LAKE)),
        "passed on, open port": (event(E.ADD_FIELD, S, S2), reader(output="s", open=True)),
    },
    E.CHANGE_TEXT: {"any": (event(E.CHANGE_TEXT), OPEN)},
    E.TRUNCATE_TABLE: {"any": (event(E.TRUNCATE_TABLE), OPEN)},
    E.DROP_TABLE: {"any": (event(E.DROP_TABLE), OPEN)},
    E.RECREATE_TABLE: {
        "any": (event(E.RECREATE_TABLE), OPEN),
        "a source": (event(E.RECREATE_TABLE).model_copy(update={"object": "shop:orders"}), OPEN),
    },
    E.NEW_TABLE: {"any": (event(E.NEW_TABLE), OPEN)},
    E.SHARDS_DISAGREE: {
        "passed on, a number holds all": (event(E.SHARDS_DISAGREE, INT, BIG), reader(table=LAKE)),
        "passed on, only text holds all": (event(E.SHARDS_DISAGREE, INT, TEXT), reader(table=LAKE)),
        "a measure, only text holds all": (event(E.SHARDS_DISAGREE, INT, TEXT), reader(ColumnUse.AGGREGATE)),
        "key, only text holds all": (event(E.SHARDS_DISAGREE, ID, column("id", "string")), KEY),
        "no type holds all": (event(E.SHARDS_DISAGREE, INT), reader()),
    },
    E.UNKNOWN_FIELD: {
        "open port": (event(E.UNKNOWN_FIELD, now=TAX), OPEN),
        "closed port": (event(E.UNKNOWN_FIELD, now=TAX), CLOSED),
    },
    E.POSITIONS_LOST: {
        "a colder tier holds the rows": (event(E.POSITIONS_LOST, held_colder=True), OPEN),
        "no tier does": (event(E.POSITIONS_LOST), OPEN),
        "of a source": (event(E.POSITIONS_LOST, lost={"0": ((3, 15),)}, detail="12 of 0, from 3 to 15"), OPEN),
        "it ends before where it was read": (
            event(E.POSITIONS_LOST, object="shop:orders", detail="0 ends at 5, before 12"),
            OPEN,
        ),
        "of a table whose changes are gone, not its rows": (
            event(E.POSITIONS_LOST, detail="Paimon no longer holds snapshot 3"),
            OPEN,
        ),
    },
}
_ALL = {
    f"{kind}, {name}, {policy}": (seen, by, policy)
    for kind, cases in CASES.items()
    for name, (seen, by) in cases.items()
    for policy in Policy
}
ALL, CELLS_OF_ALL = list(_ALL.values()), list(_ALL)


def shown(found: Verdict) -> str:
    parts = [f"{found.policy:<13} {found.outcome:<7} {found.values}"]
    parts += [f"{change.tier}: {', '.join(map(str, change.ddl))}" for change in found.tiers]
    parts += ["spreads"] * found.spreads + ["pauses"] * found.pauses
    parts += [f"asks: {found.asks}"] if found.asks else []
    return " | ".join(parts) + "".join(f"\n{'':22}note: {note}" for note in found.notes)


@pytest.mark.parametrize("kind", CASES)
def test_cells(kind: EventType, golden: Golden) -> None:
    text = []
    for name, (seen, by) in CASES[kind].items():
        text += [f"# {seen} — {name}", *(shown(verdict(seen, by, policy)) for policy in Policy), ""]
    golden("\n".join(text), CELLS / f"{kind}.txt")


def test_no_row_is_left_out() -> None:
    assert list(CASES) == list(SUBJECT_TO_POLICY)


@each(("seen", "by", "policy"), ALL, ids=CELLS_OF_ALL)
def test_every_cell(seen: UpstreamEvent, by: ReadingStep, policy: Policy) -> None:
    found = verdict(seen, by, policy)
    assert found.policy is policy
    assert (found.outcome is Outcome.BLOCK) == bool(found.asks), "a block asks, and nothing else does"
    assert found.pauses >= bool(found.asks), "who asks waits"
    assert found.pauses == (found.values is Values.WAIT)
    assert {change.tier for change in found.tiers} <= set(by.table.tiers.present)
    hot = [change for change in found.tiers if change.tier is Tier.HOT]
    assert all(
        d.kind in ("add column", "fill both", "stop filling", "new version", "create") for c in hot for d in c.ddl
    )
    if found.outcome is not Outcome.BLOCK:
        assert by.uses is not ColumnUse.KEY or found.values is not Values.NULL, "no key is NULL"


@each(("seen", "by", "policy"), ALL, ids=CELLS_OF_ALL)
def test_freeze_is_never_laxer_than_another_policy_that_touches_tables(
    seen: UpstreamEvent, by: ReadingStep, policy: Policy
) -> None:
    frozen = verdict(seen, by, Policy.FREEZE)
    assert not frozen.tiers
    assert frozen.outcome in (Outcome.NO_OP, Outcome.BLOCK) or seen.type is E.TIGHTEN_NULLABILITY


RULES = SchemaChange.model_validate(
    {
        "on": {"drop_column": "freeze"},
        "layers": {"ads": "ignore"},
        "tables": {
            "dwd.orders": {
                "policy": "lenient",
                "on": {"widen_type": "try_evolve", "truncate_table": "evolve"},
                "exclude": ["truncate_table"],
                "columns": {"amount": {"on": {"widen_type": "freeze"}}, "note": "ignore"},
            },
            "dwd.returns": {"include": ["add_column"]},
        },
    }
)


@pytest.mark.parametrize(
    ("kind", "table", "name", "expected", "said"),
    [
        (E.WIDEN_TYPE, "dwd.orders", "amount", "freeze", "on widen_type of dwd.orders.amount"),
        (E.WIDEN_TYPE, "dwd.orders", "note", "ignore", "dwd.orders.note"),
        (E.WIDEN_TYPE, "dwd.orders", "s", "try_evolve", "on widen_type of dwd.orders"),
        (E.TRUNCATE_TABLE, "dwd.orders", "", "ignore", "exclude of dwd.orders"),
        (E.DROP_COLUMN, "dwd.orders", "s", "lenient", "dwd.orders"),
        (E.DROP_COLUMN, "dwd.returns", "s", "ignore", "include of dwd.returns"),
        (E.ADD_COLUMN, "dwd.returns", "s", "evolve", "default of dwd"),
        (E.DROP_COLUMN, "dws.totals", "s", "freeze", "on drop_column of the flow"),
        (E.ADD_COLUMN, "dws.totals", "s", "freeze", "default of dws"),
        (E.ADD_COLUMN, "ads.board", "s", "ignore", "layer ads"),
        (E.ADD_COLUMN, "ods.orders", "s", "lenient", "default of ods"),
    ],
)
def test_the_nearest_word_counts(kind: EventType, table: str, name: str, expected: str, said: str) -> None:
    assert RULES.policy_for(kind, table, name) == (Policy(expected), said)


def test_the_rules_of_a_flow_are_followed() -> None:
    found = decide(event(E.WIDEN_TYPE, INT, BIG), reader(), RULES)
    assert (found.policy, found.outcome) == (Policy.FREEZE, Outcome.BLOCK)
    assert found.said == "on widen_type of dwd.orders.amount"
