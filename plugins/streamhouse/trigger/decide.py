"""One event, one reader, one policy: what is done. The cells of the matrix in docs/trigger.md; pure.

A policy that says nothing of an event (a dash in the matrix) counts as `lenient`. Where a cell would write what no
table can hold, such as NULL into a key, it blocks instead: finer than the matrix, and never laxer.
"""

from collections.abc import Callable, Mapping

from streamhouse.model.outcome import Ddl, Outcome, TierChange, worst
from streamhouse.model.schema_change import EventType, Policy, SchemaChange
from streamhouse.model.table import Column, Table
from streamhouse.model.types import MergeFunction, Tier
from streamhouse.model.upstream import UpstreamEvent, Values, Verdict
from streamhouse.trigger.reader import Reader, Use
from streamhouse.trigger.tiers import added, dropped, field_added, renamed, widened

_REST_ON_VALUES = (Use.AGGREGATE, Use.ROWS, Use.CONTRACT, Use.KEY)
_FOLDS_EXTREMES = (MergeFunction.MIN, MergeFunction.MAX)


def decide(event: UpstreamEvent, reader: Reader, rules: SchemaChange) -> Verdict:
    """What an event means for one reader, by the rules of the reader's flow.

    Args:
        event: What changed; not an edit, which is judged by what it means (docs/outcomes.md).
        reader: The step concerned, and how it uses the column.
        rules: Of its flow.
    """
    policy, said = rules.policy_for(event.type, reader.table.name, event.column)
    return verdict(event, reader, policy, said)


def verdict(event: UpstreamEvent, reader: Reader, policy: Policy, said: str = "") -> Verdict:
    """The cell of one event and one policy for one reader."""
    return _Cell(event, reader, policy, said).decided()


class _Cell:
    """One cell: the facts it rests on, and the few answers there are."""

    def __init__(self, event: UpstreamEvent, reader: Reader, policy: Policy, said: str) -> None:
        self.event = event
        self.reader = reader
        self.policy = policy
        self.said = said
        self.table: Table = reader.table

    def decided(self) -> Verdict:
        if self.reader.derived and self.unread and self.event.was is not None:
            return self.nothing()  # our own table changed, in a column that the step does not see
        return _ROWS[self.event.type](self)

    # --- answers -------------------------------------------------------------------------------

    def told(
        self,
        outcome: Outcome,
        values: Values,
        *notes: str,
        tiers: tuple[TierChange, ...] = (),
        spreads: bool = False,
        pauses: bool = False,
        asks: str = "",
    ) -> Verdict:
        worst_tier = worst(outcome, *(tier.outcome for tier in tiers))
        return Verdict(
            flow=self.reader.flow,
            step=self.reader.step,
            table=self.table.name,
            policy=self.policy,
            said=self.said,
            outcome=worst_tier,
            values=values,
            tiers=tiers,
            spreads=spreads,
            pauses=pauses,
            asks=asks,
            notes=notes,
        )

    def nothing(self, *notes: str, values: Values = Values.AS_BEFORE) -> Verdict:
        return self.told(Outcome.NO_OP, values, *notes)

    def block(self, asks: str, *notes: str) -> Verdict:
        return self.told(Outcome.BLOCK, Values.WAIT, *notes, pauses=True, asks=asks)

    def frozen(self) -> Verdict:
        return self.block(f"follow {self.event}")

    def swap(self, values: Values, *notes: str, tiers: tuple[TierChange, ...] = (), spreads: bool = False) -> Verdict:
        return self.told(Outcome.SWAP, values, *notes, tiers=tiers, spreads=spreads)

    # --- facts ---------------------------------------------------------------------------------

    @property
    def unread(self) -> bool:
        """The step does not see the column: nothing of it changes."""
        return self.reader.uses is Use.NOTHING

    @property
    def is_key(self) -> bool:
        return self.reader.uses is Use.KEY

    @property
    def own(self) -> tuple[str, ...]:
        """Columns of the reader's table under which the value is stored as it is."""
        named = [name for name in self.reader.outputs if name in self.table.column_names]
        return tuple(named) or ((self.event.column,) if self.event.column in self.table.column_names else ())

    def tier_changes(self, made: Callable[[Tier], TierChange | None]) -> tuple[TierChange, ...]:
        return tuple(change for tier in self.table.tiers.present if (change := made(tier)) is not None)


