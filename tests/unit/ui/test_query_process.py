import asyncio
import os
import sys
from pathlib import Path

import pytest

from streamhouse.runtime.command import Command
from streamhouse.ui import query_process
from streamhouse.ui.problem_data import ProblemError
from streamhouse.ui.query_process import Asker, engine_command
from tests.patience import PATIENCE_S, until

pytestmark = pytest.mark.proof


async def waits():
    return False


def ask(root, sql, *, engine=None, seconds=60.0, limit=10, gone=waits):
    asker = Asker(root, engine or engine_command(), seconds)
    return asyncio.run(asker.ask(sql, limit, gone))


def script(text):
    return Command((sys.executable, "-c", text))


def test_the_engines_error_is_told_with_its_place(project):
    with pytest.raises(ProblemError) as told:
        ask(project.root, "SELECT *\nFROM ods.nope")
    problem = told.value.problem
    assert (problem.status, problem.code) == (422, "SH601")
    assert (problem.file, problem.line, problem.column) == ("query", 2, 6)
    assert "unknown table 'ods.nope'" in problem.detail


def test_an_engine_that_says_nothing(project):
    with pytest.raises(ProblemError) as told:
        ask(project.root, "SELECT 1", engine=script("import sys; sys.exit('no java here')"))
    assert (told.value.problem.status, told.value.problem.hint) == (502, "no java here")


def test_a_query_that_takes_too_long_is_stopped(project, tmp_path):
    ended = tmp_path / "ended"
    slow = script(f"import pathlib, time; time.sleep(60); pathlib.Path({str(ended)!r}).touch()")
    with pytest.raises(ProblemError) as told:
        ask(project.root, "SELECT 1", engine=slow, seconds=1)
    assert told.value.problem.status == 504
    assert not ended.exists()


@pytest.mark.parametrize("answer", ["SIG_IGN", "SIG_DFL"])
def test_a_query_nobody_waits_for_is_stopped_with_all_it_started(project, tmp_path, monkeypatch, answer):
    monkeypatch.setattr(query_process, "_PATIENCE_S", 1.0)
    pid = tmp_path / "pid"
    parent = f"""
import pathlib, signal, subprocess
signal.signal(signal.SIGTERM, signal.{answer})
child = subprocess.Popen(["sleep", "60"])
pathlib.Path({str(pid)!r}).write_text(str(child.pid))
child.wait()
"""

    async def gone():
        return pid.exists() and pid.read_text() != ""

    with pytest.raises(ProblemError) as told:
        ask(project.root, "SELECT 1", engine=script(parent), gone=gone)
    assert told.value.problem.status == 408
    until(lambda: not alive(int(pid.read_text())))


def test_cells_that_javascript_would_spoil_are_text(project):
    rows = '{"n": 9007199254740993}, {"n": [1]}, {"n": NaN}, {"n": 3}'
    document = f'{{"columns": [{{"name": "n", "type": "int64"}}], "rows": [{rows}]}}'
    answer = ask(project.root, "SELECT n", engine=script(f"print({document!r})"), limit=3)
    assert answer.rows == (("9007199254740993",), ("[1]",), ("nan",))
    assert answer.more


def test_rows_as_a_file(project):
    asker = Asker(project.root, script("import sys; print(sys.argv[1:4], sys.stdin.read())"))
    told = asyncio.run(asker.file("SELECT 1", "csv", waits)).decode()
    assert told == "['query', '--format', 'csv'] SELECT 1\n"


def test_what_was_read_is_what_the_command_explains(project):
    lake = {
        "table": "dwd.orders",
        "moment": "",
        "tier": "warm",
        "columns": ["id"],
        "of_columns": 3,
        "where": ["id > 1"],
    }
    lake |= {"rows": 5, "of_rows": 9, "files": 1, "of_files": 2, "bytes": 10, "of_bytes": 20}
    past = {
        "table": "dwd.orders.history",
        "moment": "epoch 3",
        "tier": None,
        "columns": [],
        "of_columns": 2,
        "where": [],
    }
    past |= dict.fromkeys(("rows", "of_rows", "files", "of_files", "bytes", "of_bytes"))
    document = {"engine": "Spark", "reason": "asked for", "seconds": 0.25, "rows": 4, "reads": [lake, past]}
    called = f"d = {document!r}; d['engine'] = ' '.join(sys.argv[1:5]) + sys.stdin.read()"
    asker = Asker(project.root, script(f"import json, sys; {called}; print(json.dumps(d))"))
    told = asyncio.run(asker.reads("SELECT 1", waits)).model_dump(mode="json")
    assert told == {"engine": "query --explain --limit 1SELECT 1", "reason": "asked for", "reads": [lake, past]}


@pytest.mark.parametrize(
    ("said", "code", "status"),
    [
        ("starting\nquery:1:8: SH601 unknown column 'x'\n  hint: columns: a", "SH601", 422),
        ("no java here", "SH602", 502),
    ],
)
def test_a_file_that_there_cannot_be(project, said, code, status):
    asker = Asker(project.root, script(f"import sys; sys.exit({said!r})"))
    with pytest.raises(ProblemError) as refused:
        asyncio.run(asker.file("SELECT x", "parquet", waits))
    problem = refused.value.problem
    assert (problem.code, problem.status) == (code, status)
    assert problem.hint in {"columns: a", "no java here"}


def test_two_at_once_and_no_more(project):
    async def three():
        asker = Asker(project.root, script('import time; time.sleep(2); print(\'{"columns": [], "rows": []}\')'))
        return await asyncio.gather(*(asker.ask("SELECT 1", 1, waits) for _ in range(3)), return_exceptions=True)

    found = asyncio.run(three())
    assert [type(one).__name__ for one in found] == ["PageQueryAnswer", "PageQueryAnswer", "ProblemError"]
    assert found[2].problem.status == 429


def test_without_an_engine_nothing_is_asked(project, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_COMMAND", "/nowhere/streamhouse")
    assert engine_command() is None
    with pytest.raises(ProblemError) as told:
        asyncio.run(Asker(project.root, None).ask("SELECT 1", 1, waits))
    assert "STREAMHOUSE_COMMAND" in told.value.problem.hint


def alive(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_an_answer_is_counted_while_it_is_read(project):
    endless = script("import sys\nwhile True: sys.stdout.write('x' * 1_000_000)")
    with pytest.raises(ProblemError) as told:
        ask(project.root, "SELECT 1", engine=endless, seconds=PATIENCE_S)
    assert (told.value.problem.status, told.value.problem.detail) == (422, "the answer is too large to show")


def test_a_query_has_no_variable_that_it_does_not_need(project, monkeypatch):
    for name in ("AIRFLOW__CORE__FERNET_KEY", "KAFKA_PASSWORD", "AWS_SECRET_ACCESS_KEY", "STREAMHOUSE_SPARK_SECRET"):
        monkeypatch.setenv(name, "canary")
    columns, rows = "[{'name': 'v', 'type': 's'}]", "[{'v': str(dict(os.environ))}]"
    told = f"import json, os; print(json.dumps({{'columns': {columns}, 'rows': {rows}}}))"
    answer = ask(project.root, "SELECT 1", engine=script(told))
    assert "canary" not in str(answer.rows)
    assert "PATH" in str(answer.rows)
