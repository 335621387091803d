"""What follows when columns that a step reads get another type, whatever its SQL says."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from streamhouse.compiler.diff.around import Around, Reading
from streamhouse.compiler.diff.beside import Beside
from streamhouse.compiler.diff.consumers import Affected, Seen, consumers
from streamhouse.compiler.diff.policy import EditedStep, changed
from streamhouse.model.outcome import Consumer, Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column
from streamhouse.sql.canonical import Canonical, CanonicalInput, analysed, canonical
from streamhouse.sql.types import widens
from streamhouse.sql.widths import Widths


def as_before(step: PlannedStep, before: Around, after: Around) -> Canonical:
    """What the SQL of a step means over columns with the types they had, so that types alone make no difference."""
    return canonical(
        step.sql, {port: CanonicalInput(*reading) for port, reading in _typed(step, before, after).items()}
    )


def width_findings(edited: EditedStep, meaning: Canonical, before: Around, after: Around) -> list[Finding]:
    """What other types of what a step reads change.

    Args:
        edited: The step.
        meaning: From `as_before`.
        before: Says what types there were.
        after: What types there are.
    """
    step = edited.new
    now = {f"{table}.{c.name.lower()}": c.type for table, columns, _ in after.inputs(step).values() for c in columns}
    other = [(name, was, now[name]) for name, was in sorted(meaning.types) if now.get(name, was) != was]
    type_changes = ", ".join(f"{name} {was} → {kind}" for name, was, kind in other)
    narrower = [f"{name} {was} → {kind}" for name, was, kind in other if not widens(was, kind)]
    if narrower:
        return [changed(edited, 14, f"it reads {', '.join(narrower)}", rows=True)]
    if not other:
        return []
    if meaning.rows is None:
        return [changed(edited, 8, f"{type_changes}, in a query with {meaning.why}", rows=True)]
    widths = _widths(step, before, after)
    if part := widths.rows_vary():
        return [changed(edited, 8, f"{type_changes}, which may show in {part}", rows=True)]
    shown = [name for name, (steady, _) in widths.outputs(widths.root).items() if not steady]
    if shown:
        columns = tuple(c.name for c in step.columns if c.name.lower() in {name.lower() for name in shown})
        key = not {c.lower() for c in step.writes.primary_key}.isdisjoint(name.lower() for name in shown)
        return [changed(edited, 8, f"{type_changes}, which may show in {', '.join(shown)}", columns=columns, rows=key)]
    proof = f"it reads wider columns, and no value shows how wide they are: {type_changes}"
    return [Finding(rule=8, outcome=Outcome.SWAP, proof=proof, keeps_values=True)]


def wider_consumers(table: str, columns: tuple[Column, ...], others: Beside) -> Iterator[Consumer]:
    """Steps of other flows whose values may show that a table has wider columns, and those that read them.

    Args:
        table: That changes.
        columns: As they will be.
        others: The other flows as they run.
    """
    for flow, around, step in others.readers(table):
        after = replace(around, columns={**around.columns, table: columns})
        edited = EditedStep(step, step, around.keys)
        for finding in width_findings(edited, around.meaning(step), around, after):
            if finding.keeps_values:
                continue
            marks = tuple(c.name for c in step.columns) if finding.rows else finding.columns
            yield Consumer(
                flow=flow,
                step=step.id,
                outcome=finding.outcome,
                reads=tuple(c.name for c in columns if c not in around.columns[table]),
                columns=finding.columns,
                rows=finding.rows,
                proof=finding.proof,
                table=step.writes.name,
                marks=marks if finding.outcome is Outcome.FORWARD else (),
            )
            if finding.outcome is not Outcome.SWAP:
                change = Affected(finding.outcome, frozenset(finding.columns), finding.rows)
                yield from consumers(step.writes.name, change, others.readers, Seen())


def _widths(step: PlannedStep, before: Around, after: Around) -> Widths:
    now = after.inputs(step)
    query = analysed(step.sql, {port: CanonicalInput(*reading) for port, reading in now.items()})
    return Widths(query, _columns(now), _columns(_typed(step, before, after)))


def _columns(readings: Mapping[str, Reading]) -> dict[str, tuple[Column, ...]]:
    return {port: columns for port, (_, columns, _) in readings.items()}


def _typed(step: PlannedStep, before: Around, after: Around) -> dict[str, Reading]:
    """What a step reads, each column with the type it had, if it was there."""
    found = {}
    for port, (table, columns, mode) in after.inputs(step).items():
        was = {c.name.lower(): c.type for c in before.columns.get(table, ())}
        typed = tuple(c.model_copy(update={"type": was.get(c.name.lower(), c.type)}) for c in columns)
        found[port] = (table, typed, mode)
    return found
