"""What is decided and cannot be done must end in a question, never in nothing."""

import pytest

from streamhouse.model.plan import PlannedSource
from streamhouse.model.read_as import RESCUED, as_read
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.upstream import UpstreamEvent, Values
from streamhouse.upstream.ability import follows
from streamhouse.upstream.decide import verdict
from streamhouse.upstream.known_input import KnownInput, followed
from streamhouse.upstream.reading_step import ReadingStep
from tests.tables import each
from tests.unit.upstream.test_decide import ALL, CELLS_OF_ALL, INT, LESS, TEXT, S, event, reader

COLUMNS = tuple(
    Column(name=name, type=kind)
    for name, kind in {"id": "int", "amount": "int", "note": "string", "s": "struct<a:int>"}.items()
)
ORIGINS = {
    "table": Table(name="ods.orders", columns=COLUMNS, tiers=Tiers.model_validate({"warm": "30d"})),
    "parquet": PlannedSource(name="r", kind="files", options={"path": "d/*.parquet"}, columns=COLUMNS),
    "json": PlannedSource(name="r", kind="files", options={"path": "d/*.json"}, columns=COLUMNS),
    "cdc": PlannedSource(name="r", kind="cdc", columns=COLUMNS, primary_key=("id",)),
    "of others": PlannedSource(name="r", kind="table", columns=COLUMNS),
    "replay": PlannedSource(name="r", kind="replay", columns=COLUMNS),
}
NOT_YET = {Values.RESCUED, Values.REFILLED, Values.WAIT}
CHANGES_NOTHING = {Values.AS_BEFORE, Values.UNREAD, Values.COUNTED}


@pytest.mark.parametrize("origin", ORIGINS)
@each(("seen", "by", "policy"), ALL, ids=CELLS_OF_ALL)
def test_every_cell(origin: str, seen: UpstreamEvent, by: ReadingStep, policy: Policy) -> None:
    told, before = verdict(seen, by, policy), KnownInput(ORIGINS[origin])
    found = followed(before, seen, [told])
    if not seen.column or found is None:
        return  # of a thing as a whole; or a question
    gone = {one.column.name for one in found.adapted if one.gone}
    assert gone.isdisjoint(column.name for column in found.columns)
    assert found.columns == as_read(found.columns, found.adapted), "a plan compiled again has the same columns"
    if seen.was is not None and told.values not in CHANGES_NOTHING and before.column(seen.column):
        rescued = told.values is Values.RESCUED and told.spreads
        assert rescued or told.values not in NOT_YET, "carried out, though it cannot be"
        stays = told.values is Values.CAST and seen.type is EventType.NARROW_TYPE
        stays |= told.values is Values.TAKEN and seen.type is EventType.RELAX_NULLABILITY and origin != "table"
        assert found != before or stays, told.values
    if origin == "replay":
        assert not found.adapted, "its columns are those of a package"


def test_readers_that_want_different_things_are_a_question() -> None:
    seen = event(EventType.WIDEN_TYPE, INT, Column(name="amount", type="bigint"))
    told = [verdict(seen, reader(), policy) for policy in (Policy.EVOLVE, Policy.TRY_EVOLVE)]
    assert followed(KnownInput(ORIGINS["table"]), seen, told) is None
    assert followed(KnownInput(ORIGINS["table"]), seen, told[:1]) is not None


@pytest.mark.parametrize("policy", [Policy.DISCARD_ROW, Policy.RESCUE])
def test_what_does_not_fit_is_treated_so_under_another_name_too(policy: Policy) -> None:
    known = KnownInput(ORIGINS["table"])
    wide = INT.model_copy(update={"type": "bigint"})
    retyped = event(EventType.WIDEN_TYPE, INT, wide)
    known = followed(known, retyped, [verdict(retyped, reader(open=True), policy)])
    assert known is not None
    renamed = event(EventType.RENAME_COLUMN, wide, LESS.model_copy(update={"type": "bigint"}))
    known = followed(known, renamed, [verdict(renamed, reader(open=True), Policy.LENIENT)])
    assert known is not None
    [amount] = [one for one in known.adapted if one.column.name == "amount"]
    assert [part.name for part in amount.of] == ["total", "amount"]
    assert amount.misfit == ("discard" if policy is Policy.DISCARD_ROW else "rescue")


