"""Forgets persons: every table that has rows of theirs is made again without them (docs/decisions/forget.md)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from shutil import rmtree
from threading import Event

from streamhouse.change.apply import carried_out
from streamhouse.change.building import drop_version
from streamhouse.compiler.reach import Holder, KeyReach, Obstacle, Origin, alike, reach
from streamhouse.errors import ForgetRefusedError, TypeMismatchError
from streamhouse.jobs.forget_hot import HotFiles
from streamhouse.jobs.forget_remains import Remains, followed, remains
from streamhouse.jobs.forget_search import TierRows, folders, search
from streamhouse.jobs.tier_round import TierRounds
from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import QUARANTINE, FlowPlan
from streamhouse.model.review import SwapGate
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import at_versions, table_at, table_name
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, readers_last
from streamhouse.runtime.owner import is_alive
from streamhouse.runtime.serving import serving
from streamhouse.sql.values import typed_value
from streamhouse.state.changes import Wish
from streamhouse.state.outdated_reads import remedy
from streamhouse.state.records import Change, RunnerState
from streamhouse.state.waits import left_behind


@dataclass(frozen=True)
class ForgetRequest:
    """Whom to forget.

    Attributes:
        table: Where the key is named.
        key: Column → values; several only where the key has one column: several persons.
        also: Further columns, `(table, column)`, that name the same persons.
        spared: Tables that stay as they are.
    """

    table: str
    key: Mapping[str, tuple[str, ...]]
    also: tuple[tuple[str, str], ...] = ()
    spared: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForgottenTable:
    """One table that has rows of the persons, or that is made of such rows.

    Attributes:
        table: Its name.
        flow: That writes it.
        how: `copied` without the rows, `computed` again, `spared`, or `untouched`: it has no such row.
        columns: The columns that carry the key; empty: none does.
        why: How they are connected with the key.
        before: What its tiers had.
        after: What they have now; empty: nothing was done.
    """

    table: str
    flow: str
    how: str
    columns: tuple[str, ...]
    why: tuple[str, ...]
    before: tuple[TierRows, ...] = ()
    after: tuple[TierRows, ...] = ()


@dataclass(frozen=True)
class Forgotten:
    """What was done, and what was found afterwards.

    Attributes:
        tables: Upstream first.
        dropped: Versions of tables that were dropped, each with the tiers that had it.
        remains: What has, or may have, values of the persons.
        not_connected: Columns with the name of the key that no lineage connects with it, and that were not searched.
        obstacles: Of a dry run: why the command would be refused.
        unchecked: Files of dropped tables that were not looked at, as they are on other machines.
    """

    tables: tuple[ForgottenTable, ...]
    dropped: tuple[str, ...] = ()
    remains: tuple[Remains, ...] = ()
    not_connected: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of the persons that were in the tables that flows write."""
        first: dict[str, int] = {}
        for one in self.tables:
            for found in one.before[:1]:
                first[one.table] = found.rows
        return sum(first.values())


