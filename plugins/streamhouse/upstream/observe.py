"""Looks at what flows read, and reports what changed since each of them last took note."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from streamhouse.errors import RowsLostError, StoreError, StreamhouseError
from streamhouse.ingest.base import ForgetfulSource, KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import OTHERS, is_registered, planned_shape, source_shape
from streamhouse.ingest.tables.places import PART, place_at
from streamhouse.model.bad_rows import OPTION
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.schema_change import EventType
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Ranges, Tier
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.model.version import Versions, stored_name
from streamhouse.stores.base import LogStore, ShapedStore, Store
from streamhouse.stores.unreadable import UnreadableTable
from streamhouse.upstream.impact import source_object
from streamhouse.upstream.lost import changes_lost, positions_lost, source_changes_lost, table_lost
from streamhouse.upstream.shape_diff import compare

_SURE_AFTER_S = (0.5, 1.0)
"""A server that starts does not find its tables for a moment, so one that is gone is looked for again."""

_OF_OWN_TABLES = frozenset({EventType.RECREATE_TABLE, EventType.DROP_TABLE})


@dataclass(frozen=True)
class UpstreamLook:
    """What one look at everything a flow reads gave.

    Attributes:
        events: What changed since the pins.
        live: Object → its shape now; what is gone, or could not be looked at, is not in it.
        pins: Object → what it was compared with.
        unseen: What could not be looked at, with the reason.
        failed: Those of `unseen` of which a store gave an error.
    """

    events: tuple[UpstreamEvent, ...] = ()
    live: Mapping[str, Shape] = field(default_factory=dict)
    pins: Mapping[str, Shape] = field(default_factory=dict)
    unseen: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, UnreadableTable] = field(default_factory=dict)


class UpstreamObserver:
    """Looks at sources and tables.

    Args:
        root: The project's folder.
        stores: Those that are open; tables of other tiers are not looked at.
    """

    def __init__(self, root: Path, stores: Mapping[Tier, Store]) -> None:
        self._root = root
        self._stores = stores
        self._opened: dict[str, ForgetfulSource | None] = {}  # each holds a connection; None: it forgets nothing

    def look(
        self,
        plan: FlowPlan,
        pins: Mapping[str, Shape],
        owners: Iterable[FlowPlan] = (),
        versions: Versions = MappingProxyType({}),
        read: Callable[[str], list[Position]] = lambda _: [],
    ) -> UpstreamLook:
        """What changed in what a flow reads.

        Args:
            plan: As the flow runs.
            pins: Object → its shape as the flow last took note of it; for what has none, what the plan says.
            owners: Plans of flows as they run: what these did to their own tables is no change upstream.
            versions: Of the tables that the flow reads and writes.
            read: How far each segment of the flow has read a source, or a table by the name that its store has.
        """
        looking = _Looking(versions)
        for source in plan.sources:
            self._source(plan, source, pins, read, looking)
        owner_tables = {name: table for owner in owners for name, table in owner.tables.items()}
        for table in plan.external:
            self._table(table, pins, _as_known(plan, owner_tables.get(table.name, table)), looking, own=False)
            self._lost(table, plan.given_up.get(table.name, {}), read, looking)
        across = {name for segment in plan.segments for name in segment.reads - set(segment.tables)}
        for table in plan.tables.values():
            self._table(table, pins, owner_tables.get(table.name, table), looking, own=True)
            if table.name in across:  # its readers have positions in it, as in a table of another flow
                self._lost(table, plan.given_up.get(table.name, {}), read, looking)
        return UpstreamLook(tuple(looking.events), looking.live, looking.pins, looking.unseen, looking.failed)

    def _source(
        self,
        plan: FlowPlan,
        source: PlannedSource,
        pins: Mapping[str, Shape],
        read: Callable[[str], list[Position]],
        looking: "_Looking",
    ) -> None:
        name = source_object(plan.flow, source.name)
        try:
            there = plan.as_there(source)
            assert isinstance(there, PlannedSource)
            live = source_shape(name, there, self._root)
            if live is None:
                looking.unseen[name] = "there is nothing in it"
                return
            identity_suffix, lost = self._identity_and_loss(name, source, read)
        except (StreamhouseError, OSError) as error:
            looking.unseen[name] = str(error)
            return
        pinned = _pinned(pins.get(name), source, planned_shape(name, source), live, identity_suffix)
        live = live.model_copy(update={"identity": f"{_identity(source)}{identity_suffix}"})
        looking.compare(pinned, live)
        if lost is not None and live.identity == pinned.identity:  # another one is reported as that alone
            looking.events.append(lost)

    def differs(self, plan: FlowPlan, inputs: Collection[str], live: Mapping[str, Shape], versions: Versions) -> bool:
        """Whether some of what a flow reads looks other than it did at a look; what cannot be looked at does not.

        Args:
            plan: As the flow ran at that look.
            inputs: Names of sources and tables that others write; others of the plan are not looked at.
            live: As that look had it.
            versions: Of the tables that the flow reads.

        Raises:
            StreamhouseError: a schema registry, or the catalog of a table of others, cannot be asked.
        """
        for source in plan.sources:
            name = source_object(plan.flow, source.name)
            if source.name in inputs:
                with suppress(StreamhouseError, OSError):
                    opened = self._forgetful(source)
                    if opened is not None and (name not in live or not live[name].identity.endswith(opened.identity())):
                        return True  # read on, the first rows of another one would be passed over in silence
            if source.name in inputs and (is_registered(source) or source.kind == OTHERS):
                # Its rows wait until the registry or catalog answers, or a plan that lacks a column could read some.
                if name not in live or _described(name, plan, source, self._root) != _plain(live[name]):
                    return True
            elif source.name in inputs and name in live:
                with suppress(StreamhouseError, OSError):
                    now = source_shape(name, source, self._root)
                    if now is not None and now != live[name].model_copy(update={"identity": now.identity}):
                        return True
        for table in plan.external:
            store = self._stores.get(table.tiers.target)
            if table.name in inputs and table.name in live and isinstance(store, ShapedStore):
                with suppress(StoreError):
                    if _shape(store, table.name, versions) != live[table.name]:
                        return True
        return False

    def _identity_and_loss(
        self, name: str, source: PlannedSource, read: Callable[[str], list[Position]]
    ) -> tuple[str, UpstreamEvent | None]:
        """Of a source that removes its oldest rows by itself: which one it is, and what is gone before it was read."""
        opened = self._forgetful(source)
        if opened is None:
            return "", None
        positions = read(source.name)  # before the source is asked, which may only be further then
        for wait_s in (*_SURE_AFTER_S, None):
            try:
                identity, oldest, newest = opened.identity(), opened.oldest(), opened.available()
            except StreamhouseError:  # what was made a moment ago is not known to everybody
                if wait_s is None:
                    raise
                time.sleep(wait_s)
            else:
                break
        lost = positions_lost(name, positions, oldest, newest, source.given_up)
        if lost is None and isinstance(opened, KeyedSource):
            lost = _keyed_lost(name, opened, positions)
        if lost is not None and any(PART in one and not place_at(one).is_whole for one in positions):
            lost = lost.model_copy(update={"lost": {}})  # of the rows that it begins with, a reader would miss some
        return f"/{identity}", lost

    def _lost(
        self, table: Table, skipped_ranges: Ranges, read: Callable[[str], list[Position]], looking: "_Looking"
    ) -> None:
        """Note what is gone of a table before it was read; one that was replaced is reported as that alone."""
        store, live, pinned = (
            self._stores.get(table.tiers.target),
            looking.live.get(table.name),
            looking.pins.get(table.name),
        )
        stored = table.model_copy(update={"name": stored_name(table.name, looking.versions.get(table.name, 1))})
        positions = read(stored.name)  # before the store is asked, which may only be further then
        if store is None or live is None or pinned is None or live.identity != pinned.identity or not positions:
            return
        event: UpstreamEvent | None = None
        try:
            if isinstance(store, LogStore):
                event = table_lost(table, positions, store.start(stored), store.end(stored), skipped_ranges)
            else:
                for position in positions:
                    store.advance(stored, position, 1)
        except RowsLostError as error:
            event = changes_lost(table, positions, error.message)
        except StoreError as error:
            looking.fail(table, error)
        if event is not None:
            looking.events.append(event)

    def _forgetful(self, source: PlannedSource) -> ForgetfulSource | None:
        key = f"{source.kind} {_identity(source)}"
        if key not in self._opened:
            opened = open_source(source, self._root)
            self._opened[key] = opened if isinstance(opened, ForgetfulSource) else None
        return self._opened[key]

    def _table(
        self, table: Table, pins: Mapping[str, Shape], owner_table: Table, looking: "_Looking", *, own: bool
    ) -> None:
        store = self._stores.get(table.tiers.target)
        if not isinstance(store, ShapedStore):
            looking.unseen[table.name] = f"the {table.tiers.target} tier is not open"
            return
        pinned = pins.get(table.name)
        try:
            live = _shape(store, table.name, looking.versions)
            for wait_s in _SURE_AFTER_S if live is None and pinned is not None else ():
                time.sleep(wait_s)
                live = live or _shape(store, table.name, looking.versions)
        except StoreError as error:
            looking.fail(table, error)
            return
        if live is None and pinned is None:
            return  # a table that its flow has not made yet
        if live is not None and (pinned is None or pinned.at != live.at):
            pinned = _first(table, live)
        assert pinned is not None
        looking.compare(_explained(pinned, live, owner_table), live, only=_OF_OWN_TABLES if own else None)


def _keyed_lost(name: str, source: KeyedSource, positions: list[Position]) -> UpstreamEvent | None:
    """What is gone of a source with a key before it was read; no reader can go on behind it."""
    try:
        for position in positions:
            source.advance(position, 1)
    except RowsLostError as error:
        return source_changes_lost(name, positions, error.message)
    return None


def _shape(store: ShapedStore, table: str, versions: Versions) -> Shape | None:
    """The shape of the version that serves, under the table's own name."""
    at = versions.get(table, 1)
    found = store.shape(stored_name(table, at))
    return found and found.model_copy(update={"object": table, "at": at})


