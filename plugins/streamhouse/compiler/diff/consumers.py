"""How far a change of a table's meaning reaches: the steps that read what changes, and those that read them."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamhouse.compiler.diff.around import Around
from streamhouse.model.outcome import Consumer, Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.types import History, Strategy

_MEANT = frozenset({Outcome.FORWARD, Outcome.REBUILD})
_OTHER_KEYS = frozenset({15, 22, 29})  # group key, time window, and how a table tells its rows apart


@dataclass(frozen=True)
class Affected:
    """What changes in a table: some columns, or with `rows` all of them."""

    outcome: Outcome
    columns: frozenset[str] = frozenset()
    rows: bool = False
    swaps: bool = False  # another version of the table, with the same values in it
    more: bool = False  # another version, with rows that never came into the one before: a reader cannot go on behind


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


def consumers(table: str, change: Affected, plans: Mapping[str, Around]) -> list[Consumer]:
    """Every step that reads what changes, nearest first, each once.

    Args:
        table: The table that changes.
        change: What of it.
        plans: Every flow, this one as desired.
    """
    found: dict[tuple[str, str], Consumer] = {}
    pending = [(table, change)]
    while pending:
        name, part = pending.pop(0)
        readers = [(flow, around, step) for flow, around in plans.items() for step in around.readers.get(name, ())]
        for flow, around, step in readers:
            consumer = _consumer(flow, around, step, name, part)
            if consumer is None or (flow, step.id) in found:
                continue
            found[flow, step.id] = consumer
            if consumer.outcome in _MEANT:
                more = part.more and consumer.outcome is Outcome.REBUILD and name in step.follows
                spread = Affected(consumer.outcome, frozenset(consumer.columns), consumer.rows, more=more)
                pending.append((step.writes.name, spread))
    return list(found.values())


def _consumer(flow: str, around: Around, step: PlannedStep, table: str, change: Affected) -> Consumer | None:
    own = {c for read in step.reads if read.table == table for c in (*read.columns, *read.key_columns.values())}
    touched = own if change.rows else {c for c in own if c.lower() in change.columns}
    if not touched:
        return None
    reads = tuple(sorted(touched))
    if change.swaps:
        proof = f"reads {table}, and goes on where its new version begins to serve"
        return Consumer(flow=flow, step=step.id, outcome=Outcome.SWAP, reads=reads, proof=proof, table=step.writes.name)
    meaning = around.meaning(step)
    changed = {(table, column.lower()) for column in touched}
    rows = change.rows or bool({(t, c.lower()) for t, c in meaning.decides} & changed)
    columns = tuple(name for name, origins in meaning.values.items() if {(t, c.lower()) for t, c in origins} & changed)
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
