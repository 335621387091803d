"""Rows that were kept out of tables: how many, why, and reading dead letters again."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from streamhouse.errors import (
    StoreError,
    StoreUnavailableError,
    StreamhouseError,
    TableMissingError,
    UnknownTableError,
    did_you_mean,
)
from streamhouse.ingest.bad_rows import Letter
from streamhouse.ingest.file_split import unpacked_row
from streamhouse.ingest.replays import Replays
from streamhouse.jobs.query import QueryService
from streamhouse.model.bad_rows import ACTION, DEAD_LETTERS
from streamhouse.model.plan import EXPECTATION, FlowPlan
from streamhouse.project.project import Project
from streamhouse.state.plans import Unreadable

_ARROW = b"\xff\xff\xff\xff"  # how a row of Parquet begins


@dataclass(frozen=True)
class QuarantineTable:
    """A table of rows that were kept out of another.

    Attributes:
        table: Its name.
        kind: `dead_letters`: rows that cannot be read; `expectations`: rows that violate one.
        flow: That writes it.
        of: The source, or the table, that the rows are not in.
        reasons: Reason, or expectation → rows; None: the table cannot be read now.
        problem: Why it cannot.
        waiting: Dead letters that were asked to be read again, and were not yet.
        is_lost: It cannot be read since it is lost or damaged: its store answers, and the table was made.
    """

    table: str
    kind: Literal["dead_letters", "expectations"]
    flow: str
    of: str
    reasons: dict[str, int] | None = field(default_factory=dict)
    problem: str = ""
    waiting: int = 0
    is_lost: bool = False

    @property
    def rows(self) -> int | None:
        """All of them."""
        return None if self.reasons is None else sum(self.reasons.values())


@dataclass(frozen=True)
class ReplayRequest:
    """What `replay` did.

    Attributes:
        rows: Dead letters that are read again in the next epoch.
        waiting: Those that were asked for before, and wait.
        number: Of the request; None: there was nothing to ask for.
    """

    rows: int
    waiting: int
    number: int | None


def quarantine_tables(plans: Collection[FlowPlan]) -> list[QuarantineTable]:
    """Every table of rows that were kept out, without its rows."""
    found = []
    for plan in plans:
        for step in plan.steps:
            if step.action == ACTION:
                source = step.reads[0].table.removesuffix(DEAD_LETTERS)
                found.append(QuarantineTable(step.writes.name, "dead_letters", plan.flow, source))
            if step.quarantine is not None:
                found.append(QuarantineTable(step.quarantine.name, "expectations", plan.flow, step.writes.name))
    return sorted(found, key=lambda one: (one.flow, one.table))


def applied_plans(project: Project, unreadable: Unreadable | None = None) -> list[FlowPlan]:
    """Every flow as it runs; none where nothing ever ran. `unreadable` as of `state.plans.newest_of_all`."""
    state = project.existing_state()
    if state is None:
        return []
    with state:
        return list(state.running_plans(unreadable).values())


def counted(project: Project, asking: QueryService, tables: Collection[QuarantineTable]) -> list[QuarantineTable]:
    """The tables with how many rows they have, by reason."""
    return [_counted(project, asking, one) for one in tables]


def _counted(project: Project, asking: QueryService, one: QuarantineTable) -> QuarantineTable:
    column = "reason" if one.kind == "dead_letters" else f"`{EXPECTATION}`"
    try:
        rows = asking.ask(f"SELECT {column} AS why, count(*) AS n FROM {one.table} GROUP BY {column}").rows
        waiting = len(_waiting(project, asking, one.table)) if one.kind == "dead_letters" and rows.num_rows else 0
    except StreamhouseError as error:
        is_lost = isinstance(error, StoreError) and not isinstance(error, StoreUnavailableError | TableMissingError)
        return replace(one, reasons=None, problem=error.message, is_lost=is_lost)
    reasons = {str(row["why"]): int(row["n"]) for row in sorted(rows.to_pylist(), key=lambda row: -row["n"])}
    return QuarantineTable(one.table, one.kind, one.flow, one.of, reasons, waiting=waiting)


def find(tables: Collection[QuarantineTable], name: str, *, dead: bool = False) -> QuarantineTable:
    """The table of a name; of dead letters the name of its source will do, where it is the only one.

    Raises:
        UnknownTableError: there is none.
    """
    tables = [one for one in tables if one.kind == "dead_letters" or not dead]
    found = [one for one in tables if one.table == name] or [one for one in tables if one.of == name]
    if len(found) == 1:
        return found[0]
    known = [one.table for one in tables]
    what = "dead-letter table" if dead else "table of rows that were kept out"
    raise UnknownTableError(
        f"there is no {what} '{name}'", hint=did_you_mean(name, known, f"there are: {', '.join(known) or 'none'}")
    )


def shown_rows(asking: QueryService, one: QuarantineTable, limit: int) -> list[dict[str, Any]]:
    """Some rows of a table; bytes as text."""
    rows: list[dict[str, Any]] = asking.ask(f"SELECT * FROM {one.table}", limit=limit).rows.to_pylist()
    if one.kind == "dead_letters":
        return [{**row, "raw": text_of(row["raw"])} for row in rows]
    return rows


def text_of(raw: bytes) -> str:
    """The bytes of a row for people.

    Example:
        >>> text_of(b'{"id": 1}')
        '{"id": 1}'
    """
    if raw.startswith(_ARROW):
        return str(unpacked_row(raw).to_pylist()[0])
    return raw.decode(errors="backslashreplace")


def replay(
    project: Project,
    asking: QueryService,
    one: QuarantineTable,
    wanted: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> ReplayRequest:
    """Ask for dead letters to be read again; the flow does it in its next epoch, or when it runs next.

    Args:
        project: Whose table it is.
        asking: Reads it.
        one: The table.
        wanted: Which of its rows.
    """
    waiting = _waiting(project, asking, one.table)
    rows = [row for row in asking.ask(f"SELECT * FROM {one.table}").rows.to_pylist() if wanted(row)]
    letters = [
        Letter(row["position"], row["raw"], row["context"] or "") for row in rows if row["position"] not in waiting
    ]
    number = Replays(project.root, one.table).add(letters) if letters else None
    return ReplayRequest(len(letters), len(rows) - len(letters), number)


def _waiting(project: Project, asking: QueryService, table: str) -> set[str]:
    """Positions that a request has which is newer than the last that the row went through."""
    last = Replays(project.root, table).last()
    if not last:
        return set()
    rows = asking.ask(f"SELECT position, replays FROM {table}").rows.to_pylist()
    return {row["position"] for row in rows if last.get(row["position"], 0) > row["replays"]}