class _Looking:
    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self.events: list[UpstreamEvent] = []
        self.live: dict[str, Shape] = {}
        self.pins: dict[str, Shape] = {}
        self.unseen: dict[str, str] = {}
        self.failed: dict[str, UnreadableTable] = {}

    def fail(self, table: Table, error: StoreError) -> None:
        """Take note of a table that was looked at in vain."""
        self.unseen[table.name] = error.message
        stored = stored_name(table.name, self.versions.get(table.name, 1))
        self.failed[table.name] = UnreadableTable(stored, table.tiers.target, error)

    def compare(self, pinned: Shape, live: Shape | None, only: frozenset[EventType] | None = None) -> None:
        self.pins[pinned.object] = pinned
        if live is not None:
            self.live[live.object] = live
        self.events += [event for event in compare(pinned, live) if only is None or event.type in only]


def _described(name: str, plan: FlowPlan, source: PlannedSource, root: Path) -> Shape | None:
    there = plan.as_there(source)
    assert isinstance(there, PlannedSource)
    found = source_shape(name, there, root)
    return found and _plain(found)


def _plain(shape: Shape) -> Shape:
    return shape.model_copy(update={"identity": ""})


def _identity(source: PlannedSource) -> str:
    options = {name: value for name, value in source.options.items() if name != OPTION}
    text = json.dumps([source.kind, options], sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:12]


