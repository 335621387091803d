"""A proposed table follows what it reads: no hot tier where none of it has one, rows for a model where all may go."""

from pathlib import Path
from typing import Any

import pytest

from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.types import FOREVER, Strategy, Tier
from streamhouse.planner.proposal import Proposal, Status
from streamhouse.planner.propose import propose
from streamhouse.planner.request import Request, Understood
from streamhouse.planner.still_meant import request_check
from streamhouse.planner.try_files import with_edits
from streamhouse.planner.workspace import Workspace
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
from tests.shop_project import FLOW, make_shop
from tests.shop_requests import FOLDS, SOUND

TABLES = ("ods.sales", "ods.stores", "ods.clicks", "dwd.sales", "dws.sales_by_day")
KEYS = {"ods.sales": "primary_key: [id], ", "ods.stores": "primary_key: [store_id], "}
NOTE = "is in the {} tier alone: no table that it reads has a hot tier"


def _space(root: Path, tiers: dict[str, str], shown: tuple[str, ...] = ()) -> Workspace:
    """The shop, whose tables have these tiers; the rows of some may be shown to a model."""
    more = {name: KEYS.get(name, "") + ("ai: {rows: allowed}, " if name in shown else "") for name in tiers}
    lines = "".join(f"  {name}: {{{more[name]}tiers: {kept}}}\n" for name, kept in tiers.items())
    make_shop(root)
    (root / "flows" / "shop.yaml").write_text(FLOW.partition("tables:\n")[0] + "tables:\n" + lines)
    return Workspace.of(Project.at(root))


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return _space(tmp_path_factory.mktemp("warm"), dict.fromkeys(TABLES, "{warm: 30d}"))


def _proposed(space: Workspace, request: Request, **more: Any) -> Proposal:
    found = propose(Understood(request=request), "a wish", space, **more).proposal
    assert found.status is Status.PROPOSED, found.refusal
    return found


def _planned(space: Workspace, found: Proposal) -> tuple[FlowPlan, PlannedStep]:
    """The step of the new table, as the project with the files has it."""
    registry = load_registry(space.project, with_edits(space.files, found.files))
    checked = check_project(space.project, registry)
    assert not checked.errors
    plan = checked.plans[found.flow]
    return plan, next(step for step in plan.steps if step.writes.name == found.table)


@pytest.mark.parametrize("name", ["aggregate", "join", "without any", "rows that are only appended", "coarser"])
def test_a_project_without_a_hot_tier_gets_none(warm: Workspace, name: str) -> None:
    found = _proposed(warm, {**SOUND, **FOLDS}[name])
    plan, step = _planned(warm, found)
    assert (step.writes.tiers.present, step.writes.tiers.warm) == ((Tier.WARM,), FOREVER)
    assert not [table for table in plan.tables.values() if Tier.HOT in table.tiers.present]
    assert found.cost is not None
    assert found.cost.tiers == {found.table: (Tier.WARM,)}
    assert f"{found.table} {NOTE.format('warm')}" in found.assumptions
    check = request_check(found, warm)
    assert check is not None
    assert check.verdict == "passed", check.text


def test_all_else_in_the_file_of_the_flow_stays(warm: Workspace) -> None:
    found = _proposed(warm, SOUND["aggregate"])
    before, after = (edit for edit in found.files if edit.path == "flows/shop.yaml"), found.files[1].after
    (edit,) = before
    assert edit.before is not None
    new = [line for line in after.splitlines() if line not in edit.before.splitlines()]
    assert [line for line in after.splitlines() if line not in new] == edit.before.splitlines()
    assert new[-2:] == [f"  {found.table}:", "    tiers: {warm: forever}"]


def test_a_flow_of_its_own_names_the_tiers_too(warm: Workspace) -> None:
    found = _proposed(warm, SOUND["aggregate"], flow="reports")
    assert found.files[1].after.endswith(f"tables:\n  {found.table}: {{tiers: {{warm: forever}}}}\n")
    assert _planned(warm, found)[1].writes.tiers.present == (Tier.WARM,)


def test_an_action_alone_says_nothing_of_tiers(warm: Workspace) -> None:
    assert not [one for one in _proposed(warm, SOUND["aggregate"], alone=True).assumptions if "tier" in one]


def test_a_table_that_reads_a_hot_one_has_the_default(tmp_path: Path) -> None:
    mixed = _space(tmp_path, {name: "{hot: 1h}" if name == "ods.stores" else "{warm: 30d}" for name in TABLES})
    found = _proposed(mixed, SOUND["join"])
    assert _planned(mixed, found)[1].writes.tiers.present == (Tier.HOT, Tier.WARM)
    assert not [one for one in found.assumptions if "tier" in one]


def test_a_cold_project_stays_cold_and_its_groups_are_computed_again(tmp_path: Path) -> None:
    cold = _space(tmp_path, dict.fromkeys(TABLES, "{cold: 30d}") | {"dws.sales_by_day": "{warm: 30d}"})
    found = _proposed(cold, SOUND["aggregate"])
    step = _planned(cold, found)[1]
    assert (step.writes.tiers.present, step.strategy) == ((Tier.COLD,), Strategy.RECOMPUTE)
    assert f"{found.table} {NOTE.format('cold')}" in found.assumptions


def test_rows_may_be_shown_if_those_of_each_table_that_it_reads_may(tmp_path: Path) -> None:
    some = _space(tmp_path, dict.fromkeys(TABLES, "{hot: 1h}"), shown=("dwd.sales",))
    found = _proposed(some, SOUND["aggregate"])
    assert f"rows of {found.table} may be shown to a model, as those of each table that it reads" in found.assumptions
    assert f"\n  {found.table}:\n    ai: {{rows: allowed}}\n" in found.files[1].after
    joined = _proposed(some, SOUND["join"])
    assert joined.files[1].after.count("rows: allowed") == 1, "ods.stores keeps its rows"
    assert not [one for one in joined.assumptions if "model" in one]
