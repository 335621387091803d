"""What one column's change takes in one tier, by what the tier can do; pure."""

from collections.abc import Sequence

from streamhouse.model.outcome import Ddl, Outcome, TierChange
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.sql.spark_type import spark_type


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


def retyped(tier: Tier, columns: Sequence[str]) -> TierChange | None:
    """Columns that hold more: the table gets a new version, for a tier does nothing but add columns."""
    if not columns:
        return None
    return TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))


def _holds(tier: Tier, kind: str) -> bool:
    data_type = spark_type(kind)
    return data_type.storable and not ("variant" in kind and tier is not Tier.COLD)