def test_what_comes_under_the_name_of_what_is_rescued_is_a_question() -> None:
    known = KnownInput(ORIGINS["table"])
    retyped = event(EventType.CHANGE_TYPE, INT, TEXT)
    known = followed(known, retyped, [verdict(retyped, reader(open=True), Policy.RESCUE)])
    assert known is not None
    assert str(known.adapted[-1]) == "_rescued string of what does not fit amount"
    came = event(EventType.ADD_COLUMN, now=RESCUED)
    assert followed(known, came, [verdict(came, reader(open=True), Policy.RESCUE)]) is None
    has = KnownInput(ORIGINS["table"].model_copy(update={"columns": (*COLUMNS, RESCUED)}))
    assert followed(has, retyped, [verdict(retyped, reader(open=True), Policy.RESCUE)]) is None


def test_a_column_that_was_renamed_and_changes_again() -> None:
    known = KnownInput(ORIGINS["table"])
    renamed = event(EventType.RENAME_COLUMN, INT, LESS)
    known = followed(known, renamed, [verdict(renamed, reader(open=True), Policy.EVOLVE)])
    assert known is not None
    assert [str(one) for one in known.adapted] == ["amount int of total int or amount int",
                                                   "total int of total int or amount int"]  # fmt: skip
    retyped = event(EventType.CHANGE_TYPE, LESS, LESS.model_copy(update={"type": "string"}))
    assert followed(known, retyped, [verdict(retyped, reader(), Policy.TRY_EVOLVE)]) is None, "amount rests on it too"


def test_a_column_that_is_renamed_and_gets_another_type_at_once() -> None:
    known = KnownInput(ORIGINS["table"])
    renamed = event(EventType.RENAME_COLUMN, INT, LESS.model_copy(update={"type": "bigint"}))
    retyped = event(EventType.WIDEN_TYPE, INT, INT.model_copy(update={"type": "bigint"}))
    for seen, policy in ((renamed, Policy.EVOLVE), (retyped, Policy.TRY_EVOLVE)):
        known = followed(known, seen, [verdict(seen, reader(), policy)])
        assert known is not None
    [one] = known.adapted
    assert str(one) == "amount int of total bigint or amount int, what does not fit: null"


def test_json_tells_no_text_from_a_number() -> None:
    seen = event(EventType.CHANGE_TYPE, INT, TEXT)
    told = [verdict(seen, reader(), Policy.TRY_EVOLVE)]
    assert followed(KnownInput(ORIGINS["json"]), seen, told) is None
    assert followed(KnownInput(ORIGINS["parquet"]), seen, told) is not None


def test_fields_of_a_struct_are_rescued_where_rows_are_read_with_the_types_they_have() -> None:
    def found(origin: str, kind: str, type_: EventType = EventType.CHANGE_TYPE) -> list[str] | None:
        seen = event(type_, S, S.model_copy(update={"type": kind}))
        known = followed(
            KnownInput(ORIGINS[origin]), seen, [verdict(seen, reader(output="s", open=True), Policy.RESCUE)]
        )
        return None if known is None else [str(one) for one in known.adapted]

    more = "struct<a:int,b:string>"
    kept = [f"s struct<a:int> of s {more}, what does not fit: rescue", "_rescued string of what does not fit s"]
    for origin in ("table", "parquet", "json"):
        assert found(origin, more, EventType.ADD_FIELD) == kept, origin
    assert found("cdc", more, EventType.ADD_FIELD) is None, "a question"
    assert found("parquet", "struct<a:string>") is not None
    assert found("json", "struct<a:string>") is None, "Arrow takes no number for a text, wherever it is"
    assert found("parquet", "struct<a:array<int>>") is None


def test_what_is_followed_makes_another_plan() -> None:
    from streamhouse.model.upstream import Decision

    seen = event(EventType.DROP_COLUMN, INT)
    assert follows(Decision(event=seen, verdicts=(verdict(seen, reader(), Policy.IGNORE),)))
