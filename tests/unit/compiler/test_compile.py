"""Whole projects: plans and messages as text."""

from pathlib import Path

import pytest
import yaml

from streamhouse.compiler import compile_flow, compile_project, explain
from streamhouse.compiler.segments import check_streams
from streamhouse.errors import DefinitionError, DefinitionErrors, StreamhouseError, UnknownActionError
from streamhouse.model.action import Action, Output
from streamhouse.model.flow import Flow, Read, Source, Step
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import ReadMode, StepKind, Strategy, Tier
from streamhouse.registry.registry import Registry
from tests.columns import columns_of
from tests.golden import Golden
from tests.tables import each
from tests.work import calls_in

FIXTURES = Path(__file__).parents[2] / "fixtures" / "compile"
INVALID = sorted(p for p in (FIXTURES / "invalid").iterdir() if p.is_dir())
VALID = sorted(p for p in (FIXTURES / "valid").iterdir() if p.is_dir())
RETAIL = FIXTURES / "valid" / "retail"


def _plans(project: Path) -> dict[str, FlowPlan]:
    registry = Registry.load(project)
    registry.check()
    written = yaml.safe_load((project / "sources.yaml").read_text())
    sources = {
        flow: {name: columns_of(types) for name, types in declared.items()} for flow, declared in written.items()
    }
    return compile_project(registry.flows.values(), registry, sources)


@each("project", INVALID, ids=lambda p: p.name)
def test_refused(project: Path, golden: Golden) -> None:
    with pytest.raises(StreamhouseError) as refused:
        _plans(project)
    found = refused.value.errors if isinstance(refused.value, DefinitionErrors) else (refused.value,)
    assert all(isinstance(error, DefinitionError) and error.at and error.at.file for error in found)
    golden(f"{refused.value}\n", project / "message.txt")


@pytest.mark.parametrize("project", VALID, ids=lambda p: p.name)
def test_explained(project: Path, golden: Golden) -> None:
    text = "\n\n".join(str(explain(plan)) for plan in _plans(project).values())
    golden(f"{text}\n", project / "explain.txt")


@pytest.mark.parametrize("project", VALID, ids=lambda p: p.name)
def test_sql(project: Path, golden: Golden) -> None:
    steps = [step for plan in _plans(project).values() for step in plan.steps]
    golden("".join(f"-- {step.writes.name}\n{step.sql}\n" for step in steps), project / "steps.sql")


def test_order_of_steps_in_the_file_does_not_matter() -> None:
    registry = Registry.load(RETAIL)
    flow = registry.flow("retail")
    sources = {
        name: columns_of(types)
        for name, types in yaml.safe_load((RETAIL / "sources.yaml").read_text())["retail"].items()
    }
    turned = flow.model_copy(update={"steps": tuple(reversed(flow.steps))})
    plan = compile_flow(flow, registry, sources)
    assert compile_flow(turned, registry, sources) == plan
    assert plan.fingerprint == FlowPlan.model_validate_json(plan.model_dump_json()).fingerprint


def test_explained_data_is_plain() -> None:
    plan = next(iter(_plans(RETAIL).values()))
    data = explain(plan).as_dict()
    assert [s["writes"] for s in data["steps"]] == [s.writes.name for s in plan.steps]
    assert data["steps"][0]["primary_key"] == ("product_id",)


# --- flows in code ---


class _Actions:
    def __init__(self, *actions: Action) -> None:
        self._held = {action.action: action for action in actions}

    def action(self, use: str) -> Action:
        if use not in self._held:
            raise UnknownActionError(use, self._held)
        return self._held[use]


def _action(name: str, kind: StepKind, sql: str, *ports: str, key: tuple[str, ...] = ()) -> Action:
    return Action(action=name, step=kind, inputs={p: {} for p in ports}, sql=sql, output=Output(primary_key=key))


def _step(use: str, writes: str, **reads: str) -> Step:
    ports = {
        port: Read(table=table.removeprefix("lookup "), mode=ReadMode.LOOKUP if "lookup" in table else ReadMode.CHANGES)
        for port, table in reads.items()
    }
    return Step(use=use, reads=ports, writes=writes)


INGEST = _action("ingest", StepKind.INGEST, "SELECT * FROM rows", "rows")
KEYED = _action("keyed", StepKind.INGEST, "SELECT * FROM rows", "rows", key=("id",))
COLUMNS = columns_of({"id": "bigint not null", "Dept": "string not null", "n": "int"})


