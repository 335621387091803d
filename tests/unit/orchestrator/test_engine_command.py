import json
import sys

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.orchestrator.engine_command import EngineCallError, EngineCommand, resolve


def python(code):
    return EngineCommand((sys.executable, "-c", code))


def test_the_connection_wins_over_the_variable_over_the_path():
    variable = {"STREAMHOUSE_COMMAND": "docker exec engine streamhouse"}
    assert resolve({"command": "/opt/engine/bin/streamhouse"}, variable).words == ("/opt/engine/bin/streamhouse",)
    assert resolve({"command": ["ssh", "host", "a b"]}, variable).words == ("ssh", "host", "a b")
    assert resolve({}, variable).words == ("docker", "exec", "engine", "streamhouse")
    assert resolve(None, variable).words == ("docker", "exec", "engine", "streamhouse")
    assert resolve(None, {}).words == ("streamhouse",)
    assert resolve({}, {}, ()).words == ()


def test_settings_reach_the_engine_by_its_environment_and_are_never_shown():
    conf = {"spark.hadoop.fs.s3a.secret.key": "hush"}
    command = resolve({"environment": {"AWS_TOKEN": "hush"}, "spark": {"master": "spark://m:7077", "conf": conf}}, {})
    assert command.words == ("streamhouse",)
    assert command.environment["AWS_TOKEN"] == "hush"
    assert command.environment["STREAMHOUSE_SPARK_MASTER"] == "spark://m:7077"
    assert json.loads(command.environment["STREAMHOUSE_SPARK_CONF"]) == conf
    assert "hush" not in repr(command)


@pytest.mark.parametrize(("extra", "key"), [({"comand": "x"}, "comand"), ({"spark": {"mater": "x"}}, "spark.mater")])
def test_what_the_connection_should_not_have_is_refused(extra, key):
    with pytest.raises(EnvironmentProblem, match=f"unknown key '{key}'"):
        resolve(extra, {})


def test_progress_is_told_and_the_document_returned():
    code = "import sys; print('starting', file=sys.stderr); print('{\"args\": \"' + ' '.join(sys.argv[1:]) + '\"}')"
    lines = []
    assert python(code).call(["runner", "start"], lines.append) == {"args": "runner start --json"}
    assert lines == ["starting"]


def test_what_is_added_to_the_environment_is_seen():
    words = (sys.executable, "-c", "import os, json; print(json.dumps({'x': os.environ['X']}))")
    assert EngineCommand(words, {"X": "1"}).call([]) == {"x": "1"}


def test_an_error_reads_as_the_command_prints_it():
    errors = [
        {"code": "SH201", "message": "unknown action", "file": "f.yaml", "line": 7, "column": 11, "hint": "did you?"},
        {"code": "SH202", "message": "unknown column", "file": None, "line": None, "column": None, "hint": None},
    ]
    code = f"import sys; print({json.dumps({'error': errors[0], 'errors': errors})!r}); sys.exit(3)"
    with pytest.raises(EngineCallError) as failed:
        python(code).call([])
    assert str(failed.value) == "f.yaml:7:11: SH201 unknown action\n  hint: did you?\nSH202 unknown column"
    assert failed.value.exit_status == 3


def test_an_exit_code_that_is_an_answer_comes_with_the_answer():
    code = "import sys; print('{\"lost\": [1]}'); sys.exit(6)"
    assert python(code).call([], fine=(6,)) == {"lost": [1]}
    error = {"code": "SH504", "message": "the state store is damaged"}
    with pytest.raises(EngineCallError, match="SH504 the state store is damaged"):
        python(f"import sys; print({json.dumps({'error': error})!r}); sys.exit(6)").call([], fine=(6,))
    with pytest.raises(EngineCallError, match="it ended with 6"):
        python("import os; os._exit(6)").call([], fine=(6,))


def test_a_command_that_breaks_without_a_document_gives_its_last_lines():
    with pytest.raises(EngineCallError, match="ModuleNotFoundError: No module named 'nope'"):
        python("import nope").call([])
    with pytest.raises(EngineCallError, match="it ended with 9"):
        python("import os; os._exit(9)").call([])


def test_no_command_says_where_to_name_one():
    with pytest.raises(EnvironmentProblem) as refused:
        EngineCommand(("/nowhere/streamhouse",)).call([])
    assert "/nowhere/streamhouse" in str(refused.value)
    assert "streamhouse_engine" in str(refused.value)
