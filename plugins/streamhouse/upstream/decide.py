"""One event, one reader, one policy: what is done. The cells of the matrix in docs/trigger.md; pure.

A policy that says nothing of an event (a dash in the matrix) counts as `lenient`. Where a cell would write what no
table can hold, such as NULL into a key, it blocks instead: finer than the matrix, and never laxer.
"""

from collections.abc import Callable, Mapping

from streamhouse.model.schema_change import EventType, Policy, SchemaChange
from streamhouse.model.upstream import UpstreamEvent, Verdict
from streamhouse.upstream import columns, retyped, whole
from streamhouse.upstream.cell import Cell
from streamhouse.upstream.reading_step import ReadingStep


def decide(event: UpstreamEvent, reader: ReadingStep, rules: SchemaChange) -> Verdict:
    """What an event means for one reader, by the rules of the reader's flow.

    Args:
        event: What changed; not an edit, which is judged by what it means (docs/outcomes.md).
        reader: The step concerned, and how it uses the column.
        rules: Of its flow.
    """
    policy, said = rules.policy_for(event.type, reader.table.name, event.column)
    return verdict(event, reader, policy, said)


def verdict(event: UpstreamEvent, reader: ReadingStep, policy: Policy, said: str = "") -> Verdict:
    """The cell of one event and one policy for one reader."""
    if policy is Policy.RESCUE and event.type not in _RESCUES:
        return verdict(event, reader, Policy.LENIENT, said).model_copy(update={"policy": policy})
    cell = Cell(event, reader, policy, said)
    if reader.derived and cell.unread and event.was is not None:
        return cell.nothing()  # our own table changed, in a column that the step does not see
    return _ROWS[event.type](cell)


_RESCUES = frozenset({EventType.WIDEN_TYPE, EventType.CHANGE_TYPE, EventType.SHARDS_DISAGREE, EventType.ADD_FIELD})

_ROWS: Mapping[EventType, Callable[[Cell], Verdict]] = {
    EventType.ADD_COLUMN: columns.add_column,
    EventType.ADD_REQUIRED_COLUMN: columns.add_required,
    EventType.DROP_COLUMN: columns.drop_column,
    EventType.RENAME_COLUMN: columns.rename_column,
    EventType.MAYBE_RENAME: columns.maybe_rename,
    EventType.WIDEN_TYPE: retyped.widen_type,
    EventType.NARROW_TYPE: retyped.narrow_type,
    EventType.CHANGE_TYPE: retyped.change_type,
    EventType.RELAX_NULLABILITY: retyped.relax,
    EventType.TIGHTEN_NULLABILITY: retyped.tighten,
    EventType.CHANGE_KEY: whole.change_key,
    EventType.CHANGE_LAYOUT: whole.change_layout,
    EventType.ADD_FIELD: retyped.add_field,
    EventType.CHANGE_TEXT: whole.change_text,
    EventType.TRUNCATE_TABLE: whole.truncate,
    EventType.DROP_TABLE: whole.drop_table,
    EventType.RECREATE_TABLE: whole.recreate,
    EventType.NEW_TABLE: whole.new_table,
    EventType.SHARDS_DISAGREE: retyped.shards,
    EventType.UNKNOWN_FIELD: columns.unknown_field,
    EventType.POSITIONS_LOST: whole.positions_lost,
}
