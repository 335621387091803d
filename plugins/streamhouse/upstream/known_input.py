"""What the steps of a flow know of something that changed upstream, and how it is made of what is there; pure.

A decision is carried out when what it says of values can be put so. What cannot stays a question.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from streamhouse.model.plan import FlowPlan, PlannedSource, Truncation
from streamhouse.model.read_as import RESCUED, ReadAs
from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Ranges
from streamhouse.model.upstream import UpstreamEvent, Values, Verdict
from streamhouse.sql.spark_type import SparkType, spark_type
from streamhouse.stores.fitted import can_fit
from streamhouse.upstream.lattice import common

_ADDS = frozenset({EventType.ADD_COLUMN, EventType.ADD_REQUIRED_COLUMN, EventType.UNKNOWN_FIELD})
_TYPES = frozenset(
    {
        EventType.WIDEN_TYPE,
        EventType.NARROW_TYPE,
        EventType.CHANGE_TYPE,
        EventType.SHARDS_DISAGREE,
        EventType.ADD_FIELD,
    }
)
_AS_IT_WAS = frozenset({Values.AS_BEFORE, Values.UNREAD, Values.COUNTED})
_CASTS = frozenset({Values.CAST, Values.NULL, Values.BOTH, Values.ROW_DISCARDED, Values.VALUE_DISCARDED})


@dataclass(frozen=True)
class KnownInput:
    """A source, or a table of another flow, as the steps of one flow know it.

    Attributes:
        origin: With the columns that steps know.
        adapted: How these are made, where they are not there as they are.
        truncated: Removal of all rows, as `UpstreamEvent.truncations` calls it → what is done about it.
        again: Which time a table is read from its beginning; empty: the first.
        skipped_ranges: Ranges whose rows are gone, and that a person said to go on behind.
    """

    origin: PlannedSource | Table
    adapted: tuple[ReadAs, ...] = ()
    truncated: Mapping[str, Truncation] = field(default_factory=dict)
    again: str = ""
    skipped_ranges: Ranges = field(default_factory=dict)

    @classmethod
    def of(cls, plan: FlowPlan, origin: PlannedSource | Table) -> "KnownInput":
        """As it runs."""
        adapted, again = plan.adapted.get(origin.name, ()), plan.again.get(origin.name, "")
        if not isinstance(origin, PlannedSource):
            return cls(origin, adapted, again=again, skipped_ranges=plan.given_up.get(origin.name, {}))
        return cls(origin, adapted, origin.truncated, again, origin.given_up)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that steps know."""
        return self.origin.columns

    def column(self, name: str) -> Column | None:
        """The one that steps know by this name."""
        return next((column for column in self.columns if column.name == name), None)

    def read(self, *read_as: ReadAs) -> "KnownInput":
        """With columns that are made so from now on."""
        names = {one.column.name for one in read_as}
        others = tuple(one for one in self.adapted if one.column.name not in names)
        columns = {column.name: column for column in self.columns} | {one.column.name: one.column for one in read_as}
        return replace(self, origin=_with(self.origin, columns), adapted=(*others, *read_as))

    def shown(self, column: Column) -> "KnownInput":
        """With a column as it is there: one more, or of another type."""
        if isinstance(self.origin, Table):  # its own flow says nothing of it
            return self.read(ReadAs(column=column, of=(column,)))
        others = tuple(one for one in self.adapted if one.column.name != column.name)
        columns = {c.name: c for c in self.columns} | {column.name: column}
        return replace(self, origin=_with(self.origin, columns), adapted=others)

    def said(self, column: Column) -> "KnownInput":
        """With a column of which steps know more; it goes on being made as it is."""
        read_as = next((one for one in self.adapted if one.column.name == column.name), None)
        if read_as is None:
            return self.shown(column)
        return self.read(read_as.model_copy(update={"column": column}))

    def parts(self, column: Column) -> tuple[Column, ...]:
        """What a column is made of, the newest name first."""
        return next((one.of for one in self.adapted if one.column.name == column.name), (column,))

    def without(self, name: str) -> "KnownInput":
        """Without a column."""
        columns = {column.name: column for column in self.columns}
        removed_column = columns.pop(name)
        others = tuple(one for one in self.adapted if one.column.name != name)
        if isinstance(self.origin, Table):
            others = (*others, ReadAs(column=removed_column, gone=True))
        return replace(self, origin=_with(self.origin, columns), adapted=others)


def second_of(column: Column) -> Column:
    """The column beside one whose type became another."""
    return Column(name=f"{column.name}__v2", type=column.type)


def _with(origin: PlannedSource | Table, columns: Mapping[str, Column]) -> PlannedSource | Table:
    return origin.model_copy(update={"columns": tuple(columns.values())})


