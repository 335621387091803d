"""What is done when all rows are removed from a source at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Truncations:
    """Decides of each removal of all rows, so that rows read again are the same.

    Attributes:
        otherwise: Of those without a decision: the rows stay, are removed as well, or that is to be decided first.
        decided: Id of a removal → whether rows stay, or are removed as well.
    """

    otherwise: Literal["kept", "removed", "asked"] = "asked"
    decided: Mapping[str, Literal["kept", "removed"]] = field(default_factory=dict)

    def of(self, truncation: str) -> Literal["kept", "removed", "asked"]:
        """What is done about one."""
        return self.decided.get(truncation, self.otherwise)


NO_DECISIONS = Truncations()
FOLLOWED = Truncations("removed")
"""Every removal is followed."""