def _add_column(c: _Cell) -> Verdict:
    column = c.event.now
    assert column is not None
    match c.policy:
        case Policy.FREEZE if c.reader.derived:
            return c.nothing(f"{c.table.name} is frozen, so {column.name} stops before it", values=Values.UNREAD)
        case Policy.FREEZE:
            return c.frozen()
        case Policy.IGNORE | Policy.DISCARD_ROW:
            return c.nothing(values=Values.UNREAD)
        case Policy.DISCARD_VALUE:
            return c.nothing(values=Values.RESCUED)
    if not c.reader.open:
        return c.nothing(f"{c.reader.step} does not pass on columns that it does not name", values=Values.UNREAD)
    tiers = c.tier_changes(lambda tier: added(tier, column))
    if any(tier.outcome is Outcome.BLOCK for tier in tiers):
        if c.policy is Policy.TRY_EVOLVE:
            return c.nothing(f"a tier cannot hold {column.name} {column.type}", values=Values.RESCUED)
        return c.block(f"leave out {column.name}: a tier cannot hold {column.type}")
    return c.swap(Values.TAKEN, tiers=tiers, spreads=True)


def _add_required(c: _Cell) -> Verdict:
    if c.policy is Policy.FREEZE and not c.reader.derived:
        return c.frozen()
    done = _add_column(c)
    if not done.spreads:
        return done
    default = c.event.default
    note = "no tier keeps a default, so the column is nullable"
    if default is None:
        return done.model_copy(update={"notes": (*done.notes, note)})
    notes = (*done.notes, note, f"rows that lack it get {default}")
    return done.model_copy(update={"values": Values.DEFAULTED, "notes": notes})


def _drop_column(c: _Cell) -> Verdict:
    name = c.event.column
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    if c.reader.uses is Use.PASSED:
        match c.policy:
            case Policy.IGNORE:
                return c.nothing(values=Values.NULL)
            case Policy.EVOLVE | Policy.TRY_EVOLVE:
                tiers = c.tier_changes(lambda tier: dropped(tier, c.own, later=True))
                return c.swap(Values.NULL, tiers=tiers, spreads=True)
            case _:
                tiers = c.tier_changes(lambda tier: dropped(tier, c.own, later=False))
                return c.swap(Values.NULL, f"{name} is gone upstream; it stays, and is NULL from now on", tiers=tiers)
    starving = tuple(f"starving column: {column}, which is made of {name}" for column in c.reader.starved)
    match c.policy:
        case Policy.IGNORE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE if not c.is_key:
            return c.nothing(f"{name} is NULL from now on; rules on it will say so", *starving, values=Values.NULL)
        case Policy.LENIENT if c.reader.uses not in _REST_ON_VALUES:
            tiers = c.tier_changes(lambda tier: dropped(tier, c.own, later=False))
            return c.swap(Values.NULL, *starving, tiers=tiers)
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"drop {name}, which is used ({c.reader.uses})", *starving)
        case _:
            return c.block(f"go on without {name}, which is {_role(c.reader.uses)}", *starving)


def _rename_column(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    match c.policy:
        case Policy.EVOLVE | Policy.TRY_EVOLVE if c.is_key and c.own:
            tiers = c.tier_changes(lambda tier: TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(_NEW,)))
            return c.told(Outcome.REBUILD, Values.TAKEN, "no tier renames a column of the key", tiers=tiers)
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            passed = was.name in c.own
            tiers = c.tier_changes(lambda tier: renamed(tier, was.name, now) if passed else None)
            return c.swap(Values.TAKEN, "readers follow by rule 12", tiers=tiers, spreads=passed)
        case Policy.IGNORE if not c.is_key:
            return c.nothing(f"{was.name} is NULL from now on", values=Values.NULL)
        case Policy.IGNORE:
            return c.block(f"go on without {was.name}, which is {_role(c.reader.uses)}")
        case _:
            passed = was.name in c.own
            tiers = c.tier_changes(lambda tier: added(tier, now, fills=was.name) if passed else None)
            return c.swap(Values.BOTH, f"{was.name} and {now.name} hold the same until the old one's time is over",
                          tiers=tiers, spreads=passed)  # fmt: skip


