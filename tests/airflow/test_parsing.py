"""What Airflow parses: it costs little, loads nothing of the engine, and one broken flow hides no other."""

import json
import re
import subprocess

import pytest

from streamhouse.cli.init import write_project
from tests.airflow.site import environment
from tests.control_plane import ROOT, program
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.airflow,
    deep(
        "many files of DAGs in processes of their own",
        stays=("test_a_broken_flow_is_one_import_error_with_its_place",),
    ),
]
FLOWS = 100
DAGS = ("flow__orders", "quality__orders", "tier__orders", "upkeep__orders")
PROJECT_DAGS = ["flow_approval", "flow_commits", "flow_trigger"]


@pytest.fixture
def project(tmp_path):
    write_project(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def control_plane(tmp_path):
    """Runs `parse.py` in the environment of Airflow; what it printed last, as JSON."""
    home = tmp_path / "airflow"
    (home / "plugins").mkdir(parents=True)
    settings = environment(
        AIRFLOW_HOME=str(home),
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__PLUGINS_FOLDER=str(home / "plugins"),
        AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_STORAGE_PATH=str(home / "bundles"),
        AIRFLOW__DAG_PROCESSOR__DAG_VERSION_INFLATION_CHECK_LEVEL="error",
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
    )

    def run(*arguments, **more):
        command = [program("python"), ROOT / "tests" / "airflow" / "parse.py", *arguments]
        done = subprocess.run(command, env=settings | more, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"exit {done.returncode} of parse.py\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        return json.loads(done.stdout.splitlines()[-1])

    return run


def many(project):
    text = (project / "flows" / "orders.yaml").read_text()
    (project / "flows" / "orders.yaml").unlink()
    for number in range(FLOWS):
        one = re.sub(r"(ods|dwd|dws)\.(\w+)", rf"\1.\2_{number}", text).replace(
            "flow: orders", f"flow: orders_{number}"
        )
        one += f"tables: {{dwd.orders_{number}: {{tiers: {{hot: 7d, warm: 30d}}}}}}\n"
        (project / "flows" / f"orders_{number}.yaml").write_text(one)


def test_a_hundred_flows_are_parsed_each_for_itself_and_load_nothing_of_the_engine(project, control_plane):
    many(project)
    found = control_plane("--project", project)
    assert not found["errors"]
    assert len(found["dags"]) == 4 * FLOWS + len(PROJECT_DAGS)
    assert found["loaded"] == []
    assert found["most_reads"] < 10, "Airflow reads a file some times, and no flow reads those of all others"
    assert found["is_same"], "parsed twice it is the same: Airflow counts no new version"
    assert not found["names_places"], "a path in a task's arguments would be a version of its own on each machine"


def test_the_autopilot_has_a_dag_unless_it_is_off(project, control_plane):
    (project / "streamhouse.yaml").write_text("autopilot: {mode: suggest}\n")
    found = control_plane("--project", project)
    assert not found["errors"]
    assert found["dags"] == sorted([*PROJECT_DAGS, *DAGS, "streamhouse_autopilot"])
    assert found["loaded"] == []
    (project / "dags").mkdir()
    (project / "dags" / "streamhouse_flows.py").write_bytes((ROOT / "dags" / "streamhouse_flows.py").read_bytes())
    assert "streamhouse_autopilot" in control_plane(project / "dags")["dags"]


def test_a_broken_flow_is_one_import_error_with_its_place(project, control_plane):
    broken = "flow: bad\nsteps:\n  - {use: clean_oders, reads: {orders: ods.orders}, writes: dwd.bad}\n"
    (project / "flows" / "bad.yaml").write_text(broken)
    (project / "flows" / "torn.yaml").write_text("flow: torn\nsteps: [\n")
    found = control_plane("--project", project)
    assert found["dags"] == sorted([*PROJECT_DAGS, *DAGS])
    assert sorted(name.rpartition("/")[2] for name in found["errors"]) == ["bad.py", "torn.py"]
    told = {name.rpartition("/")[2]: text for name, text in found["errors"].items()}
    assert "flows/bad.yaml:3:11: SH201 unknown action 'clean_oders'" in told["bad.py"]
    assert "hint: did you mean 'clean_orders'?" in told["bad.py"]
    assert re.search(r"flows/torn\.yaml:\d+:\d+: SH101 ", told["torn.py"])
    assert found["data"]["flows"] == ["orders"]
    assert sorted(found["data"]["broken"]) == ["bad", "torn"]


def test_a_version_holds_what_it_was_made_of(project, control_plane):
    first = control_plane("--project", project)
    assert not first["was_there"], "nothing is compiled before the first look, and to ask where it is fails nowhere"
    assert first["is_stable"], "nothing changed between two looks"
    flow = project / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("flow: orders", "flow: orders\nowner: shop"))
    second = control_plane("--project", project)
    assert second["version"] != first["version"]
    again = control_plane("--project", project, "--version", first["version"])
    assert {name: again[name] for name in ("folder", "data")} == {name: first[name] for name in ("folder", "data")}


def test_settings_that_are_broken_leave_the_flows_as_they_were(project, control_plane):
    control_plane("--project", project)
    (project / "streamhouse.yaml").write_text("fuss: host:1\n")
    found = control_plane("--project", project)
    assert found["dags"] == sorted([*PROJECT_DAGS, *DAGS])
    (error,) = found["errors"].values()
    assert "streamhouse.yaml:1:1: SH102 unknown key 'fuss'" in error


def test_the_plain_file_makes_the_same_dags(project, control_plane):
    (project / "flows" / "bad.yaml").write_text("flow: bad\nsteps: []\n")
    (project / "dags").mkdir()
    (project / "dags" / "streamhouse_flows.py").write_bytes((ROOT / "dags" / "streamhouse_flows.py").read_bytes())
    found = control_plane(project / "dags")
    assert found["dags"] == sorted([*PROJECT_DAGS, *DAGS])
    assert not found["errors"]
    bundle = json.dumps([{"name": "flows", "classpath": "streamhouse.orchestrator.bundle.FlowBundle", "kwargs": {}}])
    told = control_plane(project / "dags", AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST=bundle)
    assert told["dags"] == [], "a bundle makes them; none is there twice"
