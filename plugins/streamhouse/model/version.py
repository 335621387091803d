"""Versions of a table: a rebuild fills another one beside the one that serves, and then serves it instead.

What people write and read is the table's name. What stores hold is the name at a version: `dwd.sales` at first,
then `dwd.sales__v2`. A plan at its versions is an ordinary plan over those names, so whatever reads and writes
tables knows nothing of versions.
"""

import re
from collections.abc import Mapping

from streamhouse.model.plan import QUARANTINE, FlowPlan, PlannedRead, PlannedStep
from streamhouse.model.table import Table

Versions = Mapping[str, int]
"""Table → its version; one that is not in it is at version 1."""

_STORED = re.compile(r"__v(\d+)(?=$|__|:)", re.ASCII)


def stored_name(name: str, version: int) -> str:
    """What stores call a table at a version, from 1."""
    return name if version == 1 else f"{name}__v{version}"


def table_name(stored: str) -> str:
    """The name that people know, of one that stores hold; also of its quarantine, and in the id of a step."""
    return _STORED.sub("", stored)


def version_of(stored: str) -> int:
    """The version that a name of stores says.

    Example:
        >>> version_of("dwd.sales__v2"), version_of("dwd.sales")
        (2, 1)
    """
    found = _STORED.search(stored)
    return int(found[1]) if found else 1


def at_versions(plan: FlowPlan, versions: Versions) -> FlowPlan:
    """The plan over the names that stores hold.

    Args:
        plan: Over the names that people know.
        versions: Of all tables it writes or reads.
    """
    if not any(versions.get(name, 1) > 1 for name in (*(t.name for t in plan.readable),)):
        return plan
    return plan.model_copy(
        update={
            "external": tuple(table_at(table, versions) for table in plan.external),
            "adapted": {_at(name, versions): adapted for name, adapted in plan.adapted.items()},
            "segments": tuple(
                segment.model_copy(update={"steps": tuple(_step(step, versions) for step in segment.steps)})
                for segment in plan.segments
            ),
        }
    )


def table_at(table: Table, versions: Versions) -> Table:
    """The table under the name that stores hold."""
    return table.model_copy(update={"name": _at(table.name, versions)})


def _at(name: str, versions: Versions) -> str:
    table = name.removesuffix(QUARANTINE)  # which goes with its table
    return stored_name(table, versions.get(table, 1)) + name[len(table) :]


def _step(step: PlannedStep, versions: Versions) -> PlannedStep:
    return step.model_copy(
        update={
            "writes": table_at(step.writes, versions),
            "reads": tuple(_read(read, versions) for read in step.reads),
        }
    )


def _read(read: PlannedRead, versions: Versions) -> PlannedRead:
    return read.model_copy(update={"table": _at(read.table, versions)})
