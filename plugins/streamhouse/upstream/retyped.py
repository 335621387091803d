"""Columns that get another type, or may be NULL otherwise: their rows of the matrix; pure."""

from streamhouse.model.outcome import Ddl, Outcome, TierChange
from streamhouse.model.read_as import RESCUED
from streamhouse.model.schema_change import Policy
from streamhouse.model.table import Column
from streamhouse.model.types import MergeFunction, Tier
from streamhouse.model.upstream import Values, Verdict
from streamhouse.upstream.cell import REST_ON_VALUES, Cell, of_a_column, role
from streamhouse.upstream.known_input import second_of
from streamhouse.upstream.tiers import added, retyped

_FOLDS_EXTREMES = (MergeFunction.MIN, MergeFunction.MAX)
_NEW = Ddl(kind="new version")


@of_a_column
def widen_type(c: Cell, was: Column, now: Column) -> Verdict:  # noqa: ARG001  as other rows
    """A type that holds the values of the one before."""
    match c.policy:
        case Policy.TRY_EVOLVE | Policy.IGNORE:
            return _cast(c, was)
        case Policy.RESCUE:
            return _rescue(c, was)
        case Policy.DISCARD_ROW:
            return c.swap(Values.ROW_DISCARDED)
        case Policy.DISCARD_VALUE:
            return _discard_value(c, was)
    if c.is_key or any(c.table.merge.get(name) in _FOLDS_EXTREMES for name in c.reader.outputs):
        why = "part of a key" if c.is_key else "stored as least or greatest value"
        tiers = c.tier_changes(lambda tier: TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(_NEW,)))
        return c.verdict(Outcome.REBUILD, Values.TAKEN, f"{was.name} is {why}", tiers=tiers, spreads=True)
    passed = [name for name in c.own if c.table.column(name).type == was.type]
    tiers = c.tier_changes(lambda tier: retyped(tier, passed))
    return c.swap(Values.TAKEN, tiers=tiers, spreads=bool(passed))


@of_a_column
def narrow_type(c: Cell, was: Column, now: Column) -> Verdict:
    """A type that the one before holds the values of."""
    match c.policy:
        case Policy.EVOLVE:
            return c.block(f"make {was.name} {now.type}: what is written as {was.type} may not fit")
        case Policy.TRY_EVOLVE if c.is_key:
            return c.block(f"make {was.name} {now.type}, which is part of a key")
        case Policy.TRY_EVOLVE:
            return c.swap(Values.CAST, f"{was.name} is cast to {now.type}; the table stays as wide as it is")
        case _:
            return c.nothing(f"{was.name} stays {was.type}, which holds {now.type}")


@of_a_column
def change_type(c: Cell, was: Column, now: Column) -> Verdict:
    """Neither type holds the values of the other."""
    ask = f"make {was.name} {now.type} where it is {was.type}"
    match c.policy:
        case Policy.EVOLVE:
            return c.block(ask)
        case Policy.TRY_EVOLVE:
            return _cast(c, was)
        case Policy.RESCUE:
            return _rescue(c, was)
        case Policy.DISCARD_ROW:
            return c.swap(Values.ROW_DISCARDED)
        case Policy.IGNORE | Policy.DISCARD_VALUE if c.is_key:
            return c.block(ask, "a key cannot be NULL")
        case Policy.IGNORE:
            return c.swap(Values.NULL, f"{was.name} is NULL where it does not fit; such rows are counted")
        case Policy.DISCARD_VALUE:
            return _discard_value(c, was)
    if c.is_key:
        return c.block(ask, "a key has one column")
    second = second_of(now)
    tiers = c.tier_changes(lambda tier: added(tier, second, fills=was.name))
    return c.swap(
        Values.BOTH,
        f"{second.name} holds {now.type}, {was.name} what of it fits {was.type}; a contract says when readers move",
        tiers=tiers,
        spreads=c.reader.open,
    )