def _declared(planned: Shape, live: Shape) -> Shape:
    """What to compare with first where a person declared columns: their types may differ from the first row on."""
    names = {column.name for column in live.columns}
    missing_columns = tuple(column for column in planned.columns if column.name not in names)
    version = f"{live.version} as planned" if missing_columns else live.version
    return live.model_copy(update={"columns": (*live.columns, *missing_columns), "version": version, "unknown": ()})


def _of_others(planned: Shape, live: Shape, *, declared: bool) -> Shape:
    """What to compare a table of others with first: its columns have ids, which a plan does not know.

    Where a person declared some columns, the others are left out; only those that come later are news.
    """
    if declared:
        return _declared(planned, live).model_copy(update={"unknown": live.unknown})
    there = {column.name: column for column in live.columns}
    columns = tuple(there.get(one.name, one).model_copy(update={"type": one.type}) for one in planned.columns)
    return planned.model_copy(update={"columns": columns})


def _first(table: Table, live: Shape) -> Shape:
    """What to compare with at the first look: what the plan says of the columns it knows, else what is there."""
    planned = {column.name: column for column in table.columns}
    known = tuple(
        column.model_copy(update={"type": planned[column.name].type}) if column.name in planned else column
        for column in live.columns
    )
    names = {column.name for column in live.columns}
    missing_columns = tuple(SeenColumn(name=c.name, type=c.type) for c in table.columns if c.name not in names)
    version = live.version if not missing_columns and known == live.columns else f"{live.version} as planned"
    return live.model_copy(update={"columns": (*known, *missing_columns), "version": version})


def _explained(pinned: Shape, live: Shape | None, owner_table: Table) -> Shape:
    """The pin with what the flow that writes the table did to it itself."""
    if live is None or live.version == pinned.version or live.identity != pinned.identity:
        return pinned
    ours = {column.name: column.type for column in owner_table.columns}
    columns = {column.name: column for column in pinned.columns}
    for column in live.columns:
        if ours.get(column.name) == column.type:
            for name in [n for n, c in columns.items() if column.id and c.id == column.id]:
                del columns[name]  # it may have had another name
            columns[column.name] = column
    explained_columns = tuple(columns.values())
    version = live.version if set(explained_columns) == set(live.columns) else pinned.version
    return pinned.model_copy(update={"columns": explained_columns, "version": version})


def _pinned(pinned: Shape | None, source: PlannedSource, planned: Shape, live: Shape, identity_suffix: str) -> Shape:
    """What a source was known as. An edit of its options makes it another one: not what it brings is judged."""
    identity = _identity(source)
    if pinned is None or pinned.identity.partition("/")[0] != identity:
        if source.kind == OTHERS:
            first = _of_others(planned, live, declared=bool(source.options.get("columns")))
        else:
            first = _declared(planned, live) if source.options.get("columns") else planned
        pinned = first.model_copy(update={"identity": identity})
    if "/" not in pinned.identity:
        pinned = pinned.model_copy(update={"identity": f"{identity}{identity_suffix}"})
    return pinned


def _as_known(plan: FlowPlan, table: Table) -> Table:
    """A table of another flow; what this flow gave up knowing it reports again when it comes back."""
    hidden_names = {one.column.name for one in plan.adapted.get(table.name, ()) if one.gone}
    return table.model_copy(update={"columns": tuple(one for one in table.columns if one.name not in hidden_names)})
