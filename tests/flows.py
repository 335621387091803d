"""A flow of a test's project: its process, its stores, and what its tables must hold."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.base import Store
from tests.oracle import assert_same_rows, batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


def command(project: Project, flow: str) -> list[str]:
    """The command that drains the flow in a process of its own."""
    program = Path(sys.executable).with_name("streamhouse")
    return [str(program), "run", flow, "--once", "--project", str(project.root)]


def with_stores(
    project: Project, flow: str, spark: "SparkSession", act: Callable[[FlowPlan, dict[Tier, Store]], T]
) -> T:
    """What `act` gives for the flow's plan and the stores, which are open only so long."""
    assert project.settings.fluss is not None
    stores = open_stores(project, spark, project.settings.fluss)
    try:
        return act(plan_of(project, flow), stores)
    finally:
        for store in stores.values():
            store.close()


def drop_tables(project: Project, flow: str, spark: "SparkSession") -> None:
    """Drop every table of the flow, in each tier."""

    def drop(plan: FlowPlan, stores: dict[Tier, Store]) -> None:
        for table in plan.tables.values():
            for tier in table.tiers.present:
                stores[tier].drop(table.name)

    with_stores(project, flow, spark, drop)


def assert_equals_batch(project: Project, flow: str, spark: "SparkSession") -> None:
    """Every table of the flow holds what its SQL makes of all rows of its sources, run once."""
    assert_holds(project, flow, spark, batch_of(project, flow, spark))


def batch_of(project: Project, flow: str, spark: "SparkSession") -> dict[str, pa.Table]:
    """Table → what the flow's SQL makes of all rows of its sources, run once."""
    plan = plan_of(project, flow)
    sources = {}
    for source in plan.sources:
        opened = open_source(source, project.root)
        sources[source.name] = opened.read({}, opened.available())
    return batch(spark, plan, sources)


def assert_holds(project: Project, flow: str, spark: "SparkSession", expected: Mapping[str, pa.Table]) -> None:
    """Every table of the flow holds the rows of `expected`, in its target tier."""

    def compare(plan: FlowPlan, stores: dict[Tier, Store]) -> None:
        for name, table in plan.tables.items():
            actual = stores[table.tiers.target].read_state(table)
            assert_same_rows(actual, expected[name], key=table.primary_key, name=name)

    with_stores(project, flow, spark, compare)
