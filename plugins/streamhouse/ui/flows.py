"""How flows are doing, and one of them in full."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from streamhouse.errors import StreamhouseError, UnknownFlowError
from streamhouse.model.flow import Flow
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.project.edits import Edit
from streamhouse.registry import Registry
from streamhouse.state.flow_state import FlowReport, FlowState
from streamhouse.state.records import EpochRecord, FlowProgress, PlanRevision
from streamhouse.state.troubles import TableTrouble
from streamhouse.state.waits import WaitsOfFlows
from streamhouse.ui.answers import (
    EpochPoint,
    FlowPage,
    FlowSummary,
    LayerFreshness,
    LossAnswer,
    RunEvent,
    SourceFile,
    TierTrouble,
)
from streamhouse.ui.desk import Applied, Desk
from streamhouse.ui.losses import losses_by_flow
from streamhouse.ui.rates import rates

_EPOCHS, _EVENTS = 120, 50
_EPOCHS_OF_MANY = 20  # of each flow, where all are shown: the page asks every other second, and flows may be hundreds


@dataclass(frozen=True)
class _Around:
    """What is read once, however many flows are shown."""

    registry: Registry
    applied: Applied
    questions: Counter[str]  # flow → how many wait for a person
    waits: dict[str, list[str]]  # flow → what waits, for whom, and what to do
    edits: dict[str, Edit]
    troubles: dict[str, list[TierTrouble]]
    proposals: dict[str, list[str]]
    losses: dict[str, tuple[LossAnswer, ...]]


def summaries(desk: Desk) -> list[FlowSummary]:
    """Every flow that a file defines or that ever ran, by name."""
    around = _around(desk)
    reports = desk.flow_reports(_EPOCHS_OF_MANY, also=(*around.registry.flows, *around.registry.broken_flows))
    return [_summary(around, report, recent) for _, (report, recent) in sorted(reports.items())]


def page(desk: Desk, name: str) -> FlowPage:
    """One flow in full.

    Raises:
        UnknownFlowError: no file defines it, and it never ran.
        StreamhouseError: it never ran, and the file that defines it is wrong.
    """
    around, state = _around(desk, name), desk.state
    ran = state.flows() if state is not None else []
    if name not in ran:
        around.registry.flow(name)
    events = state.events(name, limit=_EVENTS) if state is not None else []
    recent = _recent(desk, name, _EPOCHS)
    revisions = state.history(name) if state is not None else []
    return FlowPage(
        summary=_summary(around, desk.flow_report(name), recent),
        epochs=tuple(_point(one, revisions) for one in reversed(recent)),
        events=tuple(RunEvent(flow=e.flow, kind=e.kind, text=e.text, at=e.at) for e in reversed(events)),
        source=_source(desk, around.registry, name),
    )


def _around(desk: Desk, flow: str | None = None) -> _Around:
    state = desk.state
    troubles: dict[str, list[TierTrouble]] = {}
    proposals: dict[str, list[str]] = {}
    questions: Counter[str] = Counter()
    waits: dict[str, list[str]] = {}
    if state is not None:
        questions.update(question.flow for question in state.approvals.list(flow))
        found = WaitsOfFlows.read(state, [flow] if flow is not None else None)  # what cannot be read is named as lost
        for name in found.readable:
            waits[name] = [f"{one.text}; {one.remedy}" for one in found.of(name) if not one.is_edit]
        for trouble in state.troubles.current(flow):
            troubles.setdefault(trouble.flow, []).append(_trouble(trouble))
        for one in state.autopilot.open(flow):
            proposals.setdefault(one.flow, []).append(f"{one.state}: {one.remedy} ({one.text})")
    losses = losses_by_flow(desk.losses())
    return _Around(desk.registry, desk.applied(), questions, waits, desk.edits(), troubles, proposals, losses)


def known(desk: Desk, name: str) -> tuple[int | None, FlowPlan]:
    """The revision and plan of a flow as the page shows it.

    Raises:
        UnknownFlowError: there is none.
        DefinitionErrors: files are wrong, and it was never applied.
        StateConflictError: its applied plan is damaged, or of another version of Streamhouse.
    """
    plans = desk.known_plans()
    if name in plans.applied:
        return plans.applied[name]
    if name in plans.unreadable:
        raise plans.unreadable[name]
    desk.registry.flow(name)
    shown = desk.shown()
    if name not in shown:
        desk.desired()  # raises what hides it
        raise UnknownFlowError(name, shown)
    return shown[name]


def rates_now(desk: Desk, name: str) -> dict[str, float]:
    """Table → rows written per second; of a flow that does not run, none."""
    if desk.flow_report(name).state is not FlowState.RUNNING:
        return {}
    return rates(_recent(desk, name, _EPOCHS), datetime.now(UTC))


def _summary(around: _Around, report: FlowReport, recent: Sequence[EpochRecord]) -> FlowSummary:
    progress, runs, name = report.progress, report.state is FlowState.RUNNING, report.flow
    target, described = _about(name, around.registry, around.applied)
    last, edit = recent[0] if recent else None, around.edits.get(name)
    return FlowSummary(
        flow=name,
        description=described.description if described is not None else "",
        owner=described.owner if described is not None else "",
        tags=described.tags if described is not None else (),
        state=report.state.value,
        since=progress.since,
        error=report.error,
        process=str(progress.owner) if progress.owner is not None else None,
        revision=progress.revision,
        defined=name in around.registry.flows,
        epochs=progress.epochs,
        last_epoch_at=progress.last_epoch_at,
        last_epoch_rows=sum(last.rows.values()) if last is not None else 0,
        last_epoch_ms=last.finished_ms - last.started_ms if last is not None else 0,
        target_ms=round(target.total_seconds() * 1000),
        freshness=_freshness(progress, target),
        rows=sum(progress.rows.values()),
        rows_per_second=sum(rates(recent, datetime.now(UTC)).values()) if runs else 0.0,
        questions=around.questions[name],
        waits=tuple(around.waits.get(name, ())),
        edit=edit.text if edit is not None else None,
        troubles=tuple(around.troubles.get(name, ())),
        proposals=tuple(around.proposals.get(name, ())),
        lost=around.losses.get(name, ()),
    )


def troubles_of(desk: Desk, flow: str) -> tuple[TierTrouble, ...]:
    """What goes wrong with the tiers of a flow's tables."""
    current = desk.state.troubles.current(flow) if desk.state is not None else []
    return tuple(_trouble(one) for one in current)


