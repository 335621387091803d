"""The demo: both flows over a year of real rows, tiered, then queried (`make demo`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from streamhouse.change.building import epochs_of_writers
from streamhouse.jobs.progress import Summary
from streamhouse.jobs.run import Meter, OnProgress, carry
from streamhouse.model.version import at_versions, table_at
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.query.answer import answer
from streamhouse.query.parse import parse_query
from streamhouse.runtime.open import opened
from streamhouse.tiering.move import MoveProgress, tier_all

if TYPE_CHECKING:
    import pyarrow as pa

FLOWS = ("retail", "attribution")
QUERIES: Mapping[str, str] = {
    "The departments that sell most (ads.top_departments, hot)": (
        "SELECT place, department, revenue_cents / 100 AS revenue, revenue_share AS share"
        " FROM ads.top_departments ORDER BY place LIMIT 5"
    ),
    "Which first campaign brought most (ads.campaign_ranking, hot)": (
        "SELECT place, campaign_id, campaign_type, households, revenue_cents / 100 AS revenue"
        " FROM ads.campaign_ranking ORDER BY place LIMIT 5"
    ),
    "Sales by quarter (dwd.sales, a union read over cold and hot)": (
        "SELECT date_trunc('QUARTER', sold_at) AS quarter, count(*) AS lines, sum(sales_cents) / 100 AS revenue"
        " FROM dwd.sales GROUP BY 1 ORDER BY 1"
    ),
    "Rows replayed (ods.transactions)": "SELECT count(*) AS transactions FROM ods.transactions",
}


class Audience(Protocol):
    """The terminal of the person who watches the demo."""

    def flow(self, name: str) -> OnProgress:
        """A flow begins; what is returned gets its progress."""

    def tiering(self, moved: MoveProgress) -> None:
        """A table went on its way to another tier."""

    def stage(self, text: str) -> None:
        """Something begins that has no progress of its own."""


@dataclass(frozen=True)
class Shown:
    """What the demo did and found: one summary for each flow, one move for each tier, one table for each query."""

    summaries: tuple[Summary, ...]
    moved: tuple[MoveProgress, ...]
    results: Mapping[str, "pa.Table"]


def run_demo(project: Project, audience: Audience, *, queries: Mapping[str, str] = QUERIES) -> Shown:
    """Run the flows until their sources are drained, fill all tiers, and answer some queries.

    Each run goes on from where the one before ended, also when that was cut off.
    """
    wanted = {name: to_run(project, name) for name in FLOWS}
    plans = {name: one.plan for name, one in wanted.items()}
    summaries: list[Summary] = []
    moved: list[MoveProgress] = []
    with opened(project, say=audience.stage) as open_:
        for name, plan in plans.items():
            meter = Meter(plan, audience.flow(name), once=True)
            summaries.append(carry(open_, plan, meter, once=True, wanted=wanted[name]))
        versions = open_.state.versions()
        for plan in plans.values():
            stored, epochs = at_versions(plan, versions), partial(epochs_of_writers, open_.state, plan.flow)
            moved += tier_all(stored, open_.stores, on_progress=audience.tiering, epochs=epochs)
        audience.stage("asking some questions")
        catalog = {n: table_at(table, versions) for plan in plans.values() for n, table in plan.tables.items()}
        results = {
            title: answer(parse_query(sql, catalog), open_.stores, open_.spark) for title, sql in queries.items()
        }
    return Shown(tuple(summaries), tuple(moved), results)
