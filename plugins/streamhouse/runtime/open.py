"""A project with everything that a running flow needs, connected."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from streamhouse.engine.runner import Runner
from streamhouse.engine.stream import Beat
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.session import local_session
from streamhouse.runtime.stores import open_stores, places
from streamhouse.services.services import running
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Open:
    """Everything a running flow needs, connected."""

    project: Project
    spark: "SparkSession"
    fluss: str | None
    stores: dict[Tier, Store]
    state: StateStore


def plan_of(project: Project, flow: str) -> FlowPlan:
    """The compiled plan of a flow of the project.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
    """
    return desired_plan(project, flow)


def plans_of(project: Project, flows: Sequence[str]) -> dict[str, FlowPlan]:
    """The compiled plans of flows, each after those of them whose tables it reads.

    Raises:
        UnknownFlowError, DefinitionError: as `plan_of`.
    """
    plans = {name: plan_of(project, name) for name in flows}
    reads = {
        name: {o for o, other in plans.items() if o != name and {t.name for t in plan.external} & set(other.tables)}
        for name, plan in plans.items()
    }
    return {name: plans[name] for name in TopologicalSorter(reads).static_order()}


@contextmanager
def opened(project: Project, *, say: Callable[[str], None] = lambda _: None) -> Iterator[Open]:
    """Bring up what is not up, connect to everything, and on leaving stop exactly what this started."""
    with ExitStack() as stack:
        fluss = project.settings.fluss
        if fluss is None:
            say("starting Fluss")
            services = running(project.root, lambda s: say(s.text), ivy_settings=project.settings.ivy_settings)
            fluss = stack.enter_context(services).fluss
        say("starting Spark")
        spark = local_session(project, say=say)
        stack.callback(spark.stop)
        stores = open_stores(project, spark, fluss)
        for store in stores.values():
            stack.callback(store.close)
        state = stack.enter_context(project.state())
        yield Open(project, spark, fluss, stores, state)


def runner_of(
    open_: Open,
    plan: FlowPlan,
    on_beat: Callable[[Beat], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Runner:
    """A runner of one flow over what is open; this process carries it.

    Args:
        open_: Everything connected.
        plan: Over the names that stores hold.
        on_beat: Called after each epoch.
        on_wait: Told in words for a person when a store does not answer.
    """
    return Runner(
        plan,
        open_.spark,
        open_.stores,
        places(open_.project, open_.fluss),
        open_.state,
        this_owner(),
        alive=is_alive,
        checkpoints=open_.project.state_dir / "checkpoints",
        cache=open_.project.state_dir / "cache" / "states",
        on_beat=on_beat,
        patience=open_.project.settings.patience,
        on_wait=on_wait,
    )