def followed(known: KnownInput, event: UpstreamEvent, verdicts: Collection[Verdict]) -> KnownInput | None:
    """What steps know once an event is followed; None: nothing carries out what is decided.

    Args:
        known: As it runs.
        event: What changed.
        verdicts: Of the steps of the flow that read it.
    """
    if not event.column:
        return _as_a_whole(known, event, {v.values for v in verdicts})
    known = _renamed_again(known, event)
    others = (part for one in known.adapted if one.column.name != event.column for part in one.of)
    if event.type not in (*_ADDS, EventType.RENAME_COLUMN) and any(part.name == event.column for part in others):
        return None  # a column that has another name here
    changing = [v for v in verdicts if v.values not in _AS_IT_WAS]
    if event.type is EventType.RENAME_COLUMN:  # the second column is hidden from whom it does not concern
        changing = [v.model_copy(update={"values": Values.BOTH}) if v.values is Values.TAKEN else v for v in changing]
    if event.type in _ADDS:
        changing = [v for v in changing if v.values in (Values.TAKEN, Values.DEFAULTED)]  # others do not see it
    if not changing:
        return known
    if len({v.values for v in changing}) > 1:
        return None  # what is read is read once
    found = _followed(known, event, max(changing, key=lambda v: v.spreads))
    if found is None or (found.adapted and not _adapts(found.origin)):
        return None
    return found


def _as_a_whole(known: KnownInput, event: UpstreamEvent, values: set[Values]) -> KnownInput | None:
    match event.type:
        case EventType.TRUNCATE_TABLE if isinstance(known.origin, PlannedSource) and len(values) == 1:
            if not values <= {Values.TAKEN, Values.AS_BEFORE}:
                return None
            done: Truncation = "removed" if Values.TAKEN in values else "kept"
            return replace(known, truncated={**known.truncated, **dict.fromkeys(event.truncations, done)})
        case EventType.RECREATE_TABLE if isinstance(known.origin, Table) and values == {Values.TAKEN}:
            return replace(known, again=event.id, skipped_ranges={})  # offsets of what is read then are others
        case EventType.POSITIONS_LOST if event.lost and values == {Values.TAKEN}:
            more = {part: (*known.skipped_ranges.get(part, ()), *found) for part, found in event.lost.items()}
            return replace(known, skipped_ranges={**known.skipped_ranges, **more})
        case EventType.POSITIONS_LOST if isinstance(known.origin, Table) and values == {Values.TAKEN}:
            return replace(known, again=event.id, skipped_ranges={})  # offsets of what is read then are others
    return None


def _followed(known: KnownInput, event: UpstreamEvent, verdict: Verdict) -> KnownInput | None:
    if any(one.rescues and one.column.name == event.column for one in known.adapted):
        return None  # what comes has the name of what values are kept in
    if event.type in _ADDS:
        return _added(known, event, verdict)
    column = known.column(event.column)
    if column is None:
        return known  # no step knows it
    if column.name in known.origin.primary_key:  # rows are told apart by it as it is
        grows = verdict.values is Values.TAKEN and event.type in _TYPES and isinstance(known.origin, PlannedSource)
        return _typed(known, event, verdict, column) if grows else None
    if event.type in _TYPES:
        return _typed(known, event, verdict, column)
    as_it_comes = ReadAs(column=column, of=(column,))
    match event.type, verdict.values:
        case EventType.DROP_COLUMN, Values.NULL:
            return known.without(column.name) if verdict.spreads else known.read(as_it_comes)
        case EventType.RENAME_COLUMN | EventType.MAYBE_RENAME, Values.BOTH:
            return _renamed(known, event, column, beside=verdict.spreads)
        case EventType.RENAME_COLUMN, Values.NULL:
            return known.read(as_it_comes)
        case EventType.MAYBE_RENAME, Values.TAKEN | Values.NULL:
            with_null = known.read(as_it_comes)
            return _added(with_null, event, verdict) if verdict.values is Values.TAKEN else with_null
        case EventType.RELAX_NULLABILITY, Values.TAKEN:
            return known.said(column.model_copy(update={"nullable": True}))
        case EventType.TIGHTEN_NULLABILITY, Values.TAKEN:
            return known.said(column.model_copy(update={"nullable": False}))
        case EventType.TIGHTEN_NULLABILITY, Values.ROW_DISCARDED:
            return known.read(ReadAs(column=column, of=known.parts(column), required=True, misfit="discard"))
    return None