def _trouble(one: TableTrouble) -> TierTrouble:
    return TierTrouble(
        table=one.table,
        tier=one.tier.value,
        job=one.job,
        code=one.code,
        text=one.text,
        hint=one.hint,
        since=one.since,
        times=one.times,
    )


def _about(name: str, registry: Registry, applied: Applied) -> tuple[timedelta, Flow | FlowPlan | None]:
    """The target that runs, and where its definition comes from: its file, else what was applied."""
    flow = registry.flows.get(name)
    plan = applied[name][1] if name in applied else None
    target = plan or flow
    return (target.freshness if target is not None else timedelta(seconds=1)), flow or plan


def _freshness(progress: FlowProgress, target: timedelta) -> tuple[LayerFreshness, ...]:
    most = target.total_seconds() * 1000
    return tuple(
        LayerFreshness(
            layer=layer, last_ms=f.last_ms, p50_ms=f.p50_ms, p95_ms=f.p95_ms, epochs=f.epochs, late=f.last_ms > most
        )
        for layer, f in progress.freshness.items()
    )


def _recent(desk: Desk, name: str, limit: int) -> list[EpochRecord]:
    state = desk.state
    return state.recent_epochs(name, None, limit) if state is not None else []


def _point(one: EpochRecord, revisions: Sequence[PlanRevision]) -> EpochPoint:
    began = datetime.fromtimestamp(one.started_ms / 1000, UTC)
    return EpochPoint(
        segment=one.segment,
        epoch=one.epoch,
        revision=max((known.revision for known in revisions if known.applied_at <= began), default=None),
        finished_at=datetime.fromtimestamp(one.finished_ms / 1000, UTC),
        seconds=(one.finished_ms - one.started_ms) / 1000,
        rows=sum(one.rows.values()),
        lag_ms=max(one.layer_visible_ms.values()) - one.at_ms if one.reads else 0,
        waited_ms=one.started_ms - one.at_ms if one.reads else 0,
        tables={table_name(table): rows for table, rows in one.rows.items()},
        layers={layer: at - one.at_ms for layer, at in one.layer_visible_ms.items()},
    )


def _source(desk: Desk, registry: Registry, name: str) -> SourceFile | None:
    try:
        file = registry.flow(name).at.file
        return SourceFile(file=file, text=(desk.project.root / file).read_text(encoding="utf-8", errors="replace"))
    except (StreamhouseError, OSError):
        return None  # it is broken or gone; the plan that runs is still there
