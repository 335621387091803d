"""Our decisions beside what Flink CDC publishes of its own: as fine or finer, and never laxer.

Sources, of github.com/apache/flink-cdc:
- behaviours: docs/content/docs/core-concept/schema-evolution.md
- lenient rewriting: flink-cdc-runtime …/operators/schema/common/SchemaDerivator.java, `lenientizeSchemaChangeEvent`
- types: flink-cdc-common …/utils/SchemaMergingUtils.java, and its test
"""

import pytest

from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType, Policy, SchemaChange
from streamhouse.model.table import Column
from streamhouse.model.upstream import UpstreamEvent, Values, Verdict
from streamhouse.upstream.decide import verdict
from streamhouse.upstream.lattice import common
from streamhouse.upstream.reading_step import ColumnUse, ReadingStep
from tests.unit.upstream.test_decide import TABLE

E, P = EventType, Policy
A = Column(name="amount", type="int")
B = Column(name="total", type="int")
WIDE, TEXT = Column(name="amount", type="bigint"), Column(name="amount", type="string")
PASSES = ReadingStep("f", "s", TABLE, uses=ColumnUse.PASSED, open=True, outputs=("amount",))


def said(kind: EventType, policy: Policy, was: Column | None = None, now: Column | None = None) -> Verdict:
    event = UpstreamEvent(type=kind, object="s", before="1", after="2", was=was, now=now)
    return verdict(event, PASSES, policy)


FLINK_EVENTS = {
    "add.column": (E.ADD_COLUMN, None, B),
    "alter.column.type": (E.WIDEN_TYPE, A, WIDE),
    "drop.column": (E.DROP_COLUMN, A, None),
    "drop.table": (E.DROP_TABLE, None, None),
    "rename.column": (E.RENAME_COLUMN, A, B),
    "truncate.table": (E.TRUNCATE_TABLE, None, None),
}


@pytest.mark.parametrize("name", FLINK_EVENTS)
def test_exception_mode_forbids_every_change(name: str) -> None:
    """ "All schema change behaviors are forbidden. An exception will be thrown": we pause the reader instead."""
    kind, was, now = FLINK_EVENTS[name]
    found = said(kind, P.FREEZE, was, now)
    assert (found.outcome, found.pauses, found.tiers) == (Outcome.BLOCK, True, ())


@pytest.mark.parametrize("name", FLINK_EVENTS)
def test_ignore_mode_applies_nothing(name: str) -> None:
    """ "Silently swallowed and never attempt to apply them to downstream": no tier is touched."""
    kind, was, now = FLINK_EVENTS[name]
    assert said(kind, P.IGNORE, was, now).tiers == ()


@pytest.mark.parametrize(
    ("name", "ddl"),
    [
        # Adds the new column as nullable and keeps the old one.
        ("rename.column", {"add column total int", "fill both amount"}),
        # Keeps the column (it becomes nullable, which it is in all our tiers).
        ("drop.column", {"stop filling amount"}),
        # Adds the column as nullable.
        ("add.column", {"add column total int"}),
        # Not sent downstream.
        ("drop.table", set()),
        ("truncate.table", set()),
    ],
)
def test_lenient_mode_loses_nothing(name: str, ddl: set[str]) -> None:
    kind, was, now = FLINK_EVENTS[name]
    found = said(kind, P.LENIENT, was, now)
    assert {str(one) for change in found.tiers for one in change.ddl} == ddl
    assert found.outcome in (Outcome.NO_OP, Outcome.SWAP)


def test_lenient_mode_keeps_the_column_whose_type_became_another() -> None:
    """ "Previous column will be kept and a new column (with the new type) will be added"."""
    found = said(E.CHANGE_TYPE, P.LENIENT, A, TEXT)
    assert found.values is Values.BOTH
    assert {str(one) for change in found.tiers for one in change.ddl} == {"add column amount__v2 string",
                                                                          "fill both amount"}  # fmt: skip


