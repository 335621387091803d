"""What one column's change takes in one tier, by what the tier can do; pure."""

from collections.abc import Sequence

from streamhouse.compiler.diff.tiers import CAN
from streamhouse.model.outcome import Ddl, Outcome, TierChange
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.sql.spark_type import spark_type
from streamhouse.sql.types import widens


def added(tier: Tier, column: Column, fills: str = "") -> TierChange:
    """A nullable column at the end; `fills`: the column beside which it is filled."""
    if not _holds(tier, column.type):
        return TierChange(tier=tier, outcome=Outcome.BLOCK)
    ddl = [Ddl(kind="add column", column=column.name, type=column.type)]
    if fills:
        ddl.append(Ddl(kind="fill both", column=fills))
    return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=tuple(ddl))


def dropped(tier: Tier, columns: Sequence[str]) -> TierChange | None:
    """Columns that are not filled any more; they stay, with the values they have."""
    ddl = tuple(Ddl(kind="stop filling", column=name) for name in columns)
    return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=ddl) if ddl else None


def widened(tier: Tier, columns: Sequence[str], was: str, now: str) -> TierChange | None:
    """Columns that hold more; a tier that cannot gets a new version of the table."""
    if not columns:
        return None
    if "widen" not in CAN[tier] or not widens(was, now):
        return TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))
    ddl = tuple(Ddl(kind="widen column", column=name, type=now, old=was) for name in columns)
    return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=ddl)


def field_added(tier: Tier, columns: Sequence[str], was: str, now: str, *, keeps: bool) -> TierChange | None:
    """Structs with further fields; a tier that cannot `keeps` the old type, or gets a new version of the table."""
    if not columns:
        return None
    if "field" in CAN[tier]:
        ddl = tuple(Ddl(kind="add field", column=name, type=now, old=was) for name in columns)
        return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=ddl)
    return None if keeps else TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))


def _holds(tier: Tier, kind: str) -> bool:
    data_type = spark_type(kind)
    return data_type.storable and not ("variant" in kind and tier is not Tier.COLD)
