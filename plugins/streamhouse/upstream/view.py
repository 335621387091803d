"""What a flow knows of its inputs: new columns reach a step only where its policy lets them in; pure."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from streamhouse.model.action import Action
from streamhouse.model.bad_rows import OPTION, with_dead_letters
from streamhouse.model.flow import Flow, Source, Step
from streamhouse.model.plan import FlowPlan, PlannedSource, Truncation
from streamhouse.model.read_as import ReadAs
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Ranges
from streamhouse.upstream.known_input import KnownInput

_LETS_IN = frozenset({Policy.LENIENT, Policy.EVOLVE, Policy.TRY_EVOLVE, Policy.RESCUE})


@dataclass(frozen=True)
class FlowView:
    """The columns that the steps of one flow do not see; see `compiler.View`.

    Attributes:
        flow: Its rules say what each step lets in.
        applied: As it runs. What its steps see now they go on seeing.
        came: Names of columns that came upstream since.
        granted: Columns that a person let in, by what has them.
        adaptations: Source or table → how its columns are made of what is there.
        removals: Source → what a person decided of removals of all its rows.
        times: Table of another flow, or segment → which time it is read from its beginning.
        lacks: Source or table → ranges of it whose rows are gone, and that a person said to go on behind.
    """

    flow: Flow
    applied: FlowPlan
    came: frozenset[str]
    granted: frozenset[tuple[str, str]] = frozenset()
    adaptations: Mapping[str, tuple[ReadAs, ...]] = field(default_factory=dict)
    removals: Mapping[str, Mapping[str, Truncation]] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    lacks: Mapping[str, Ranges] = field(default_factory=dict)
    _known: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        flow: Flow,
        applied: FlowPlan,
        came: Iterable[str],
        granted: Iterable[tuple[str, str]] = (),
        known_now: Mapping[str, KnownInput] = MappingProxyType({}),
    ) -> "FlowView":
        """The view of a flow.

        Args:
            flow: As its file is.
            applied: As it runs.
            came: Names of columns that came upstream since, of sources and of tables of other flows.
            granted: Columns that a person let in: source or table, and name.
            known_now: Source or table → what the flow knows of it from now on; of others, as it runs.
        """
        inputs: list[PlannedSource | Table] = [*applied.sources, *applied.readable]
        known = {one.name: frozenset(c.name for c in one.columns) for one in inputs}
        hidden_columns = {name for step in applied.steps for read in step.reads for name in read.hidden}
        sources = {source.name: source for source in applied.sources}
        written = with_dead_letters(flow).sources
        current_sources = {name: written[name] for name in sources if name in written}
        other = {
            n
            for n, s in sources.items()
            if n not in current_sources or not _same(current_sources[n], s.kind, s.options)
        }
        as_runs = {name: adapted for name, adapted in applied.adapted.items() if name not in other}
        decided = {name: source.truncated for name, source in sources.items() if name not in other}
        lacks = {name: source.given_up for name, source in sources.items() if name not in other} | applied.given_up
        names = frozenset(came) | hidden_columns
        return cls(
            flow,
            applied,
            names,
            frozenset(granted),
            as_runs | {name: one.adapted for name, one in known_now.items()},
            decided | {name: one.truncated for name, one in known_now.items()},
            {**applied.again, **{name: one.again for name, one in known_now.items()}},
            lacks | {name: one.skipped_ranges for name, one in known_now.items()},
            known,
        )

    def adapted(self, name: str) -> tuple[ReadAs, ...]:
        """How columns of a source, or of a table of another flow, are made of what is there."""
        return self.adaptations.get(name, ())

    @property
    def detached_groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of steps that are detached, as the flow runs."""
        return self.applied.aside

    def again(self, name: str) -> str:
        """Which time a table of another flow, or segment, is read from its beginning; empty: the first."""
        return self.times.get(name, "")

    def skipped_ranges(self, name: str) -> Ranges:
        """Ranges of a source or table that a person said to go on behind: their rows are gone."""
        return dict(self.lacks.get(name, {}))

    def truncated(self, name: str) -> Mapping[str, Truncation]:
        """What a person decided of removals of all rows of a source."""
        return self.removals.get(name, {})

    def hidden(self, step: Step, action: Action, table: str, columns: tuple[Column, ...]) -> frozenset[str]:
        """Columns of a table or source that a step is not to see."""
        was = [one for one in self.applied.steps if one.writes.name == step.writes and one.action == action.action]
        reads = [read for one in was for read in one.reads if read.table == table]
        if not reads:
            return frozenset()  # a step that is new here sees all there is
        hidden_columns = frozenset(name for read in reads for name in read.hidden)
        new = {c.name for c in columns if c.name not in self._known.get(table, frozenset()) and c.name in self.came}
        return frozenset(
            name
            for name in (hidden_columns & {c.name for c in columns}) | new
            if not self._lets_in(step, table, name) and not _names(action, step, table, name)
        )

    def _lets_in(self, step: Step, table: str, name: str) -> bool:
        policy, _ = self.flow.schema_change.policy_for(EventType.ADD_COLUMN, step.writes, name)
        return policy in _LETS_IN or (table, name) in self.granted


def pinned_columns(
    sources: Mapping[str, Source], applied: FlowPlan | None, discovered: Mapping[str, tuple[Column, ...]]
) -> dict[str, tuple[Column, ...]]:
    """Source → its columns: as the flow runs with them, where it reads the same; else as they were discovered.

    So what came in a source meanwhile is seen by the trigger, which asks the policies, and by nobody else.
    """
    applied_sources = {source.name: source for source in applied.sources} if applied is not None else {}
    return {
        name: (
            applied_sources[name].columns
            if name in applied_sources
            and name in sources
            and _same(sources[name], applied_sources[name].kind, applied_sources[name].options)
            else columns
        )
        for name, columns in discovered.items()
    }


def came_in(applied: FlowPlan, known: Mapping[str, tuple[Column, ...]]) -> frozenset[str]:
    """Names of columns that what a flow reads has now, and had not when it was applied.

    Args:
        applied: As the flow runs.
        known: Source or table of another flow → the columns it has from now on; absent: those it had.
    """
    found: set[str] = set()
    reads: list[PlannedSource | Table] = [*applied.sources, *applied.external]
    for origin in reads:
        found |= {c.name for c in known.get(origin.name, ())} - {c.name for c in origin.columns}
    return frozenset(found)


def _same(source: Source, kind: str, options: Mapping[str, object]) -> bool:
    # What becomes of rows that cannot be read makes it no other source.
    plain = [{name: value for name, value in values.items() if name != OPTION} for values in (source.options, options)]
    shown = [json.dumps(values, sort_keys=True, default=str) for values in plain]
    return source.kind == kind and shown[0] == shown[1]


def _names(action: Action, step: Step, table: str, name: str) -> bool:
    """Whether an action asks for a column by its name: then an edit brought it in, which is judged as such."""
    ports = [port for port, read in step.reads.items() if read.table == table]
    declared: Collection[str] = {column.lower() for port in ports for column in action.inputs.get(port, {})}
    return (
        name.lower() in declared
        or re.search(rf"\b{re.escape(name)}\b", action.sql, re.IGNORECASE | re.UNICODE) is not None
    )