@pytest.mark.parametrize("name", ["drop.table", "truncate.table"])
def test_evolve_mode_asks_before_it_loses_rows(name: str) -> None:
    """Flink applies both; we need an approval."""
    kind, was, now = FLINK_EVENTS[name]
    assert said(kind, P.EVOLVE, was, now).outcome is Outcome.BLOCK


def test_evolve_mode_applies_what_it_can_and_never_half() -> None:
    """ "If the attempt fails … trigger a global failover": a tier that cannot gets a new version of its table."""
    found = said(E.WIDEN_TYPE, P.EVOLVE, A, WIDE)
    assert [(c.tier.value, c.outcome) for c in found.tiers] == [
        ("hot", Outcome.REBUILD), ("warm", Outcome.REBUILD), ("cold", Outcome.REBUILD),
    ]  # fmt: skip


def test_try_evolve_mode_converts_what_does_not_fit_and_counts() -> None:
    """ "Such data casting and converting isn't guaranteed to be lossless": we count what was lost."""
    assert said(E.CHANGE_TYPE, P.TRY_EVOLVE, A, TEXT).values is Values.CAST


def test_exclude_wins_over_include() -> None:
    """ "exclude.schema.changes has a higher priority than include.schema.changes"."""
    rules = SchemaChange.model_validate(
        {"policy": "evolve", "include": ["add_column", "drop_column"], "exclude": ["drop_column"]}
    )
    of = {kind: rules.policy_for(kind, "dwd.orders")[0] for kind in (E.ADD_COLUMN, E.DROP_COLUMN, E.WIDEN_TYPE)}
    assert of == {E.ADD_COLUMN: P.EVOLVE, E.DROP_COLUMN: P.IGNORE, E.WIDEN_TYPE: P.IGNORE}


@pytest.mark.parametrize("policy", [P.EVOLVE, P.TRY_EVOLVE])
def test_events_that_lenient_leaves_out_can_be_included_one_by_one(policy: Policy) -> None:
    """ "Such behavior could be overridden by Per-Event Type Control"."""
    rules = SchemaChange.model_validate({"policy": "lenient", "on": {"truncate_table": policy.value}})
    assert rules.policy_for(E.TRUNCATE_TABLE, "dwd.orders")[0] is policy


@pytest.mark.parametrize(
    ("a", "b", "flink"),
    [
        *[(small, "bigint", "bigint") for small in ("tinyint", "smallint", "int")],
        *[(one, "double", "double") for one in ("tinyint", "smallint", "int", "bigint", "decimal(10,2)", "float")],
        *[(one, "string", "string") for one in ("tinyint", "int", "bigint", "decimal(10,2)", "boolean", "date")],
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("timestamp_ntz", "timestamp", "timestamp"),
        ("decimal(10,2)", "decimal(12,4)", "decimal(12,4)"),
        ("decimal(10,5)", "decimal(10,2)", "decimal(13,5)"),
        ("decimal(10,2)", "int", "decimal(12,2)"),
    ],
)
def test_shards_merge_to_flink_s_types(a: str, b: str, flink: str) -> None:
    assert common(a, b) == common(b, a) == flink


@pytest.mark.parametrize(("a", "b"), [("decimal(38,0)", "decimal(38,10)"), ("decimal(38,19)", "bigint")])
def test_decimals_that_take_too_many_digits_have_no_common_type(a: str, b: str) -> None:
    """Flink fails in the first case and turns the second into text; we ask in both."""
    assert common(a, b) is None


def test_text_never_takes_the_place_of_a_measure_or_a_key_unasked() -> None:
    """Flink's "final resort: STRING"."""
    for use, output in ((ColumnUse.AGGREGATE, "amount"), (ColumnUse.KEY, "id")):
        event = UpstreamEvent(type=E.SHARDS_DISAGREE, object="s", before="1", after="2", was=A, now=TEXT)
        found = verdict(event, ReadingStep("f", "s", TABLE, uses=use, outputs=(output,)), P.LENIENT)
        assert found.outcome is Outcome.BLOCK
