"""Who is concerned by an event, step by step down the flows, and what each of them does; pure."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from streamhouse.compiler.diff.around import Around
from streamhouse.errors import Location, SqlSyntaxError
from streamhouse.model.action import Action
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedStep
from streamhouse.model.read_as import RESCUED
from streamhouse.model.schema_change import EventType, Policy, SchemaChange
from streamhouse.model.table import Column
from streamhouse.model.types import Strategy
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.sql.canonical import Canonical
from streamhouse.sql.dialect import parse_condition, parse_query
from streamhouse.upstream.decide import verdict
from streamhouse.upstream.known_input import second_of
from streamhouse.upstream.reading_step import ColumnUse, ReadingStep

_AT = Location("")

Opens = Callable[[str, PlannedStep, PlannedRead], bool]
"""Whether a step passes on columns of what a port reads that it does not name."""

_OF_THE_WHOLE = frozenset(
    {
        EventType.CHANGE_KEY,
        EventType.CHANGE_LAYOUT,
        EventType.CHANGE_TEXT,
        EventType.TRUNCATE_TABLE,
        EventType.DROP_TABLE,
        EventType.RECREATE_TABLE,
        EventType.POSITIONS_LOST,
        EventType.NEW_TABLE,
    }
)
_ADDS = frozenset({EventType.ADD_COLUMN, EventType.ADD_REQUIRED_COLUMN, EventType.UNKNOWN_FIELD})
_TAKES_AWAY = frozenset({EventType.DROP_COLUMN, EventType.MAYBE_RENAME})


def source_object(flow: str, source: str) -> str:
    """What events call a source of a flow."""
    return f"{flow}:{source}"


def is_open(action: Action, port: str) -> bool:
    """Whether an action passes on columns of a port that it does not name."""
    if action.output.extra_columns == "pass" and action.inputs.get(port):
        return True
    if action.inputs.get(port):
        return False
    tree = parse_query(action.sql, action.sql_at)
    return any(
        isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
        for select in tree.find_all(exp.Select)
        for item in select.expressions
    )


class Impact:
    """Every step of some plans, and how it uses what it reads.

    Args:
        plans: As applied, by flow; those that never ran are not among them.
        rules: Flow → how it follows changes; a flow without has the defaults.
        opens: Of a step of a flow and what it reads, from its action as the flow runs with it.
    """

    def __init__(self, plans: Mapping[str, FlowPlan], rules: Mapping[str, SchemaChange], opens: Opens) -> None:
        self._arounds = {flow: Around.of(plan) for flow, plan in plans.items()}
        self._rules = rules
        self._opens = opens

    def decision(self, event: UpstreamEvent, flow: str, *, policy: Policy | None = None) -> Decision:
        """What follows from an event for each step that it reaches, nearest first.

        Args:
            event: What changed.
            flow: Whose look saw it: positions that are lost are its own, and other flows may have others.
            policy: Instead of what the rules say; of a decision that a person made.
        """
        found: dict[tuple[str, str], Verdict] = {}
        pending: deque[tuple[UpstreamEvent, bool]] = deque([(event, False)])
        while pending:
            current_event, derived = pending.popleft()
            for owner, around, step, read in self._readers(current_event.object):
                if (owner, step.id) in found:
                    continue
                if current_event.type is EventType.POSITIONS_LOST and (
                    owner != flow or not _stands_in(around, step, read)
                ):
                    continue
                reader = self._reader(current_event, owner, around, step, read, derived=derived)
                verdict = self._verdict(current_event, reader, policy)
                if derived and verdict.outcome is Outcome.NO_OP and not verdict.notes:
                    continue
                found[owner, step.id] = verdict
                if verdict.spreads:
                    pending += [(further, True) for further in self._further(current_event, verdict, reader, step)]
        return Decision(event=event, verdicts=tuple(found.values()))

    def uses(self, event: UpstreamEvent, flow: str) -> ColumnUse:
        """What a flow does with the column of an event, at the most, there and behind."""
        readers = [found for found in self._readers(event.object) if found[0] == flow]
        return max(
            (self._reader(event, *found, derived=False).uses for found in readers),
            key=lambda use: use.weight,
            default=ColumnUse.NOTHING,
        )

    def _verdict(self, event: UpstreamEvent, reader: ReadingStep, policy: Policy | None) -> Verdict:
        rules = self._rules.get(reader.flow, SchemaChange())
        chosen, said = rules.policy_for(event.type, reader.table.name, event.column)
        if policy is not None:
            chosen, said = policy, "a person"
        return verdict(event, reader, chosen, said)

    def _readers(self, name: str) -> list[tuple[str, Around, PlannedStep, PlannedRead]]:
        flow, colon, source = name.partition(":")
        found = []
        for owner, around in self._arounds.items():
            wanted = source if colon and owner == flow else name
            if colon and owner != flow:
                continue
            for step in around.readers.get(wanted, ()):
                found += [(owner, around, step, read) for read in step.reads if read.table == wanted]
        return found

    def _reader(
        self, event: UpstreamEvent, flow: str, around: Around, step: PlannedStep, read: PlannedRead, *, derived: bool
    ) -> ReadingStep:
        opened = self._opens(flow, step, read)
        if event.type in _OF_THE_WHOLE:
            return ReadingStep(flow, step.id, step.writes, uses=ColumnUse.VALUE, open=opened, derived=derived)
        if event.type in _ADDS:
            return ReadingStep(flow, step.id, step.writes, open=opened, derived=derived)
        column = event.column
        uses, outputs = _use(around, step, read.table, column)
        starved: list[str] = []
        if event.type in _TAKES_AWAY and uses is not ColumnUse.NOTHING:
            behind = self._behind(step, outputs, column, starved, set())
            uses = max((uses, behind), key=lambda use: use.weight)
            starved = [f"{step.writes.name}.{name}" for name in outputs if name != column] + starved
        return ReadingStep(
            flow,
            step.id,
            step.writes,
            uses=uses,
            open=opened,
            outputs=outputs,
            starved=tuple(dict.fromkeys(starved)),
            derived=derived,
        )

    def _behind(
        self, step: PlannedStep, outputs: tuple[str, ...], column: str, starved: list[str], met: set[tuple[str, str]]
    ) -> ColumnUse:
        """What steps behind do with columns of the table that a step writes.

        `starved` grows by what they make, but for what is only passed on as `column`.
        """
        most = ColumnUse.NOTHING
        for output in outputs:
            if (step.writes.name, output) in met:
                continue
            met.add((step.writes.name, output))
            for _, around, reader, read in self._readers(step.writes.name):
                uses, derived_columns = _use(around, reader, read.table, output)
                starved += [f"{reader.writes.name}.{name}" for name in derived_columns if name != column]
                behind = self._behind(reader, derived_columns, column, starved, met)
                most = max((most, uses, behind), key=lambda use: use.weight)
        return most

    def _further(
        self, event: UpstreamEvent, verdict: Verdict, reader: ReadingStep, step: PlannedStep
    ) -> list[UpstreamEvent]:
        """What the readers of a step's table see when the step follows an event."""
        name = reader.table.name
        if verdict.values is Values.RESCUED:
            updates = {"object": name, "type": EventType.ADD_COLUMN, "was": None, "now": RESCUED, "tier": None}
            return [event.model_copy(update=updates)]
        if verdict.values is Values.BOTH and event.now is not None:  # one more column: the one there was stays
            second = event.now if event.was is None or event.now.name != event.was.name else second_of(event.now)
            updates = {"object": name, "type": EventType.ADD_COLUMN, "was": None, "now": second, "tier": None}
            return [event.model_copy(update=updates)]
        if event.type in _ADDS:
            kind = EventType.ADD_COLUMN if event.type is EventType.UNKNOWN_FIELD else event.type
            return [event.model_copy(update={"object": name, "type": kind, "tier": None})]
        if event.type is EventType.MAYBE_RENAME:
            return [event.model_copy(update={"object": name, "tier": None})]
        return list(_of_outputs(event, reader, step))


