"""What tasks of Airflow make of tables that are lost: in Airflow's environment, with what the command really prints."""

import json
import subprocess
import sys

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import StateConflictError
from streamhouse.state.store import StateStore
from tests.airflow.site import ENGINE, environment
from tests.control_plane import program
from tests.damage import damaged
from tests.gate.levels import deep
from tests.unit.runtime.test_damaged_unread import project, snapshot

__all__ = ["project"]
pytestmark = [pytest.mark.airflow, deep("the texts stay in `test_damaged_lakes`; here Airflow's classes end tasks")]
TASKS = """
import json, logging, os, sys
from streamhouse.orchestrator import operators
from streamhouse.orchestrator.engine_command import resolve

operators.engine_command = lambda: resolve(None, os.environ)
lines, found = [], {}
handler, log = logging.Handler(), logging.getLogger("told")
handler.emit = lambda record: lines.append([record.levelname, record.getMessage()])
log.addHandler(handler)
log.setLevel(logging.INFO)
log.propagate = False
for name in sys.argv[2:]:
    operator = type(name, (getattr(operators, name),), {"log": log})
    flow = {"flow": "f"} if issubclass(operator, operators.FlowOperator) else {}
    try:
        end = operator(task_id="task", project=sys.argv[1], **flow).execute({})
    except Exception as error:
        end = [type(error).__name__, str(error)]
    found[name] = {"end": end, "log": [*lines]}
    lines.clear()
print(json.dumps(found))
"""


@pytest.fixture
def tasks(tmp_path, project):
    """Runs tasks of these classes one after the other; how each ended, and what its log says."""

    def run(*classes, command=str(ENGINE)):
        settings = environment(AIRFLOW_HOME=str(tmp_path / "airflow"), STREAMHOUSE_COMMAND=command)
        words = [program("python"), "-c", TASKS, str(project.root), *classes]
        done = subprocess.run(words, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_a_look_logs_what_is_lost_and_goes_on_and_the_autopilot_fails_with_it(project, tasks):
    """The questions of other flows must reach their people; an autopilot has nothing else to do."""
    (project.root / "streamhouse.yaml").write_text("autopilot: {mode: suggest}\n")
    with damaged(snapshot(project, 3), "cut"):
        found = tasks("LookOperator", "AutopilotOperator")
    look, autopilot = found["LookOperator"], found["AutopilotOperator"]
    assert look["end"] == []
    [lost, *_] = [text for level, text in look["log"] if level == "ERROR"]
    assert lost.startswith("f: SH400 ods.read in the warm tier is damaged")
    assert lost.endswith("streamhouse restore f --from-sources")
    kind, text = autopilot["end"]
    assert kind == "AirflowFailException"
    assert lost in text


def test_a_task_that_needs_a_lost_table_fails_with_the_command_that_helps(project, tasks, monkeypatch, capsys):
    def refuse(*_, **__):
        raise StateConflictError("ods.read is gone", hint="see what is lost: streamhouse restore f --dry-run")

    monkeypatch.setattr(StateStore, "plans", refuse)
    printed = {}
    for word in ("tier", "upkeep"):
        capsys.readouterr()
        code = main([word, "f", "--json"])
        printed[word] = (capsys.readouterr().out, code)
    script = project.root / "printed.py"
    script.write_text(f"import sys\ntext, code = {printed!r}[sys.argv[1]]\nprint(text)\nsys.exit(code)\n")
    found = tasks("TierOperator", "UpkeepOperator", command=f"{sys.executable} {script}")
    text = "SH504 ods.read is gone\n  hint: see what is lost: streamhouse restore f --dry-run"
    assert [one["end"] for one in found.values()] == [["AirflowException", text]] * 2
