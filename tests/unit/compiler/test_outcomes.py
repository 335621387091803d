"""The rule table by examples: what an edit of the project in `base` does, as people read it.

A case is a folder of `tests/fixtures/outcomes/cases`: `new/` holds the edited files, `old/` those that differ
from `base` before the edit, `outcome.txt` what `streamhouse plan` says.
"""

import io
import shutil
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from streamhouse.cli.output import CommandOutput
from streamhouse.cli.plan import show_diff
from streamhouse.compiler import compile_project
from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Strategy
from streamhouse.registry.registry import Registry
from streamhouse.upstream.view import FlowView
from tests.columns import columns_of
from tests.golden import Golden

OUTCOMES = Path(__file__).parents[2] / "fixtures" / "outcomes"
BASE = OUTCOMES / "base"
CASES = sorted(p for p in (OUTCOMES / "cases").iterdir() if p.is_dir())
AGE = timedelta(days=40)


def plans(folder: Path, applied: FlowPlan | None = None) -> dict[str, FlowPlan]:
    """The plans of a project; as `streamhouse plan` compiles them where a flow is applied already."""
    registry = Registry.load(folder)
    registry.check()
    written = yaml.safe_load((folder / "sources.yaml").read_text())
    sources = {
        flow: {name: columns_of(types) for name, types in (declared or {}).items()}
        for flow, declared in written.items()
    }
    views = {applied.flow: FlowView.of(registry.flow(applied.flow), applied, ())} if applied is not None else None
    return compile_project(registry.flows.values(), registry, sources, views=views)


def project(folder: Path, *layers: Path) -> dict[str, FlowPlan]:
    for layer in (BASE, *layers):
        if layer.exists():
            shutil.copytree(layer, folder, dirs_exist_ok=True)
    return plans(folder)


@cache
def base() -> dict[str, FlowPlan]:
    """The plans of the project as it is before any edit."""
    return plans(BASE)


@cache
def changed(case: Path) -> tuple[FlowPlan, FlowPlan, dict[str, FlowPlan]]:
    """The flow `shop` before and after the edit of a case, and the other flow as it runs."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        before = project(folder / "old", case / "old") if (case / "old").exists() else base()
        shutil.copytree(BASE, folder / "new")
        if "read" in case.name:  # the other flow has not followed yet, so its file would not compile
            (folder / "new" / "flows" / "reports.yaml").unlink()
        shutil.copytree(case / "new", folder / "new", dirs_exist_ok=True)
        after = plans(folder / "new", before["shop"])
    return before["shop"], after["shop"], {"reports": before["reports"]}


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_case(case: Path, golden: Golden) -> None:
    old, new, others = changed(case)
    found = diff(old, new, others, age=AGE)
    text = io.StringIO()
    show_diff(found, CommandOutput(as_json=False, stream=text))
    golden(f"{found.outcome}\n\n{text.getvalue()}", case / "outcome.txt")
    assert FlowDiff.model_validate_json(found.model_dump_json()) == found
    assert {step.table for step in found.steps} >= set(old.tables) - {t.table for t in found.tables}
    assert {table.table for table in found.tables} == {*old.tables, *new.tables}
    assert _rule(case) in {f.rule for s in found.steps for f in s.findings} | {f.rule for f in found.settings}


def _rule(case: Path) -> int:
    """The one that the case is named after, or what it comes to."""
    if case.name == "15_group_keys_turned_merge":
        return 1
    number = int(case.name[:2])
    return {2: 1, 28: 13, 90: 0, 91: 5, 93: 0}.get(number, number)


def test_nothing_changed() -> None:
    found = base()
    for name, plan in found.items():
        others = {other: p for other, p in found.items() if other != name}
        same = diff(plan, plan, others)
        assert same == diff(plan, plan.model_copy(), others), "what is not looked at is what would be found"
        assert {step.outcome for step in same.steps} == {Outcome.NO_OP}
        assert (same.outcome, same.settings) == (Outcome.NO_OP, ())
        assert all(step.change == "same" and not step.findings for step in same.steps)


def test_a_flow_that_was_never_applied() -> None:
    found = base()
    new = diff(None, found["shop"], {})
    assert {step.change for step in new.steps} == {"new"}
    assert new.outcome is Outcome.SWAP
    assert all(tier.ddl[0].kind == "create" for table in new.tables for tier in table.tiers)


COMPILED = OUTCOMES.parent / "compile" / "valid"


@pytest.mark.parametrize("folder", [*COMPILED.iterdir()], ids=lambda p: p.name)
def test_a_new_version_of_every_action_changes_nothing(folder: Path) -> None:
    for plan in plans(folder).values():
        steps = {step.id: step.model_copy(update={"version": "9.9.9"}) for step in plan.steps}
        segments = tuple(
            segment.model_copy(update={"steps": tuple(steps[step.id] for step in segment.steps)})
            for segment in plan.segments
        )
        found = diff(plan, plan.model_copy(update={"segments": segments}), {})
        assert {finding.rule for step in found.steps for finding in step.findings} == {36}
        assert found.outcome is Outcome.NO_OP


def test_sql_that_is_not_known_any_more_blocks() -> None:
    plan = base()["shop"]
    unknown = tuple(
        segment.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(update={"sql": step.sql.replace("UPPER", "FORMER_NAME")}) for step in segment.steps
                )
            }
        )
        for segment in plan.segments
    )
    found = diff(plan.model_copy(update={"segments": unknown}), plan, {})
    (step,) = [step for step in found.steps if step.outcome is not Outcome.NO_OP]
    assert (step.step, step.outcome, step.findings[0].rule) == ("dwd.orders", Outcome.BLOCK, 0)


@pytest.mark.parametrize(
    ("check", "word", "strategy"),
    [
        ("orders > 1", "drop", Strategy.RECOMPUTE),
        ("cents >= 0 AND store > 0", "quarantine", Strategy.RECOMPUTE),
        ("orders > 1", "fail", Strategy.RECOMPUTE),
        ("orders > 1", "warn", Strategy.MERGE),
        ("store > 0", "drop", Strategy.MERGE),
        ("STORE > 0", "fail", Strategy.MERGE),
    ],
)
def test_what_an_expectation_keeps_out_of_a_folded_table_is_judged_by_whole_rows(
    tmp_path: Path, check: str, word: str, strategy: Strategy
) -> None:
    rule = f'inputs: {{orders: {{}}}}\nexpect:\n  fine: {{check: "{check}", on_violation: {word}}}\n'
    sums = (BASE / "actions" / "sums_by_store.sql").read_text().replace("inputs: {orders: {}}\n", rule)
    (tmp_path / "layer" / "actions").mkdir(parents=True)
    (tmp_path / "layer" / "actions" / "sums_by_store.sql").write_text(sums)
    plan = project(tmp_path / "made", tmp_path / "layer")["shop"]
    [step] = (step for step in plan.steps if step.id == "dws.sums_by_store")
    assert step.strategy is strategy
    if strategy is Strategy.RECOMPUTE:
        assert f"fine ({word}) judges whole rows by" in step.reason
        assert not step.writes.merge
