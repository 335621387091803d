"""What the columns of a plan's query are made of, for those who need no more of what it means."""

from collections.abc import Mapping
from typing import Protocol

from streamhouse.errors import Location
from streamhouse.model.table import Column
from streamhouse.sql.canonical import CanonicalInput, canonical
from streamhouse.sql.dialect import parse_again
from streamhouse.sql.flatten import flatten
from streamhouse.sql.origins import Origins, Traced, origins_of
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.relations import Leaf, UnfollowedError
from streamhouse.sql.schema import CheckedQuery, resolved_again
from streamhouse.sql.unfold import unfold

_AT = Location("")

Ports = tuple[tuple[str, tuple[Column, ...], str], ...]
"""Port, the columns of what it reads, and `changes` or `lookup`; in the order of their names."""


class MadeOfMemory(Protocol):
    """Knows what was found of queries, with their ports, in lower case, in place of tables."""

    def made_of(self, sql: str, ports: Ports) -> Traced | None:
        """What was found; None: it is not known."""

    def keep_made_of(self, sql: str, ports: Ports, found: Traced) -> None:
        """Remember it."""


class MadeOfHere:
    """What this process found last."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._found: dict[tuple[str, Ports], Traced] = {}

    def made_of(self, sql: str, ports: Ports) -> Traced | None:
        """As `MadeOfMemory` has it."""
        return self._found.get((sql, ports))

    def keep_made_of(self, sql: str, ports: Ports, found: Traced) -> None:
        """As `MadeOfMemory` has it."""
        if len(self._found) >= _MOST:
            self._found.clear()
        self._found[sql, ports] = found


_MOST = 4096
_HERE = MadeOfHere()


def made_of(sql: str, inputs: Mapping[str, CanonicalInput], memory: MadeOfMemory = _HERE) -> Traced:
    """The `values` and `decides` of `canonical`, in about half of its time: what was compiled is not checked again.

    Args:
        sql: Of a step of a plan that this version of Streamhouse compiled.
        inputs: Port → what it reads.
        memory: What was found before; filled.

    Raises:
        DefinitionError: the SQL does not fit the inputs.
    """
    ports = tuple((port, one.columns, one.mode) for port, one in sorted(inputs.items()))
    found = memory.made_of(sql, ports)
    if found is None:
        found = _made_of_ports(sql, ports)
        memory.keep_made_of(sql, ports, found)
    tables = {port.lower(): one.table for port, one in inputs.items()}
    return Traced(
        {name: _of_tables(origins, tables) for name, origins in found.values.items()},
        _of_tables(found.decides, tables),
    )


def _of_tables(origins: Origins, tables: Mapping[str, str]) -> Origins:
    return frozenset((tables[port], column) for port, column in origins)


def made_of_checked(query: CheckedQuery, modes: Mapping[str, str]) -> Traced | None:
    """What `made_of` finds of `query.sql`, with ports in place of tables; None: the query is not followed.

    Args:
        query: As `analyse` gives it.
        modes: Port → `changes` or `lookup`.
    """
    leaves = {port.lower(): Leaf(port.lower(), mode) for port, mode in modes.items()}
    try:
        return origins_of(flatten(unfold(query.scope, leaves, query.inference)))
    except UnfollowedError:
        return None


def _made_of_ports(sql: str, ports: Ports) -> Traced:
    """With ports in place of tables: flows that use one action each have tables of their own."""
    bound = {port.lower(): ActionPort(columns, {}, mode == "lookup") for port, columns, mode in ports}
    leaves = {port.lower(): Leaf(port.lower(), mode) for port, _, mode in ports}
    scope, inference = resolved_again(parse_again(sql, _AT), bound, _AT)
    try:
        return origins_of(flatten(unfold(scope, leaves, inference)))
    except UnfollowedError:
        whole = canonical(sql, {port: CanonicalInput(port.lower(), columns, mode) for port, columns, mode in ports})
        return Traced(whole.values, whole.decides)