def _source(name: str) -> dict[str, Source]:
    return {name: Source(name=name, kind="files")}


def test_sources_that_feed_a_lookup_load_first() -> None:
    join = _action("join", StepKind.CLEAN, "SELECT a.id, b.dept FROM a JOIN b ON a.id = b.id", "a", "b")
    flow = Flow(
        flow="f",
        sources=_source("facts") | _source("dims") | _source("unused"),
        steps=(
            _step("join", "dwd.j", a="ods.facts", b="lookup ods.dims"),
            _step("ingest", "ods.facts", rows="facts"),
            _step("keyed", "ods.dims", rows="dims"),
        ),
    )
    plan = compile_flow(flow, _Actions(INGEST, KEYED, join), {"facts": COLUMNS, "dims": COLUMNS})
    assert {source.name: source.loads_first for source in plan.sources} == {"dims": True, "facts": False}


def test_sources_behind_a_computed_lookup_load_first() -> None:
    first = _action("first", StepKind.CLEAN, "SELECT dept, min_by(id, n) AS id FROM r GROUP BY dept", "r")
    join = _action("join", StepKind.CLEAN, "SELECT a.id, b.id AS first FROM a JOIN b ON a.dept = b.dept", "a", "b")
    flow = Flow(
        flow="f",
        sources=_source("facts") | _source("dims"),
        steps=(_step("first", "dwd.first", r="dims"), _step("join", "dwd.j", a="facts", b="lookup dwd.first")),
    )
    plan = compile_flow(flow, _Actions(first, join), {"facts": COLUMNS, "dims": COLUMNS})
    assert [step.strategy for step in plan.steps] == [Strategy.RECOMPUTE, Strategy.MAP]
    assert {source.name: source.loads_first for source in plan.sources} == {"dims": True, "facts": False}


def test_names_of_columns_keep_the_case_of_what_is_read() -> None:
    by = _action("by", StepKind.AGGREGATE, "SELECT dept, AVG(n) AS a FROM r GROUP BY DEPT", "r")
    flow = Flow(flow="f", sources=_source("s"), steps=(_step("by", "dws.t", r="s"),))
    step = compile_flow(flow, _Actions(by), {"s": COLUMNS}).steps[0]
    assert step.reads[0].columns == ("Dept", "n")
    assert step.reads[0].key_columns == {"dept": "Dept"}
    assert step.writes.column_names == ("dept", "a")


def test_key_of_an_updated_input_is_read_even_when_the_sql_drops_it() -> None:
    by = _action("by", StepKind.AGGREGATE, "SELECT dept, SUM(n) AS s FROM r GROUP BY dept", "r")
    flow = Flow(
        flow="f",
        sources=_source("s"),
        steps=(_step("keyed", "ods.k", rows="s"), _step("by", "dws.t", r="ods.k")),
    )
    ingest, total = compile_flow(flow, _Actions(KEYED, by), {"s": COLUMNS}).steps
    assert ingest.writes.primary_key == ("id",)
    assert not ingest.writes.column("id").nullable
    assert total.strategy is Strategy.RECOMPUTE
    assert total.reads[0].key_columns == {"dept": "dept"}


def test_merge_table_names_how_each_column_folds() -> None:
    by = _action("by", StepKind.AGGREGATE, "SELECT dept, SUM(n) AS s, MIN(id) AS first FROM r GROUP BY dept", "r")
    flow = Flow(
        flow="f",
        sources=_source("s"),
        steps=(_step("by", "dws.t", r="s"),),
        tables={"dws.t": {"tiers": {"warm": "30d"}, "buckets": 3}},
    )
    table = compile_flow(flow, _Actions(by), {"s": COLUMNS}).tables["dws.t"]
    assert (table.primary_key, table.merge) == (("dept",), {"s": "sum", "first": "min"})
    assert (table.tiers.target, table.buckets) == (Tier.WARM, 3)