def _added(known: KnownInput, event: UpstreamEvent, verdict: Verdict) -> KnownInput:
    assert event.now is not None
    column = event.now.model_copy(update={"nullable": True})
    known_column = known.column(column.name)
    if known_column is not None and (known_column.type != column.type or isinstance(known.origin, PlannedSource)):
        return known
    if verdict.values is Values.DEFAULTED and not event.now.nullable:  # a NULL can only be a row that lacks it
        return known.read(ReadAs(column=column, of=(column,), default=event.default))
    return known.shown(column)


def _renamed(known: KnownInput, event: UpstreamEvent, column: Column, *, beside: bool) -> KnownInput | None:
    now = event.now
    assert now is not None
    there = Column(name=now.name, type=now.type)
    if known.column(now.name) is not None or not can_fit(now.type, column.type):
        return None
    of = (there, *known.parts(column))
    current = next((one for one in known.adapted if one.column.name == column.name), ReadAs(column=column))
    adaptations = [current.model_copy(update={"of": of})]  # what does not fit it is treated as it was
    if beside:
        adaptations.append(ReadAs(column=there, of=of))
    return known.read(*adaptations)


def _renamed_again(known: KnownInput, event: UpstreamEvent) -> KnownInput:
    """Columns made of one that was renamed go on being made of it."""
    if event.type is not EventType.RENAME_COLUMN or event.now is None:
        return known
    now = Column(name=event.now.name, type=event.now.type)
    again = tuple(
        one.model_copy(update={"of": (now, *one.of)})
        if one.column.name != event.column and any(part.name == event.column for part in one.of)
        else one
        for one in known.adapted
    )
    return replace(known, adapted=again)


def _typed(known: KnownInput, event: UpstreamEvent, verdict: Verdict, column: Column) -> KnownInput | None:
    now = event.now
    if now is None:
        return None  # no type holds what all parts of the source have
    newest, *older = known.parts(column)
    if verdict.values is Values.TAKEN:
        wider = column.model_copy(update={"type": now.type})
        if not older:
            return known.shown(wider)
        return known.read(ReadAs(column=wider, of=(newest.model_copy(update={"type": now.type}), *older)))
    # A table gives all its rows in one type; older rows of a source still come as they were.
    kind = now.type if isinstance(known.origin, Table) else common(newest.type, now.type)
    rescues = verdict.values is Values.RESCUED and verdict.spreads
    if not (verdict.values in _CASTS or rescues) or kind is None:
        return None
    if kind == column.type and not older:
        return known
    of = (newest.model_copy(update={"type": kind}), *older)
    second = second_of(now)
    wanted = [column, *([second] if verdict.values is Values.BOTH and verdict.spreads else [])]
    if not all(can_fit(part.type, one.type) for part in of for one in wanted):
        return None
    if not _reads(known.origin, spark_type(column.type), spark_type(kind)):
        return None
    if known.column(second.name) is not None and len(wanted) > 1:
        return None
    if rescues:
        return _rescuing(known, ReadAs(column=column, of=of, misfit="rescue"))
    misfit: Literal["null", "discard"] = "discard" if verdict.values is Values.ROW_DISCARDED else "null"
    return known.read(*(ReadAs(column=one, of=of, misfit=misfit) for one in wanted))


def _rescuing(known: KnownInput, read_as: ReadAs) -> KnownInput | None:
    """With a column whose values that do not fit are kept beside it."""
    current = next((one for one in known.adapted if one.column.name == RESCUED.name), None)
    if current is None and known.column(RESCUED.name) is not None:
        return None  # somebody else's column has the name
    names = dict.fromkeys((*(current.rescues if current is not None else ()), read_as.column.name))
    return known.read(read_as, ReadAs(column=RESCUED, rescues=tuple(names)))


def _adapts(origin: PlannedSource | Table) -> bool:
    """Whether it can be read with other columns than those that it names."""
    return isinstance(origin, Table) or origin.kind != "replay"


def _reads(origin: PlannedSource | Table, was: SparkType, kind: SparkType) -> bool:
    """Whether values of several types can be read as one of them."""
    if isinstance(origin, Table):
        return True
    if origin.kind != "files":
        return not kind.fields  # structs of messages are read as they were declared
    file_format = str(origin.options.get("format") or origin.options.get("path", ""))
    return "json" not in file_format or (
        kind.kind != "string" and not _has_texts(was, kind)
    )  # Arrow takes no number for one


def _has_texts(was: SparkType, kind: SparkType) -> bool:
    """Whether a field is text now that was something else."""
    before = dict(was.fields)
    return any(
        name in before and ((now.kind == "string" != before[name].kind) or _has_texts(before[name], now))
        for name, now in kind.fields
    )


def direct(verdicts: Iterable[Verdict], flow: str, steps: Collection[str]) -> tuple[Verdict, ...]:
    """Those of the steps of a flow that read what changed by themselves."""
    return tuple(v for v in verdicts if v.flow == flow and v.step in steps)
