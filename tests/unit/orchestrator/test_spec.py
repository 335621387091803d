"""What Airflow shall run for a flow: stable text, and stable names."""

import json
import re
from pathlib import Path

import pytest

from streamhouse.orchestrator.compiled import Compiled, file_stem
from streamhouse.orchestrator.files import MANIFEST, files_of, with_project_error
from streamhouse.orchestrator.spec import FlowSpec, flow_spec
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.registry import Registry

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def specs():
    """The flows of this repository."""
    checked = check_project(Project(ROOT, Settings()))
    registry = Registry.load(ROOT)
    assert not checked.errors
    made = {}
    for name, plan in checked.plans.items():
        file = registry.flows[name].at.file
        sql = {f"{s.action}@{s.version}": registry.action(f"{s.action}@{s.version}").sql for s in plan.steps}
        made[name] = flow_spec(plan, file=file, yaml=(ROOT / file).read_text(), sql=sql)
    return made


@pytest.mark.parametrize("flow", ["retail", "attribution"])
def test_the_dags_of_a_flow(specs, flow, golden):
    document = specs[flow].model_dump(mode="json", exclude_defaults=True)
    for dag in document["dags"]:
        dag["doc"] = dag["doc"].splitlines()
    text = json.dumps(document, indent=1, ensure_ascii=False)
    golden(text + "\n", HERE / "golden" / f"{flow}.dags.json")


def test_it_reads_back_as_it_is(specs):
    for spec in specs.values():
        assert FlowSpec.model_validate_json(spec.model_dump_json(exclude_defaults=True)) == spec


def test_nothing_in_it_changes_by_itself(specs):
    """Airflow would count a new version of the DAG."""
    for spec in specs.values():
        text = spec.model_dump_json()
        assert str(ROOT) not in text
        assert not re.search(r"[0-9a-f]{16}", text), "a hash"


def test_each_asset_has_one_name_and_one_address(specs):
    found = {
        (asset.name, asset.uri)
        for spec in specs.values()
        for dag in spec.dags
        for task in dag.tasks
        for asset in (*task.inlets, *task.outlets)
    }
    assert len({name for name, _ in found}) == len({uri for _, uri in found}) == len(found)
    assert ("dwd.sales", "fluss://dwd/sales") in found
    assert ("dwd.sales (cold)", "iceberg://dwd/sales") in found


def test_files_of_a_broken_flow_raise_what_is_wrong(specs):
    error = "flows/bad.yaml:7:11: SH201 unknown action 'a\"b'''\\n'\n  hint: did you mean 'ab'?"
    files = files_of(Compiled(dict(specs), dict.fromkeys(specs, "flow: '''x\\y\"\"\"'\n"), {"bad": error}))
    assert sorted(files) == sorted(
        ["_project.py", MANIFEST, "bad.py", *(f"{flow}.{end}" for flow in specs for end in ("json", "py"))]
    )
    for name, text in files.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
            assert "dag" in text
            assert "airflow" in text.lower(), "else Airflow passes it over"
    said = []
    code = files["bad.py"].replace("from streamhouse.orchestrator.dags import broken", "")
    exec(code, {"broken": said.append})
    assert said == [error]
    assert json.loads(files[MANIFEST]) == {"flows": sorted(specs), "broken": {"bad": error}}


def test_an_error_of_the_project_leaves_the_flows_as_they_were(specs):
    good = files_of(Compiled(dict(specs), dict.fromkeys(specs, ""), {}))
    after = with_project_error(good, "streamhouse.yaml:1:1: SH102 unknown key 'x'")
    assert {name: after[name] for name in good if name != MANIFEST} == {n: t for n, t in good.items() if n != MANIFEST}
    assert "SH102" in after["_project_error.py"]
    assert with_project_error(after, "another")["retail.py"] == good["retail.py"]


@pytest.mark.parametrize(("name", "stem"), [("retail", "retail"), ("../Bad Flow", "___bad_flow"), ("", "unnamed")])
def test_a_broken_name_is_no_path(name, stem):
    assert file_stem(name) == stem


def test_the_shortest_hot_tier_sets_how_often_copies_are_made(specs):
    (dag,) = [dag for dag in specs["retail"].dags if dag.id == "tier__retail"]
    assert dag.every == 15 * 60