def relax(c: Cell) -> Verdict:
    """A column that may be NULL from now on."""
    name = c.event.column
    if c.unread:
        return c.nothing()
    if c.is_key:
        return c.block(f"let {name} be NULL, which is part of a key")
    match c.policy:
        case Policy.FREEZE:
            return c.nothing()
        case Policy.IGNORE:
            return c.nothing(f"a NULL in {name} meets the rules on it")
        case _:
            notes = (
                "every tier holds the column as nullable already",
                f"rules that {name} is not NULL hold or fail from now on",
            )
            return c.swap(Values.TAKEN, *notes, spreads=True)


def tighten(c: Cell) -> Verdict:
    """A column that is not NULL any more."""
    if c.unread:
        return c.nothing()
    match c.policy:
        case Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.swap(Values.ROW_DISCARDED, f"rows with NULL in {c.event.column} are left out")
        case Policy.FREEZE | Policy.EVOLVE | Policy.TRY_EVOLVE if c.event.proved:
            return c.swap(Values.TAKEN, "the data proves it; every tier goes on holding the column as nullable",
                          spreads=True)  # fmt: skip
        case _:
            return c.nothing("the column stays nullable: rows already written may hold NULL")


@of_a_column
def add_field(c: Cell, was: Column, now: Column) -> Verdict:  # noqa: ARG001  as other rows
    """A struct with further fields."""
    match c.policy:
        case Policy.IGNORE:
            return c.nothing(f"what is new in {was.name} is not read", values=Values.UNREAD)
        case Policy.RESCUE:
            return _rescue(c, was)
        case Policy.TRY_EVOLVE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.nothing(values=Values.RESCUED)
    lenient = c.policy is not Policy.EVOLVE
    if Tier.HOT in c.table.tiers.present and lenient and c.own:
        return c.swap(Values.RESCUED, f"the hot tier keeps {was.name} as {was.type}")
    tiers = c.tier_changes(lambda tier: retyped(tier, c.own))
    return c.swap(Values.TAKEN, tiers=tiers, spreads=bool(c.own))


def shards(c: Cell) -> Verdict:
    """Parts of one source that have other types."""
    was, now = c.event.was, c.event.now
    assert was is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    if now is None:
        return c.block(f"choose a type for {was.name}", "no type holds what all shards have")
    if c.policy is Policy.TRY_EVOLVE:
        return _cast(c, was)
    if c.policy is Policy.RESCUE:
        return _rescue(c, was)
    if now.type == "string" and c.reader.uses in REST_ON_VALUES:
        return c.block(f"make {was.name} text, which is {role(c.reader.uses)}", "only text holds what all shards have")
    done = widen_type(Cell(c.event, c.reader, Policy.LENIENT, c.said))
    return done.model_copy(update={"policy": c.policy})


def _cast(c: Cell, was: Column) -> Verdict:
    if c.is_key:
        return c.block(f"cast {was.name} to {was.type}, which is part of a key", "a key that does not fit has no place")
    return c.swap(Values.CAST)


def _rescue(c: Cell, was: Column) -> Verdict:
    ask = f"keep values of {was.name} that do not fit {was.type} in {RESCUED.name}"
    if c.is_key:
        return c.block(ask, f"{was.name} is part of a key, which cannot be NULL")
    if not c.reader.open:
        return c.block(ask, f"{c.reader.step} does not pass on columns that it does not name: they would be lost")
    tiers = c.tier_changes(lambda tier: added(tier, RESCUED)) if RESCUED.name not in c.table.column_names else ()
    note = f"{was.name} stays {was.type}; what does not fit is NULL there, and in {RESCUED.name} as JSON"
    return c.swap(Values.RESCUED, note, tiers=tiers, spreads=True)


def _discard_value(c: Cell, was: Column) -> Verdict:
    if c.is_key:
        return c.block(f"leave out values of {was.name} that do not fit, which is part of a key")
    return c.swap(Values.VALUE_DISCARDED)