def test_parameters_and_expectations_are_filled_in() -> None:
    action = Action.model_validate(
        {
            "action": "least",
            "step": "clean",
            "inputs": {"r": {}},
            "params": {"least": {"type": "int", "default": 1}},
            "expect": {"some": {"check": "n >= :least", "on_violation": "drop"}},
            "sql": "SELECT id, n FROM r WHERE n >= :least",
        }
    )
    step = Step.model_validate(
        {"use": "least", "reads": {"r": {"table": "s"}}, "writes": "dwd.t", "with": {"least": 3}}
    )
    plan = compile_flow(Flow(flow="f", sources=_source("s"), steps=(step,)), _Actions(action), {"s": COLUMNS})
    assert plan.steps[0].sql == "SELECT r.id AS id, r.n AS n FROM r AS r WHERE r.n >= 3"
    assert plan.steps[0].expect["some"].check == "n >= 3"


def test_table_of_another_flow() -> None:
    table = Table(name="ods.other", columns=COLUMNS, primary_key=("id",), tiers={"hot": "7d"})
    pick = _action("pick", StepKind.CLEAN, "SELECT id, n FROM r WHERE n > 1", "r")
    flow = Flow(flow="f", steps=(_step("pick", "dwd.t", r="ods.other"),))
    plan = compile_flow(flow, _Actions(pick), {}, {"ods.other": table, "ods.more": table})
    assert plan.external == (table,)
    assert plan.steps[0].strategy is Strategy.MAP
    assert plan.steps[0].reads[0].key_columns == {"id": "id"}


def test_flows_are_compiled_after_what_they_read() -> None:
    pick = _action("pick", StepKind.CLEAN, "SELECT id, n FROM r WHERE n > 1", "r")
    reader = Flow(flow="a_reader", steps=(_step("pick", "dwd.t", r="ods.t"),))
    writer = Flow(flow="b_writer", sources=_source("s"), steps=(_step("ingest", "ods.t", rows="s"),))
    plans = compile_project([reader, writer], _Actions(INGEST, pick), {"b_writer": {"s": COLUMNS}})
    assert list(plans) == ["b_writer", "a_reader"]
    assert plans["a_reader"].external == (plans["b_writer"].tables["ods.t"],)


def test_the_work_to_compile_grows_with_the_steps_and_not_faster() -> None:
    shapes = (
        "SELECT id, upper(trim(dept)) AS d{i}, n + {i} AS n FROM r WHERE n >= {i} AND dept IS NOT NULL",
        "SELECT dept, SUM(n) AS s, COUNT(*) AS c{i}, MAX(id) AS m FROM r GROUP BY dept",
        (
            "WITH a AS (SELECT *, row_number() OVER (PARTITION BY dept ORDER BY id) AS k{i} FROM r) "
            "SELECT dept, id, k{i} FROM a WHERE k{i} < 9"
        ),
        "SELECT dept, AVG(n) AS a{i}, COUNT(DISTINCT id) AS d FROM r GROUP BY dept HAVING COUNT(*) > 1",
    )
    kinds = (StepKind.CLEAN, StepKind.AGGREGATE, StepKind.CUSTOMIZE, StepKind.AGGREGATE)

    def calls_of(numbers: range) -> int:
        """Each number is an action that was not compiled before, as parsed texts are remembered."""
        actions = [
            _action(f"a{i}", kinds[i % 4], shapes[i % 4].format(i=i), "r", key=("dept", "id") if i % 4 == 2 else ())
            for i in numbers
        ]
        steps = [_step(f"a{i}", f"{kinds[i % 4].layer}.t{i}", r="ods.t") for i in numbers]
        flow = Flow(flow="f", sources=_source("s"), steps=(_step("ingest", "ods.t", rows="s"), *steps))
        return calls_in(lambda: compile_flow(flow, _Actions(INGEST, *actions), {"s": COLUMNS}))

    calls_of(range(4))
    assert calls_of(range(100, 300)) < 6 * calls_of(range(50, 100))


def test_the_work_to_check_streams_grows_with_the_steps_and_not_faster() -> None:
    pick = _action("pick", StepKind.CLEAN, "SELECT id, dept, n FROM r", "r")

    def calls_of(steps: int) -> int:
        links = [_step("pick", f"dwd.t{i}", r=f"dwd.t{i - 1}" if i else "ods.t") for i in range(steps)]
        flow = Flow(flow="f", sources=_source("s"), steps=(_step("ingest", "ods.t", rows="s"), *links))
        plan = compile_flow(flow, _Actions(INGEST, pick), {"s": COLUMNS})
        return calls_in(lambda: check_streams(flow, plan.segments, plan.tables))

    assert calls_of(40) < 6 * calls_of(10)