def forget(
    project: Project,
    request: ForgetRequest,
    *,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Forgotten:
    """Make every table that has rows of some persons again, without them; the flows must not run meanwhile.

    May be killed at any point and called again: the tables of before serve, or the others do.

    Args:
        project: Holds the flows.
        request: Whom to forget.
        dry_run: Search, and change nothing.
        say: Is called with what is being done.

    Returns:
        What was found and done.

    Raises:
        UnknownTableError: nothing is called so.
        UnknownColumnError: a table lacks a column of the key.
        TypeMismatchError: a value is none of its column.
        ForgetRefusedError: a table cannot be made again, or a flow runs or has a change that is not done.
        ChangeFailedError: a table could not be made again; it is as it was.
        StoreError: a table could not be read or dropped, or a copy of it not be filled.
    """
    state = project.existing_state()
    plans: dict[str, FlowPlan] = {}
    if state is not None:
        with state:
            plans = {flow: plan for flow, (_, plan) in state.plans().items()}
    found = reach(plans, request.table, request.key, request.also)
    forgetting = _forgetting(found, request)
    with opened(project, say=say) as open_:
        return _Forget(open_, request, found, forgetting, say).run(dry_run=dry_run)


@dataclass
class _Forget:
    open: Open
    request: ForgetRequest
    found: KeyReach
    forgetting: Forgetting
    say: Callable[[str], None]
    _dropped: list[str] = field(default_factory=list)
    _undeleted: list[Remains] = field(default_factory=list)

    def run(self, *, dry_run: bool) -> Forgotten:
        everything = self.found.affected([*(("", name) for name in self.found.tables), *self.found.sources])
        flows = self._flows(everything)
        self._refuse_busy(flows)
        if not dry_run:
            self._resume(flows)
        before = self._search()
        scope = self._scope(before)
        after = {} if dry_run else self._carry_out(scope, flows, before)
        tables = [self._report(flow, name, scope.affected, before, after) for flow, name in self._in_order(everything)]
        return Forgotten(
            tuple(tables),
            tuple(self._dropped),
            (
                *_left(after),
                *self._undeleted,
                *self._spared(scope.seeds),
                *remains(self.open, self.found, self.forgetting),
            ),
            tuple(alike(self.found, self.request.key)),
            scope.obstacles,
            () if dry_run else tuple(self._unchecked()),
        )

    def _scope(self, before: Mapping[str, Sequence[TierRows]]) -> "_Scope":
        """What is to be done where these rows were found."""
        found = self.found
        unnamed: list[Origin] = [("", name) for name in found.unnamed]
        seeds: list[Origin] = [("", name) for name, rows in before.items() if _has_any(rows, self._serving(name))]
        anywhere: list[Origin] = [("", name) for name, rows in before.items() if any(not one.is_empty for one in rows)]
        affected = found.affected([*seeds, *unnamed], self.request.spared)
        obstacles = [*found.obstacles(affected), *(followed(self.open, found, self.forgetting) if affected else ())]
        return _Scope(seeds, affected, found.affected([*anywhere, *unnamed]), tuple(obstacles))

    def _carry_out(
        self, scope: "_Scope", flows: Sequence[str], before: Mapping[str, tuple[TierRows, ...]]
    ) -> dict[str, tuple[TierRows, ...]]:
        """Do it, and search again."""
        for one in scope.obstacles:
            raise ForgetRefusedError(f"{one.table} cannot be made without these rows: {one.reason}", hint=one.hint)
        if not scope.concerned:
            return dict(before)
        self._make_again(scope.affected, flows)
        self._drop_old(scope.concerned)
        self.open.state.tables.remove_deleted()
        self._tell(scope.concerned, before)
        return self._search()

    def _flows(self, tables: frozenset[str]) -> list[str]:
        """The flows that write any of the tables, each after those whose tables it reads."""
        plans = self.found.plans
        return [flow for flow in readers_last(plans) if tables & plans[flow].tables.keys()]

    def _in_order(self, tables: frozenset[str]) -> Iterator[tuple[str, str]]:
        for flow in self._flows(tables):
            yield from ((flow, name) for name in self.found.plans[flow].tables if name in tables)

    def _refuse_busy(self, flows: Sequence[str]) -> None:
        state = self.open.state
        for flow in flows:
            if state.progress(flow, alive=is_alive).state is RunnerState.RUNNING:
                raise ForgetRefusedError(
                    f"{flow} runs, and has rows of its tables in its memory and caches",
                    hint=f"stop it first: Ctrl-C, or streamhouse runner stop {flow}",
                )
            change = state.open_change(flow)
            if change is not None and change.forgetting is None:
                raise ForgetRefusedError(
                    f"{flow} has a change that is not done, {change.id}, whose tables may have the rows",
                    hint=f"let it end: streamhouse run {flow} --once; or give it up: streamhouse changes {change.id} "
                    "--withdraw",
                )
        self._refuse_behind()
        for built in state.environments():
            if built.flow in flows:
                raise ForgetRefusedError(
                    f"the environment '{built.environment}' of {built.flow} has copies of the rows",
                    hint=f"streamhouse env discard {built.flow} {built.environment}",
                )

    def _refuse_behind(self) -> None:
        """Refuse where a flow has yet to read a version that serves no more: all such versions are dropped."""
        tables = self.found.affected([*(("", name) for name in self.found.tables), *self.found.sources])
        for flow in sorted(self.found.plans):
            for one in (one for one in left_behind(self.open.state, flow) if one.table in tables):
                raise ForgetRefusedError(
                    f"{flow} reads version {one.version} of {one.table}, which no longer serves and would be dropped",
                    hint=remedy(flow, one),
                )

    def _resume(self, flows: Sequence[str]) -> None:
        """Carry out what an earlier command was killed in."""
        for flow in flows:
            change = self.open.state.open_change(flow)
            if change is not None:
                carried_out(self.open, change, self.say)

    def _search(self) -> dict[str, tuple[TierRows, ...]]:
        """Search every version of every table that carries the key."""
        found: dict[str, tuple[TierRows, ...]] = {}
        for name, parts in self.forgetting.tables.items():
            self.say(f"searching {name}")
            versions = [search(self.open, table, parts) for table in self._versions(name)]
            found[name] = tuple(one for version in versions for one in version)
        return found

    def _versions(self, name: str) -> list[Table]:
        """The version of a table that serves, its quarantine, and the versions that served before."""
        retired = [one for one in self.open.state.tables.retired() if one.table.name == name]
        return [*self._serving(name).values(), *(table_at(one.table, {name: one.version}) for one in retired)]

    def _serving(self, name: str) -> dict[str, Table]:
        """The version of a table that serves, and its quarantine, by the names that stores have."""
        plan = next(plan for plan in self.found.plans.values() if name in plan.tables)
        serving = at_versions(plan, self.open.state.versions(plan.flow))
        return {stored: table for stored, table in serving.tables.items() if _name(table) == name}

    def _make_again(self, affected: frozenset[str], flows: Sequence[str]) -> None:
        """Rebuild tables, let flows that read them go on, and fill the further tiers."""
        own = {flow: frozenset(affected & plan.tables.keys()) for flow, plan in self.found.plans.items()}
        forgetting = self.forgetting.model_copy(update={"copies": self.found.copies(affected)})
        for flow in flows:
            change = self.open.state.open_change(flow)
            if change is None and own[flow]:
                others = {other: sorted(tables) for other, tables in own.items() if other != flow and tables}
                change = self._requested(flow, own[flow], others, forgetting)
            if change is not None:
                carried_out(self.open, change, self.say)
        done = TierRounds(self.open, lambda _, __: None, self.say, Event()).round(flows, datetime.now(UTC))
        for error in done.failed.values():
            raise error

    def _requested(
        self, flow: str, tables: frozenset[str], others: Mapping[str, Sequence[str]], forgetting: Forgetting
    ) -> Change:
        wish = Wish(
            self.found.plans[flow],
            Outcome.REBUILD,
            tables,
            followers=others,
            copies=forgetting.copies & tables,
            gate=SwapGate.OPEN,
            forgetting=forgetting,
        )
        return self.open.state.ask_change(wish, "forget")

    def _drop_old(self, tables: frozenset[str]) -> None:
        """Drop every version of the tables that served before, and what is cached of them."""
        for one in self.open.state.tables.retired():
            name = one.table.name
            if name not in tables:
                continue
            stored = table_at(one.table, {name: one.version})
            self.say(f"dropping {stored.name}")
            files = HotFiles.of(self.open, stored)
            drop_version(self.open, one.table, one.version)
            self.open.state.tables.dropped(name, one.version)
            self._undeleted += files.wait()
            self._remove_folders(stored)
            self._dropped.append(f"{stored.name} ({', '.join(stored.tiers.present)})")
        for flow in self._flows(tables):
            rmtree(self.open.project.state_dir / "cache" / "states" / flow, ignore_errors=True)

    def _remove_folders(self, stored: Table) -> None:
        """Remove what a lake leaves of a dropped table: files of commits that failed."""
        own = {stored.name.partition(".")[2], f"{stored.name.partition('.')[2]}{QUARANTINE}"}
        for tier in stored.tiers.present:
            for folder in folders(self.open.project, tier, table_name(stored.name)):
                if folder.name in own:
                    rmtree(folder, ignore_errors=True)

    def _unchecked(self) -> Iterator[str]:
        """What deletes its files by itself, out of sight."""
        tiers = {tier for flow in self.found.plans.values() for t in flow.tables.values() for tier in t.tiers.present}
        project = self.open.project
        if self._dropped and Tier.HOT in tiers and project.settings.fluss is not None:
            yield f"Fluss at {project.settings.fluss} deletes the files of dropped tables by itself, after the answer"
        for tier in sorted(tiers - {Tier.HOT}):
            if self._dropped and serving(project, tier) is None:
                yield f"the {tier} tier is no folder: its rows and snapshots were searched, and not its files"

    def _tell(self, concerned: frozenset[str], before: Mapping[str, tuple[TierRows, ...]]) -> None:
        """Record what was done, without the values."""
        for flow in self._flows(concerned):
            tables = sorted(concerned & self.found.plans[flow].tables.keys())
            first = [one for name in tables for one in before.get(name, ())[:1]]
            rows, older = sum(one.rows for one in first), sum(one.older for one in first)
            key = ", ".join(f"{self.request.table}.{name}" for name in self.request.key)
            text = f"persons named by {key} were forgotten: {rows:,} rows, {older:,} of earlier states"
            self.open.state.append_event(flow, "forget", f"{text}; tables: {', '.join(tables)}")

    def _report(
        self,
        flow: str,
        name: str,
        affected: frozenset[str],
        before: Mapping[str, tuple[TierRows, ...]],
        after: Mapping[str, tuple[TierRows, ...]],
    ) -> ForgottenTable:
        holder = self.found.tables.get(name)
        how = "computed" if name in affected else "spared" if name in self.request.spared else "untouched"
        if name in self.found.copies(affected):
            how = "copied"
        columns = tuple(column for part in holder.columns for column in part) if holder is not None else ()
        why = holder.why if holder is not None else ()
        return ForgottenTable(name, flow, how, columns, why, before.get(name, ()), after.get(name, ()))

    def _spared(self, seeds: Sequence[Origin]) -> Iterator[Remains]:
        for name in sorted(self.found.affected(seeds) & set(self.request.spared)):
            yield Remains(name, "what was computed from the rows", "it was spared on request; it stays")


@dataclass(frozen=True)
class _Scope:
    """What is to be done.

    Attributes:
        seeds: Tables whose serving version has rows of the persons.
        affected: Tables that are made again.
        concerned: These, and tables of which only an earlier version has rows: all earlier versions are dropped.
        obstacles: Why it is refused.
    """

    seeds: Sequence[Origin]
    affected: frozenset[str]
    concerned: frozenset[str]
    obstacles: tuple[Obstacle, ...]


def _name(stored: Table) -> str:
    return table_name(stored.name).removesuffix(QUARANTINE)


def _has_any(rows: Sequence[TierRows], serving: Collection[str]) -> bool:
    return any(one.table in serving and not one.is_empty for one in rows)


def _left(after: Mapping[str, Sequence[TierRows]]) -> Iterator[Remains]:
    for one in (one for rows in after.values() for one in rows if not one.is_empty):
        found = f"{one.rows:,} rows, {one.older:,} of earlier states, {one.files or 0:,} in its files"
        yield Remains(f"{one.table} in {one.tier}", found, "repeat the command; if it stays, report it")


def _forgetting(found: KeyReach, request: ForgetRequest) -> Forgetting:
    """The key as each table and source has it.

    Raises:
        TypeMismatchError: a value is none of a column that carries the key.
    """
    if len(request.key) > 1 and any(len(values) > 1 for values in request.key.values()):
        raise AssertionError("a caller refuses several persons of a key of several columns")
    values = list(request.key.values())
    kinds: dict[Origin, dict[str, str]] = {}
    for flow, plan in found.plans.items():
        kinds |= {(flow, one.name): {c.name: c.type for c in one.columns} for one in plan.sources}
        kinds |= {("", one.name): {c.name: c.type for c in one.columns} for one in plan.tables.values()}

    def parts(holder: Holder) -> tuple[KeyPart, ...]:
        found_parts = tuple(KeyPart(columns=c, values=v) for c, v in zip(holder.columns, values, strict=True))
        for part in found_parts:
            for column in part.columns:
                _check(holder.name, column, kinds[holder.origin][column], part.values)
        return found_parts

    tables = {name: parts(holder) for name, holder in found.tables.items()}
    sources: dict[str, dict[str, tuple[KeyPart, ...]]] = {}
    for (flow, name), holder in found.sources.items():
        sources.setdefault(flow, {})[name] = parts(holder)
    return Forgetting(tables=tables, sources=sources)


def _check(table: str, column: str, kind: str, values: Sequence[str]) -> None:
    for value in values:
        try:
            typed_value(value, kind)
        except ValueError as error:
            raise TypeMismatchError(
                f"'{value}' is no value of {table}.{column}, which is {kind}",
                hint="write the value as a query shows it",
            ) from error