def _maybe_rename(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    proposal = f"{was.name} went and {now.name} came, alike: renamed? Then say so: renamed: {{{now.name}: {was.name}}}"
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.policy is Policy.EVOLVE and not (c.unread and not c.reader.open):
        return c.block(f"take {now.name} for {was.name}", proposal)
    gone = _Cell(c.event.model_copy(update={"type": EventType.DROP_COLUMN, "now": None}), c.reader, c.policy, c.said)
    came = _Cell(c.event.model_copy(update={"type": EventType.ADD_COLUMN, "was": None}), c.reader, c.policy, c.said)
    one, two = _drop_column(gone), _add_column(came)
    if one.outcome is Outcome.BLOCK:
        return one.model_copy(update={"notes": (proposal, *one.notes)})
    tiers: dict[Tier, tuple[Ddl, ...]] = {}
    for change in (*one.tiers, *two.tiers):
        tiers[change.tier] = (*tiers.get(change.tier, ()), *change.ddl)
    both = tuple(TierChange(tier=tier, outcome=Outcome.SWAP, ddl=ddl) for tier, ddl in tiers.items())
    outcome = worst(one.outcome, two.outcome)
    notes = (*([] if c.policy is Policy.IGNORE else [proposal]), *one.notes)
    values = two.values if two.values is Values.TAKEN else one.values
    return c.told(outcome, values, *notes, tiers=both, spreads=two.spreads or one.spreads)


def _widen_type(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    match c.policy:
        case Policy.TRY_EVOLVE | Policy.IGNORE:
            return _cast(c, was)
        case Policy.DISCARD_ROW:
            return c.swap(Values.ROW_DISCARDED)
        case Policy.DISCARD_VALUE:
            return _discard_value(c, was)
    if c.is_key or any(c.table.merge.get(name) in _FOLDS_EXTREMES for name in c.reader.outputs):
        why = "part of a key" if c.is_key else "held as least or greatest value"
        tiers = c.tier_changes(lambda tier: TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(_NEW,)))
        return c.told(Outcome.REBUILD, Values.TAKEN, f"{was.name} is {why}", tiers=tiers, spreads=True)
    passed = [name for name in c.own if c.table.column(name).type == was.type]
    tiers = c.tier_changes(lambda tier: widened(tier, passed, was.type, now.type))
    return c.swap(Values.TAKEN, tiers=tiers, spreads=bool(passed))


def _narrow_type(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    match c.policy:
        case Policy.EVOLVE:
            return c.block(f"make {was.name} {now.type}: what is written as {was.type} may not fit")
        case Policy.TRY_EVOLVE if c.is_key:
            return c.block(f"make {was.name} {now.type}, which is part of a key")
        case Policy.TRY_EVOLVE:
            return c.swap(Values.CAST, f"{was.name} is cast to {now.type}; the table stays as wide as it is")
        case _:
            return c.nothing(f"{was.name} stays {was.type}, which holds {now.type}")


def _change_type(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    ask = f"make {was.name} {now.type} where it is {was.type}"
    match c.policy:
        case Policy.EVOLVE:
            return c.block(ask)
        case Policy.TRY_EVOLVE:
            return _cast(c, was)
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
    second = Column(name=f"{was.name}__v2", type=now.type)
    tiers = c.tier_changes(lambda tier: added(tier, second, fills=was.name))
    return c.swap(
        Values.BOTH,
        f"{second.name} holds {now.type}, {was.name} what of it fits {was.type}; a contract says when readers move",
        tiers=tiers,
        spreads=c.reader.open,
    )


def _relax(c: _Cell) -> Verdict:
    if c.unread:
        return c.nothing()
    if c.is_key and c.policy is not Policy.IGNORE:
        return c.block(f"let {c.event.column} be NULL, which is part of a key")
    match c.policy:
        case Policy.FREEZE:
            return c.nothing()
        case Policy.IGNORE if c.is_key:
            return c.block(f"let {c.event.column} be NULL, which is part of a key")
        case Policy.IGNORE:
            return c.nothing(f"a NULL in {c.event.column} meets the rules on it")
        case _:
            return c.swap(
                Values.TAKEN,
                "every tier holds the column as nullable already",
                f"rules that {c.event.column} is not NULL hold or fail from now on",
                spreads=True,
            )


def _tighten(c: _Cell) -> Verdict:
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


def _change_key(c: _Cell) -> Verdict:
    if c.policy is Policy.EVOLVE:
        return c.block("rebuild what is made of it, by the new key")
    return c.block(f"follow {c.event}")


def _change_layout(c: _Cell) -> Verdict:
    return c.nothing() if c.policy is Policy.FREEZE else c.nothing("a matter of upkeep, if the table is ours")


def _add_field(c: _Cell) -> Verdict:
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    match c.policy:
        case Policy.IGNORE:
            return c.nothing(f"what is new in {was.name} is not read", values=Values.UNREAD)
        case Policy.TRY_EVOLVE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.nothing(values=Values.RESCUED)
    lenient = c.policy is not Policy.EVOLVE
    tiers = c.tier_changes(lambda tier: field_added(tier, c.own, was.type, now.type, keeps=lenient))
    if Tier.HOT in c.table.tiers.present and lenient and c.own:
        return c.swap(Values.RESCUED, f"the hot tier keeps {was.name} as {was.type}", tiers=tiers)
    return c.swap(Values.TAKEN, tiers=tiers, spreads=bool(c.own))


def _change_text(c: _Cell) -> Verdict:
    return c.nothing("texts for people are taken over") if c.policy is Policy.FREEZE else c.nothing()


def _truncate(c: _Cell) -> Verdict:
    match c.policy:
        case Policy.FREEZE:
            return c.frozen()
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"remove all rows that {c.table.name} has of {c.event.object}")
        case Policy.IGNORE:
            return c.nothing()
        case _:
            return c.nothing(f"upstream truncated: {c.table.name} keeps the rows it has")


def _drop_table(c: _Cell) -> Verdict:
    match c.policy:
        case Policy.FREEZE:
            return c.frozen()
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"archive {c.table.name} to the cold tier, and stop {c.reader.step}")
        case Policy.IGNORE:
            return c.nothing()
        case _:
            note = f"{c.event.object} is gone: {c.reader.step} stops, {c.table.name} stays"
            return c.told(Outcome.NO_OP, Values.WAIT, note, pauses=True)


def _recreate(c: _Cell) -> Verdict:
    why = f"{c.event.object} is another table: positions in it mean nothing"
    if c.policy is Policy.EVOLVE:
        return c.block(f"read {c.event.object} from its beginning into a new version, and keep the old one", why)
    return c.block(f"follow {c.event}", why)


def _new_table(c: _Cell) -> Verdict:
    match c.policy:
        case Policy.FREEZE | Policy.IGNORE:
            return c.nothing(values=Values.UNREAD)
        case _:
            create = c.tier_changes(lambda tier: TierChange(tier=tier, outcome=Outcome.SWAP, ddl=(Ddl(kind="create"),)))
            evolves = c.policy in (Policy.EVOLVE, Policy.TRY_EVOLVE)
            return c.swap(Values.TAKEN, "a branch of its own, by the template of its route", tiers=create,
                          spreads=evolves)  # fmt: skip


def _shards(c: _Cell) -> Verdict:
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
    if now.type == "string" and c.reader.uses in _REST_ON_VALUES:
        return c.block(f"make {was.name} text, which is {_role(c.reader.uses)}", "only text holds what all shards have")
    done = _widen_type(_Cell(c.event, c.reader, Policy.LENIENT, c.said))
    return done.model_copy(update={"policy": c.policy})


def _unknown_field(c: _Cell) -> Verdict:
    field = c.event.now
    assert field is not None
    match c.policy:
        case Policy.FREEZE:
            return c.nothing(values=Values.COUNTED)
        case Policy.IGNORE:
            return c.nothing(values=Values.UNREAD)
        case Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.nothing(values=Values.VALUE_DISCARDED)
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return _add_column(c) if c.event.default is None else _add_required(c)
        case _:
            return c.nothing(f"{field.name} comes without being declared; add it to take it", values=Values.RESCUED)


def _positions_lost(c: _Cell) -> Verdict:
    ask = f"go on behind the rows of {c.event.object} that are gone"
    if c.policy in (Policy.FREEZE, Policy.IGNORE):
        return c.block(ask)
    if c.event.held_colder:
        return c.swap(Values.REFILLED, "the gap is read from a colder tier, and marked")
    return c.block(ask, "no colder tier holds them")


def _cast(c: _Cell, was: Column) -> Verdict:
    if c.is_key:
        return c.block(f"cast {was.name} to {was.type}, which is part of a key", "a key that does not fit has no place")
    return c.swap(Values.CAST)


def _discard_value(c: _Cell, was: Column) -> Verdict:
    if c.is_key:
        return c.block(f"leave out values of {was.name} that do not fit, which is part of a key")
    return c.swap(Values.VALUE_DISCARDED)


def _role(use: Use) -> str:
    return {
        Use.KEY: "part of a key",
        Use.ROWS: "what rows are joined, grouped or chosen by",
        Use.AGGREGATE: "the input of an aggregate",
        Use.CONTRACT: "what an expectation rests on",
    }.get(use, "used")


_NEW = Ddl(kind="new version")

_ROWS: Mapping[EventType, Callable[[_Cell], Verdict]] = {
    EventType.ADD_COLUMN: _add_column,
    EventType.ADD_REQUIRED_COLUMN: _add_required,
    EventType.DROP_COLUMN: _drop_column,
    EventType.RENAME_COLUMN: _rename_column,
    EventType.MAYBE_RENAME: _maybe_rename,
    EventType.WIDEN_TYPE: _widen_type,
    EventType.NARROW_TYPE: _narrow_type,
    EventType.CHANGE_TYPE: _change_type,
    EventType.RELAX_NULLABILITY: _relax,
    EventType.TIGHTEN_NULLABILITY: _tighten,
    EventType.CHANGE_KEY: _change_key,
    EventType.CHANGE_LAYOUT: _change_layout,
    EventType.ADD_FIELD: _add_field,
    EventType.CHANGE_TEXT: _change_text,
    EventType.TRUNCATE_TABLE: _truncate,
    EventType.DROP_TABLE: _drop_table,
    EventType.RECREATE_TABLE: _recreate,
    EventType.NEW_TABLE: _new_table,
    EventType.SHARDS_DISAGREE: _shards,
    EventType.UNKNOWN_FIELD: _unknown_field,
    EventType.POSITIONS_LOST: _positions_lost,
}
