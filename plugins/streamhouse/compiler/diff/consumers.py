"""How far a change of a table's meaning reaches: the steps that read what changes, and those that read them."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from streamhouse.compiler.diff.around import Around
from streamhouse.compiler.diff.beside import Beside, Reader
from streamhouse.model.outcome import Consumer, Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.types import History, Strategy

_MEANT = frozenset({Outcome.FORWARD, Outcome.REBUILD})
Readers = Callable[[str], Iterable[Reader]]
_OTHER_KEYS = frozenset({15, 22, 29})  # group key, time window, and how a table tells its rows apart


@dataclass(frozen=True)
class Affected:
    """What changes in a table: some columns, or with `rows` all of them."""

    outcome: Outcome
    columns: frozenset[str] = frozenset()
    rows: bool = False
    swaps: bool = False  # another version of the table, with the same values in it
    more: bool = False  # another version, with rows that never came into the one before: a reader cannot go on behind

    def covers(self, other: "Affected") -> bool:
        """Whether all that follows from the other for any reader follows from this one."""
        if (self.outcome, self.swaps, self.more) != (other.outcome, other.swaps, other.more):
            return False  # a heavier outcome may ask less of a reader: it may see the whole new version
        return self.rows or (not other.rows and other.columns <= self.columns)


def affected(findings: list[Finding], *, more: bool = False) -> Affected | None:
    """What a step's findings change for those who read its table; None: nothing.

    Args:
        findings: Of the step.
        more: It follows what it did not follow before, or reads it from the beginning.
    """
    meant = [f for f in findings if f.outcome in _MEANT and not f.keeps_values]
    if meant:
        more |= any(f.outcome is Outcome.REBUILD and f.rows and f.rule in _OTHER_KEYS for f in meant)
        return Affected(
            max((f.outcome for f in meant), key=lambda outcome: outcome.weight),
            frozenset(name for f in meant for name in f.columns),
            any(f.rows for f in meant),
            more=more and any(f.outcome is Outcome.REBUILD for f in meant),
        )
    if more and any(f.rule == 0 and f.restate for f in findings):  # a new step, in a table that others write as well
        return Affected(Outcome.REBUILD, rows=True, more=True)
    moved = [f for f in findings if f.outcome is Outcome.REBUILD]
    return Affected(Outcome.REBUILD, rows=True, swaps=not more, more=more) if moved else None


class Seen:
    """The changes of tables that were followed already: a change of no more columns reaches nothing further."""

    def __init__(self) -> None:
        self._changes: dict[Hashable, list[Affected]] = {}

    def adds(self, place: Hashable, change: Affected) -> bool:
        """Whether a change says more than those before it at this place; it is noted then."""
        known = self._changes.setdefault(place, [])
        if any(one.covers(change) for one in known):
            return False
        known.append(change)
        return True


def consumers(table: str, change: Affected, readers: Readers, seen: Seen) -> Iterator[Consumer]:
    """Every step that reads what changes, nearest first; one that reads it on several ways, once for each.

    Args:
        table: The table that changes.
        change: What of it.
        readers: Table → the steps that read it.
        seen: Changes whose readers were given already; filled.
    """
    pending = deque([(table, change)])
    while pending:
        name, part = pending.popleft()
        if not seen.adds(name, part):
            continue
        for flow, around, step in readers(name):
            consumer = _consumer(flow, around, step, name, part)
            if consumer is not None:
                yield consumer
                if (spread := _spread(consumer, step, name, part)) is not None:
                    pending.append((step.writes.name, spread))


def consumers_beside(
    own: Around, changes: Sequence[tuple[PlannedStep, Affected]], others: Beside
) -> dict[str, tuple[Consumer, ...]]:
    """Step of a flow → the steps of other flows that read what changes in its table, and those behind them, each once.

    A change of a step's table also changes the tables that the flow makes of it. The readers of such a table are
    listed at the step that writes it.

    Args:
        own: The flow.
        changes: Its steps whose tables change, upstream first, and what changes.
        others: The other flows.
    """
    found: dict[str, dict[tuple[str, str], Consumer]] = {}
    if not any(True for table in own.plan.tables for _ in others.readers(table)):
        return {}
    seen, seen_own = Seen(), Seen()
    pending = deque((step.id, step.writes.name, change, True) for step, change in changes)
    while pending:
        owner, name, part, is_own = pending.popleft()
        if not (seen_own.adds(name, part) if is_own else seen.adds((owner, name), part)):
            continue
        for flow, around, step in others.readers(name):
            consumer = _consumer(flow, around, step, name, part)
            if consumer is None:
                continue
            known = found.setdefault(owner, {})
            known[flow, step.id] = _joined(known.get((flow, step.id)), consumer)
            if (spread := _spread(consumer, step, name, part)) is not None:
                pending.append((owner, step.writes.name, spread, False))
        for step in own.readers.get(name, ()):
            consumer = _consumer(own.plan.flow, own, step, name, part)
            if consumer is not None and (spread := _spread(consumer, step, name, part)) is not None:
                pending.append((step.id, step.writes.name, spread, True))
    return {owner: tuple(known.values()) for owner, known in found.items()}


def _spread(consumer: Consumer, step: PlannedStep, table: str, change: Affected) -> Affected | None:
    """What changes in the table of a step that reads what changes; None: nothing."""
    if consumer.outcome not in _MEANT:
        return None
    more = change.more and consumer.outcome is Outcome.REBUILD and table in step.follows
    return Affected(consumer.outcome, frozenset(consumer.columns), consumer.rows, more=more)


def _joined(known: Consumer | None, other: Consumer) -> Consumer:
    """A consumer that is reached on two ways: what demands most, and all that changes."""
    if known is None:
        return other
    first, second = (known, other) if known.outcome.weight >= other.outcome.weight else (other, known)
    return first.model_copy(
        update={
            "columns": tuple(dict.fromkeys((*first.columns, *second.columns))),
            "rows": first.rows or second.rows,
            "marks": tuple(dict.fromkeys((*first.marks, *second.marks))),
        }
    )


def _consumer(flow: str, around: Around, step: PlannedStep, table: str, change: Affected) -> Consumer | None:
    own = {c for read in step.reads if read.table == table for c in (*read.columns, *read.key_columns.values())}
    touched = own if change.rows else {c for c in own if c.lower() in change.columns}
    if not touched:
        return None
    reads = tuple(sorted(touched))
    if change.swaps:
        proof = f"reads {table}, and goes on where its new version begins to serve"
        return Consumer(flow=flow, step=step.id, outcome=Outcome.SWAP, reads=reads, proof=proof, table=step.writes.name)
    made_of = around.made_of(step)
    changed = {(table, column.lower()) for column in touched}
    rows = change.rows or bool({(t, c.lower()) for t, c in made_of.decides} & changed)
    columns = tuple(name for name, origins in made_of.values.items() if {(t, c.lower()) for t, c in origins} & changed)
    outcome, why = _demands(step, change.outcome, more=change.more and table in step.follows)
    proof = f"reads {', '.join(reads)} of {table}; {why}"
    names = {column.lower(): column for column in step.writes.column_names}
    marks = tuple(names.values()) if rows else tuple(names[c.lower()] for c in columns if c.lower() in names)
    return Consumer(
        flow=flow,
        step=step.id,
        outcome=outcome,
        reads=reads,
        columns=columns,
        rows=rows,
        proof=proof,
        table=step.writes.name,
        marks=marks if outcome is Outcome.FORWARD else (),
    )


def _demands(step: PlannedStep, parent: Outcome, *, more: bool) -> tuple[Outcome, str]:
    if parent is Outcome.FORWARD and step.strategy.sees_all:
        return Outcome.FORWARD, "each run computes its whole table, also of rows that keep the old meaning"
    if parent is Outcome.FORWARD:
        return Outcome.FORWARD, "its older rows rest on the old meaning"
    if step.strategy.sees_all:
        return Outcome.SWAP, "each run computes its whole table"
    if more:
        return Outcome.REBUILD, "the new version has rows that the one before never got"
    if step.strategy is Strategy.MAP and step.history is History.KEEP:
        return Outcome.FORWARD, "its layer keeps the rows it has"
    return Outcome.REBUILD, "its rows are recomputed from the new version"
