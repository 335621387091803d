"""What happens to a table or a source as a whole: its rows of the matrix; pure."""

from streamhouse.model.outcome import Ddl, Outcome, TierChange
from streamhouse.model.schema_change import Policy
from streamhouse.model.upstream import Values, Verdict
from streamhouse.upstream.cell import Cell


def change_key(c: Cell) -> Verdict:
    """Another primary key, or merge key."""
    if c.policy is Policy.EVOLVE:
        return c.block("rebuild what is made of it, by the new key")
    return c.block(f"follow {c.event}")


def change_layout(c: Cell) -> Verdict:
    """Partitions, buckets, or sort order."""
    return c.nothing() if c.policy is Policy.FREEZE else c.nothing("a matter of upkeep, if the table is ours")


def change_text(c: Cell) -> Verdict:
    """The order of columns, comments, tags."""
    return c.nothing("texts for people are taken over") if c.policy is Policy.FREEZE else c.nothing()


def truncate(c: Cell) -> Verdict:
    """All rows were removed."""
    match c.policy:
        case Policy.FREEZE:
            return c.frozen()
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"remove all rows that {c.table.name} has of {c.event.object}")
        case Policy.IGNORE:
            return c.nothing()
        case _:
            return c.nothing(f"upstream truncated: {c.table.name} keeps the rows it has")


def drop_table(c: Cell) -> Verdict:
    """It is gone."""
    match c.policy:
        case Policy.FREEZE:
            return c.frozen()
        case Policy.EVOLVE | Policy.TRY_EVOLVE:
            return c.block(f"archive {c.table.name} to the cold tier, and stop {c.reader.step}")
        case Policy.IGNORE:
            return c.nothing()
        case _:
            note = f"{c.event.object} is gone: {c.reader.step} stops, {c.table.name} stays"
            return c.verdict(Outcome.NO_OP, Values.WAIT, note, pauses=True)


def recreate(c: Cell) -> Verdict:
    """It is another one under the same name."""
    why = f"{c.event.object} is another table: positions in it mean nothing"
    if c.event.of_source:
        return c.block(f"follow {c.event}", why, "if the flow's file names it again, it is read from its beginning")
    if c.policy is Policy.EVOLVE:
        return c.block(f"read {c.event.object} from its beginning into a new version, and keep the old one", why)
    return c.block(f"follow {c.event}", why)


def new_table(c: Cell) -> Verdict:
    """One that matches a route."""
    match c.policy:
        case Policy.FREEZE | Policy.IGNORE:
            return c.nothing(values=Values.UNREAD)
        case _:
            create = c.tier_changes(lambda tier: TierChange(tier=tier, outcome=Outcome.SWAP, ddl=(Ddl(kind="create"),)))
            evolves = c.policy in (Policy.EVOLVE, Policy.TRY_EVOLVE)
            return c.swap(Values.TAKEN, "a branch of its own, by the template of its route", tiers=create,
                          spreads=evolves)  # fmt: skip


def positions_lost(c: Cell) -> Verdict:
    """Rows not yet read are gone."""
    if not c.event.lost and c.event.detail and not c.event.of_source:
        ask = f"read {c.event.object} from its beginning into new versions of what is made of it"
        return c.block(ask, c.event.detail, f"what it holds now stands in for what {c.reader.step} did not read")
    ask = f"go on behind the rows of {c.event.object} that are gone"
    if not c.event.lost and c.event.detail:
        return c.block(ask, c.event.detail, "if the flow's file names it again, it is read from its beginning")
    if c.policy in (Policy.FREEZE, Policy.IGNORE):
        return c.block(ask)
    if c.event.held_colder:
        return c.swap(Values.REFILLED, "the gap is read from a colder tier, and marked")
    return c.block(ask, "no colder tier holds them")
