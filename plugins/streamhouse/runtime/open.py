"""A project with everything that a running flow needs, connected."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, cast

from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.surroundings import Beat
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.session import spark_session
from streamhouse.runtime.stores import LazyStores, places
from streamhouse.services.services import running
from streamhouse.services.termination import sigterm_unwinds
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.stores.fluss.store import FlussStore


@dataclass(frozen=True)
class Open:
    """Everything a running flow needs, connected."""

    project: Project
    spark: "SparkSession"
    fluss: str | None  # host:port, where others run it; None: the hot store says it, once a table needs it
    stores: Mapping[Tier, Store]
    state: StateStore

    def places(self, tables: Iterable[Table] = ()) -> Places:
        """Where the stores are, for processes that read or write these tables."""
        fluss = self.fluss
        if fluss is None and any(table.tiers.target is Tier.HOT for table in tables):
            fluss = cast("FlussStore", self.stores[Tier.HOT]).bootstrap
        return places(self.project, fluss)


def plan_of(project: Project, flow: str) -> FlowPlan:
    """The compiled plan of a flow of the project.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
    """
    return desired_plan(project, flow)


def readers_last(plans: Mapping[str, FlowPlan]) -> list[str]:
    """The names of flows, each after those of them whose tables it reads."""
    reads = {
        name: {o for o, other in plans.items() if o != name and {t.name for t in plan.external} & set(other.tables)}
        for name, plan in plans.items()
    }
    return list(TopologicalSorter(reads).static_order())


@contextmanager
def opened(
    project: Project, *, say: Callable[[str], None] = lambda _: None, fluss_up: Callable[[], str] | None = None
) -> Iterator[Open]:
    """Bring up Spark and the state store; a store is connected to when a table first needs it, and so Fluss started.

    On leaving, what this started is stopped, and only that.

    Args:
        project: Whose.
        say: Is called with what is waited for.
        fluss_up: Starts the embedded Fluss, gives its host:port and sees to its end; None: so does this.
    """
    known = project.settings.fluss
    with sigterm_unwinds(), ExitStack() as stack:
        late = stack.enter_context(ExitStack())  # stops Fluss after all that talks to it

        def up() -> str:
            if known is not None:
                return known
            say("starting Fluss")
            if fluss_up is not None:
                return fluss_up()
            services = running(project.root, lambda s: say(s.text), ivy_settings=project.settings.ivy_settings)
            return late.enter_context(services).fluss

        say("starting Spark")
        spark = stack.enter_context(spark_session(project, say=say))
        stores = LazyStores(project, spark, up)
        stack.callback(stores.close)
        state = stack.enter_context(project.state())
        yield Open(project, spark, known, stores, state)


def execution_of(
    open_: Open,
    plan: FlowPlan,
    on_beat: Callable[[Beat], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> FlowExecution:
    """The execution of one flow over what is open, by this process.

    Args:
        open_: Everything connected.
        plan: Over the names that stores hold.
        on_beat: Called after each epoch.
        on_wait: Is called with a text for a person when a store does not answer.
    """
    return FlowExecution(
        plan,
        open_.spark,
        open_.stores,
        lambda plan: open_.places(plan.readable),
        open_.state,
        this_owner(),
        alive=is_alive,
        checkpoints=open_.project.state_dir / "checkpoints",
        cache=open_.project.state_dir / "cache" / "states",
        on_beat=on_beat,
        patience=open_.project.settings.patience,
        on_wait=on_wait,
    )
