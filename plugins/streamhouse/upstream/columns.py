"""Columns that come, go, or get another name: their rows of the matrix; pure."""

from streamhouse.model.outcome import Ddl, Outcome, TierChange, worst
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.model.upstream import Values, Verdict
from streamhouse.upstream.cell import REST_ON_VALUES, Cell, of_a_column, role
from streamhouse.upstream.reading_step import ColumnUse
from streamhouse.upstream.tiers import added, dropped


def add_column(c: Cell) -> Verdict:
    """A nullable column."""
    column = c.event.now
    assert column is not None
    match c.policy:
        case Policy.FREEZE if c.reader.derived:
            return c.nothing(f"{c.table.name} is frozen, so {column.name} stops before it", values=Values.UNREAD)
        case Policy.FREEZE:
            return c.frozen()
        case Policy.IGNORE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.nothing(values=Values.UNREAD)  # no row and no value that is there fails to fit
    if not c.reader.open:
        return c.nothing(f"{c.reader.step} does not pass on columns that it does not name", values=Values.UNREAD)
    tiers = c.tier_changes(lambda tier: added(tier, column))
    if any(tier.outcome is Outcome.BLOCK for tier in tiers):
        if c.policy is Policy.TRY_EVOLVE:
            return c.nothing(f"a tier cannot hold {column.name} {column.type}", values=Values.UNREAD)
        return c.block(f"leave out {column.name}: a tier cannot hold {column.type}")
    return c.swap(Values.TAKEN, tiers=tiers, spreads=True)


def add_required(c: Cell) -> Verdict:
    """A column that must not be NULL, or has a default."""
    if c.policy is Policy.FREEZE and not c.reader.derived:
        return c.frozen()
    done = add_column(c)
    if not done.spreads:
        return done
    default = c.event.default
    note = "no tier keeps a default, so the column is nullable"
    if default is None:
        return done.model_copy(update={"notes": (*done.notes, note)})
    notes = (*done.notes, note, f"rows that lack it get {default}")
    return done.model_copy(update={"values": Values.DEFAULTED, "notes": notes})


def drop_column(c: Cell) -> Verdict:
    """A column that is gone."""
    name = c.event.column
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.unread:
        return c.nothing()
    if c.reader.uses is ColumnUse.PASSED:
        match c.policy:
            case Policy.IGNORE:
                return c.swap(Values.NULL)
            case Policy.EVOLVE | Policy.TRY_EVOLVE:
                tiers = c.tier_changes(lambda tier: dropped(tier, c.own))
                return c.swap(Values.NULL, tiers=tiers, spreads=True)
            case _:
                tiers = c.tier_changes(lambda tier: dropped(tier, c.own))
                return c.swap(Values.NULL, f"{name} is gone upstream; it stays, and is NULL from now on", tiers=tiers)
    starving = tuple(f"starving column: {column}, which is made of {name}" for column in c.reader.starved)
    match c.policy:
        case Policy.IGNORE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE if not c.is_key:
            return c.swap(Values.NULL, f"{name} is NULL from now on; rules on it will say so", *starving)
        case Policy.LENIENT if c.reader.uses not in REST_ON_VALUES:
            tiers = c.tier_changes(lambda tier: dropped(tier, c.own))
            return c.swap(Values.NULL, *starving, tiers=tiers)
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"drop {name}, which is used ({c.reader.uses})", *starving)
        case _:
            return c.block(f"go on without {name}, which is {role(c.reader.uses)}", *starving)


@of_a_column
def rename_column(c: Cell, was: Column, now: Column) -> Verdict:
    """A column under another name, known to be the same one."""
    match c.policy:
        case Policy.IGNORE if not c.is_key:
            return c.swap(Values.NULL, f"{was.name} is NULL from now on")
        case Policy.IGNORE:
            return c.block(f"go on without {was.name}, which is {role(c.reader.uses)}")
    if not c.reader.open:
        return c.swap(Values.TAKEN, f"{c.reader.step} knows {now.name} as {was.name}")
    tiers = c.tier_changes(lambda tier: added(tier, now, fills=was.name))
    return c.swap(Values.BOTH, f"{was.name} and {now.name} hold the same", tiers=tiers, spreads=True)


def maybe_rename(c: Cell) -> Verdict:
    """One column went and one like it came."""
    was, now = c.event.was, c.event.now
    assert was is not None
    assert now is not None
    proposal = f"{was.name} went and {now.name} came, alike: renamed? Then say so: renamed: {{{now.name}: {was.name}}}"
    if c.policy is Policy.FREEZE:
        return c.frozen()
    if c.policy is Policy.EVOLVE and not (c.unread and not c.reader.open):
        return c.block(f"take {now.name} for {was.name}", proposal)
    drop_cell = Cell(
        c.event.model_copy(update={"type": EventType.DROP_COLUMN, "now": None}), c.reader, c.policy, c.said
    )
    came = Cell(c.event.model_copy(update={"type": EventType.ADD_COLUMN, "was": None}), c.reader, c.policy, c.said)
    one, two = drop_column(drop_cell), add_column(came)
    if one.outcome is Outcome.BLOCK:
        return one.model_copy(update={"notes": (proposal, *one.notes)})
    tiers: dict[Tier, tuple[Ddl, ...]] = {}
    for change in (*one.tiers, *two.tiers):
        tiers[change.tier] = (*tiers.get(change.tier, ()), *change.ddl)
    both = tuple(TierChange(tier=tier, outcome=Outcome.SWAP, ddl=ddl) for tier, ddl in tiers.items())
    outcome = worst(one.outcome, two.outcome)
    notes = (*([] if c.policy is Policy.IGNORE else [proposal]), *one.notes)
    values = two.values if two.values is Values.TAKEN else one.values
    return c.verdict(outcome, values, *notes, tiers=both, spreads=two.spreads or one.spreads)


def unknown_field(c: Cell) -> Verdict:
    """A field in rows that declare no schema."""
    field = c.event.now
    assert field is not None
    match c.policy:
        case Policy.IGNORE | Policy.DISCARD_ROW | Policy.DISCARD_VALUE:
            return c.nothing(values=Values.UNREAD)
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return add_column(c) if c.event.default is None else add_required(c)
        case _:
            return c.nothing(f"{field.name} comes without being declared; add it to take it", values=Values.UNREAD)