def _stands_in(around: Around, step: PlannedStep, read: PlannedRead) -> bool:
    """Whether a step has positions in what it reads: of its own segment's tables it gets the rows as they are made."""
    [segment] = (s for s in around.plan.segments if step in s.steps)
    return read.table not in segment.tables


def in_question(verdict: Verdict, event: UpstreamEvent, reason: str) -> Verdict:
    """The verdict where what it says cannot be done by itself: a person decides whether to follow."""
    return verdict.model_copy(
        update={
            "outcome": Outcome.BLOCK,
            "values": Values.WAIT,
            "pauses": True,
            "spreads": False,
            "asks": f"follow {event}",
            "notes": (*verdict.notes, reason),
        }
    )


def _renamed(column: Column | None, name: str) -> Column | None:
    return column.model_copy(update={"name": name}) if column is not None else None


def _of_outputs(event: UpstreamEvent, reader: ReadingStep, step: PlannedStep) -> Iterator[UpstreamEvent]:
    """The same of each column that a step makes of the changed one, where the column follows the change."""
    for output in reader.outputs:
        if output not in reader.table.column_names:
            continue
        was = _renamed(event.was, output)
        same = reader.table.column(output).type == (event.was.type if event.was is not None else "")
        if step.strategy is Strategy.MERGE and not same:
            continue  # what the store folds keeps its type
        now = _renamed(event.now, output)
        yield event.model_copy(update={"object": reader.table.name, "was": was, "now": now, "tier": None})


def _use(around: Around, step: PlannedStep, table: str, column: str) -> tuple[ColumnUse, tuple[str, ...]]:
    """What a step does with a column, and which columns of its table it makes of it."""
    meaning: Canonical = around.meaning(step)
    wanted = (table, column.lower())

    def among(columns: object) -> bool:
        return any((t, c.lower()) == wanted for t, c in columns)  # type: ignore[attr-defined]

    derived_names = tuple(name for name, of in meaning.values.items() if among(of))
    names = {c.lower(): c for c in step.writes.column_names}
    outputs = tuple(names.get(name.lower(), name) for name in derived_names)
    if any(name in step.writes.primary_key for name in outputs):
        return ColumnUse.KEY, outputs
    if _fails_with(step, outputs):
        return ColumnUse.CONTRACT, outputs
    if among(meaning.decides):
        return ColumnUse.ROWS, outputs
    if any(meaning.outputs[name].folds for name in derived_names if name in meaning.outputs):
        return ColumnUse.AGGREGATE, outputs
    if not derived_names:
        return ColumnUse.NOTHING, ()
    same = len(derived_names) == 1 and derived_names[0].lower() == column.lower()
    return (ColumnUse.PASSED if same and _is_column(meaning, derived_names[0]) else ColumnUse.VALUE), outputs


def _is_column(meaning: Canonical, name: str) -> bool:
    output = meaning.outputs.get(name)
    try:
        return output is not None and isinstance(parse_condition(output.text, _AT), exp.Column)
    except SqlSyntaxError:  # a canonical text is no SQL where a type is implied
        return False


def _fails_with(step: PlannedStep, outputs: tuple[str, ...]) -> bool:
    """Whether an expectation that ends the flow looks at one of these columns."""
    wanted = {name.lower() for name in outputs}
    return any(
        rule.on_violation == "fail"
        and wanted & {c.name.lower() for c in parse_condition(rule.check, _AT).find_all(exp.Column)}
        for rule in step.expect.values()
    )
