"""Tables that others own, as their catalog describes them: what `streamhouse import` makes a flow of. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class FoundColumn:
    """A column of a table of others.

    Attributes:
        name: As its owner writes it.
        written: Its type, as its owner writes it, such as `numeric(12,2)`.
        type: The Spark SQL type to declare; None: it cannot be read, and `why` says why.
        why: What a person should know of the type; empty: nothing.
        nullable: Whether it may have no value.
        description: What its owner says of it.
    """

    name: str
    written: str
    type: str | None
    why: str = ""
    nullable: bool = True
    description: str = ""


@dataclass(frozen=True)
class FoundKey:
    """A foreign key: columns of a table, and those of the table `to` that they name, in the same order."""

    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]


@dataclass(frozen=True)
class FoundTable:
    """A table of others.

    Attributes:
        name: Whole, as its owner writes it: `public.orders`.
        kind: Of the source that reads it, such as `cdc`.
        options: Of that source, but for key and columns.
        columns: In the order of their owner.
        primary_key: Empty: rows are only added.
        foreign_keys: In the order of their owner.
        description: What its owner says of it.
        refusal: Why it cannot be read at all; empty: it can.
    """

    name: str
    kind: str
    options: Mapping[str, Any]
    columns: tuple[FoundColumn, ...] = ()
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[FoundKey, ...] = ()
    description: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class TablePatterns:
    """Which tables are meant: those that a pattern of `take` matches, and none of `leave`.

    `*`, `?` and `[a-z]` stand for characters; upper and lower case differ.

    Attributes:
        take: Empty: all.
        leave: Empty: none.
    """

    take: Sequence[str] = ()
    leave: Sequence[str] = field(default=())

    def match(self, name: str) -> bool:
        """Whether a table is meant.

        Example:
            >>> TablePatterns(["public.*"], ["*_old"]).match("public.orders"), TablePatterns([], ["a*"]).match("a.b")
            (True, False)
        """
        taken = not self.take or any(fnmatchcase(name, one) for one in self.take)
        return taken and not any(fnmatchcase(name, one) for one in self.leave)

    def idle(self, names: Sequence[str]) -> list[str]:
        """Patterns of `take` that match no name."""
        return [one for one in self.take if not any(fnmatchcase(name, one) for name in names)]
