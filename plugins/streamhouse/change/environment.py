"""Environments: a change whose tables are built and kept up to date beside production, until it is promoted.

An environment has tables of its own for what the change touches and all that is made from it; it reads the rest,
and the sources, as production has them. It costs production nothing, and promoting it is a swap of pointers.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace

from streamhouse.change.building import Building, reached, require_history, wanted_versions
from streamhouse.change.change_request import refuse_blocked
from streamhouse.change.review import Reviewing
from streamhouse.compiler.marks import marks
from streamhouse.compiler.migration import copied, followers, tables_apart
from streamhouse.engine.carried_positions import furthest
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.vector import covers
from streamhouse.errors import LeaseHeldError, NoEnvironmentError, StateConflictError, UnknownFlowError
from streamhouse.model.environment_name import environment_name
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.version import table_at
from streamhouse.project.compare import Choices, PlanComparison
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.query.past import Catalog
from streamhouse.runtime.open import opened
from streamhouse.spark.interrupt import ending
from streamhouse.state.changes import Wish
from streamhouse.state.plans import Unreadable, noting
from streamhouse.state.records import Change, Phase, UnreadableChange
from streamhouse.state.store import StateStore


def build(
    project: Project,
    compared: PlanComparison,
    environment: str,
    by: str,
    *,
    choices: Choices | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Change:
    """Create an environment from the files, or create it again, and bring it to where production is.

    Raises:
        BlockedError: a person must decide first.
        StateConflictError: the flow has not run yet.
        NoEnvironmentError: the name is none, or the files say what is applied.
    """
    found, apart = _to_build(compared, environment, choices or {})
    copies = copied(found, compared.plan, apart)
    with opened(project, say=say) as open_:
        wish = Wish(
            compared.plan,
            found.outcome,
            apart,
            followers=followers(found),
            environment=environment,
            copies=copies,
            marks=marks(found, compared.plan, apart, copies, open_.state.tables.meanings),
            definition=compared.definition(project),
        )
        require_history(open_.state, compared.plan.flow)  # before a change is asked for that nothing could fill
        before = open_.state.open_change(compared.plan.flow, environment)
        change = open_.state.ask_change(wish, by)
        if before is not None and before.id != change.id:
            Building(open_, before).discard()
        building = Building(open_, change, say)
        building.fill()
        building.catch_up()
        return change


def require_buildable(project: Project, compared: PlanComparison, environment: str) -> None:
    """Refuse what `build` would refuse, before a file is written or a process started.

    Raises:
        BlockedError, StateConflictError, NoEnvironmentError: as `build` does.
    """
    _to_build(compared, environment, {})
    with project.state() as state:
        require_history(state, compared.plan.flow)


def _to_build(compared: PlanComparison, environment: str, choices: Choices) -> tuple[FlowDiff, frozenset[str]]:
    """What differs, and the tables that an environment has apart."""
    _check_name(environment)
    found = compared.decided(choices)
    refuse_blocked(compared.plan.flow, found)
    apart = tables_apart(found, compared.plan)
    if not apart:
        raise NoEnvironmentError(f"{compared.plan.flow}: nothing differs from production, so there is nothing to build")
    return found, apart


@dataclass(frozen=True)
class EnvironmentOutlook:
    """What building a plan in an environment would do.

    Attributes:
        has_run: Whether the flow has run: else nothing serves beside which tables could be built.
        exists: Whether there is an environment of this name.
        is_built: Whether it has this plan already, beside what serves now.
        tables: Those that it has of its own, or would have; none: the plan says what serves.
    """

    has_run: bool
    exists: bool
    is_built: bool
    tables: tuple[str, ...]


def outlook(project: Project, compared: PlanComparison, environment: str) -> EnvironmentOutlook:
    """What `build` would do. Touches nothing.

    Raises:
        NoEnvironmentError: the name is none.
    """
    _check_name(environment)
    tables = tuple(sorted(tables_apart(compared.found, compared.plan)))
    with project.existing_state() or nullcontext() as state:
        if state is None or compared.applied is None:
            return EnvironmentOutlook(False, False, False, tables)
        change = state.open_change(compared.plan.flow, environment)
        is_built = (
            change is not None
            and change.base == compared.revision
            and change.plan.fingerprint == compared.plan.fingerprint
        )
        return EnvironmentOutlook(_has_run(state, compared.plan.flow), change is not None, is_built, tables)


def _has_run(state: StateStore, flow: str) -> bool:
    try:
        require_history(state, flow)
    except StateConflictError:
        return False
    return True


def run(
    project: Project,
    flow: str,
    environment: str,
    *,
    once: bool,
    say: Callable[[str], None] = lambda _: None,
    on_execution: Callable[[FlowExecution], None] = lambda _: None,
) -> Change:
    """Keep an environment up to date until stopped, or with `once` until what waits is there.

    Raises:
        NoEnvironmentError: there is none.
        LeaseHeldError: another process does so.
    """
    _check(project, flow, environment)
    with opened(project, say=say) as open_:
        change = of(open_.state, flow, environment)
        building = Building(open_, change, say)
        building.fill()
        execution = building.execution()
        on_execution(execution)
        say(f"running in {environment}")
        with ending(execution.stop):
            execution.run(once=once)
        return change


def diff(project: Project, flow: str, environment: str, say: Callable[[str], None] = lambda _: None) -> Change:
    """Bring an environment to where production is, audit it and compare it with what serves; nothing is promoted.

    Returns:
        The change of the environment, with its review, which the journal has now too.

    Raises:
        NoEnvironmentError: there is none.
        ChangeFailedError: it cannot be looked at.
    """
    _check(project, flow, environment)
    with opened(project, say=say) as open_:
        change = of(open_.state, flow, environment)
        building = Building(open_, change, say)
        building.fill()
        at, notes = reached(open_.state, change), []
        try:
            at = building.catch_up()
        except LeaseHeldError:
            notes.append(f"{environment} runs, and may have read less than production, or more")
        else:
            read = furthest(building.plan, building.last)
            if not covers(at, {name: position for name, position in read.items() if name in at}):
                notes.append(f"{environment} has read further than production: what came since differs too")
        open_.state.note_review(change, Reviewing(building, at).review(*notes))
        return of(open_.state, flow, environment)


def discard(
    project: Project, flow: str, environment: str, say: Callable[[str], None] = lambda _: None
) -> Change | UnreadableChange:
    """Drop an environment and its tables; those of one that cannot be read stay: it is not known what it built.

    Raises:
        NoEnvironmentError: there is none.
    """
    if (unreadable := _given_up_unread(project, flow, environment)) is not None:
        return unreadable
    _check(project, flow, environment)
    with opened(project, say=say) as open_:
        change = of(open_.state, flow, environment)
        open_.state.withdraw_change(flow, environment)
        Building(open_, change, say).discard()
        return change


def _given_up_unread(project: Project, flow: str, environment: str) -> UnreadableChange | None:
    """An environment that cannot be read, after it was given up; None: it can be read, or there is none."""
    state = project.existing_state()
    if state is None:
        return None
    unreadable: list[UnreadableChange] = []
    with state:
        state.environments(unreadable)
        for one in unreadable:
            if (one.flow, one.environment) == (flow, environment):
                state.withdraw_change(flow, environment)
                return replace(one, phase=Phase.WITHDRAWN)
    return None


def is_environment(project: Project, environment: str) -> bool:
    """Whether any flow has an environment of this name, be it one that cannot be read."""
    state = project.existing_state()
    if state is None:
        return False
    with state:
        return environment in {name for _, name in _environments(state)}


def _environments(state: StateStore) -> set[tuple[str, str | None]]:
    """Flow and name of every environment, also of those that cannot be read."""
    unreadable: list[UnreadableChange] = []
    found = {(one.flow, one.environment) for one in state.environments(unreadable)}
    return found | {(one.flow, one.environment) for one in unreadable}


def require_environment(project: Project, environment: str, *, hint: str = "see: streamhouse env list") -> None:
    """Refuse the name of an environment that no flow has.

    Raises:
        NoEnvironmentError: see above.
    """
    if not is_environment(project, environment):
        raise NoEnvironmentError(f"no flow has an environment '{environment}'", hint=hint)


def _check_name(environment: str) -> None:
    try:
        environment_name(environment)
    except ValueError as error:
        raise NoEnvironmentError(str(error)) from error


def _check(project: Project, flow: str, environment: str) -> None:
    """Refuse a name that is not known before anything is started; see `of`."""
    state = project.existing_state()
    if state is None:
        desired_plan(project, flow)  # says what is wrong with its name
        raise NoEnvironmentError(
            f"{flow} has no environment '{environment}'", hint=f"make one: streamhouse apply {flow} --env {environment}"
        )
    with state:
        of(state, flow, environment)


def of(state: StateStore, flow: str, environment: str) -> Change:
    """The change that an environment of a flow holds.

    Raises:
        UnknownFlowError: no such flow was ever applied.
        NoEnvironmentError: there is none.
    """
    change = state.open_change(flow, environment)
    if change is None:
        if flow not in (flows := state.flows()):
            raise UnknownFlowError(flow, flows)
        known = sorted(str(name) for of_flow, name in _environments(state) if of_flow == flow)
        raise NoEnvironmentError(
            f"{flow} has no environment '{environment}'",
            hint=f"it has: {', '.join(known)}" if known else f"make one: streamhouse apply {flow} --env {environment}",
        )
    return change


def catalog(state: StateStore, environment: str, unreadable: Unreadable | None = None) -> Catalog:
    """Every table as an environment has it, or else production.

    Args:
        state: Of the project.
        environment: Its name.
        unreadable: As of `state.plans.newest_of_all`; also of flows whose environment of that name cannot be read.

    Raises:
        NoEnvironmentError: no flow has one of that name.
    """
    unread: list[UnreadableChange] = []
    changes = [change for change in state.environments(unread) if change.environment == environment]
    unknown = {one.flow: one.error for one in unread if one.environment == environment}
    if not changes and not unknown:
        raise NoEnvironmentError(f"no flow has an environment '{environment}'", hint="see: streamhouse env list")
    plans = {flow: plan for flow, (_, plan) in state.plans(unreadable).items() if flow not in unknown}.values()
    for flow, error in unknown.items():
        with noting(unreadable, flow):
            raise error
    tables = {name: table_at(t, state.versions()) for plan in plans for name, t in plan.tables.items()}
    for change in changes:
        versions = wanted_versions(state, change)
        tables |= {name: table_at(change.plan.tables[name], versions) for name in change.versions}
    return tables
