"""No traceback reaches a person: one line of cause, one of remedy, an exit code."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import click
import pytest

from streamhouse.cli import failures, main
from streamhouse.cli.app import App
from streamhouse.errors import DefinitionErrors, FileFormatError, LeaseHeldError, Location, StoreUnavailableError
from tests.patience import PATIENCE_S
from tests.ports import take_ports


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "flows").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def failing(monkeypatch):
    """Makes `streamhouse status` raise what it is given."""

    def fail(error):
        @click.command()
        @click.option("--json", is_flag=True)
        def command(json):
            raise error

        get_command = main.LazyGroup.get_command
        monkeypatch.setattr(
            main.LazyGroup, "get_command", lambda s, c, n: command if n == "status" else get_command(s, c, n)
        )

    return fail


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (StoreUnavailableError("gone"), ["SH401"]),
        (DefinitionErrors([FileFormatError("a"), LeaseHeldError("b"), FileFormatError("c")]), ["SH101", "SH501"]),
    ],
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_gets_the_command_that_explains_each_code(
    error, codes, is_terminal, project, failing, capsys, monkeypatch
):
    failing(error)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    main.main(["status"])
    more = [f"  more: streamhouse explain {code}" for code in codes]
    assert capsys.readouterr().err.splitlines() == [*str(error).splitlines(), *(more if is_terminal else [])]


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (
            FileFormatError("bad", at=Location("flows/a.yaml", 3, 5), hint="fix it"),
            3,
            "flows/a.yaml:3:5: SH101 bad\n  hint: fix it\n",
        ),
        (StoreUnavailableError("gone"), 5, "SH401 gone\n"),
        (LeaseHeldError("held", hint="wait"), 6, "SH501 held\n  hint: wait\n"),
        (
            DefinitionErrors(
                [FileFormatError("two", at=Location("b", 2)), FileFormatError("one", at=Location("b", 1))]
            ),
            3,
            "b:1:1: SH101 one\nb:2:1: SH101 two\n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            4,
            "SH303 no room left on the disk\n  hint: free some disk space, then run again\n",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/x"),
            4,
            "SH300 Permission denied: /x\n  hint: check who owns the file and that you may write to its folder\n",
        ),
        (
            ModuleNotFoundError("No module named 'pyspark'", name="pyspark.sql"),
            4,
            "SH306 the Python package 'pyspark' is not installed\n  hint: pip install 'streamhouse[engine]'\n",
        ),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
    ],
    ids=["definition", "store", "engine", "several", "disk-full", "permission", "package", "ctrl-c"],
)
def test_each_class_has_its_text_and_exit_code(project, failing, capsys, error, code, text):
    failing(error)
    assert main.main(["status"]) == code
    out, err = capsys.readouterr()
    assert (out, err) == ("", text)


def test_a_full_disk_below_another_error_is_still_a_full_disk(project, failing, capsys):
    error = RuntimeError("write failed")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    failing(error)
    assert main.main(["status"]) == 4
    assert "SH303" in capsys.readouterr().err


def test_an_unexpected_error_is_one_line_and_its_trace_is_kept(project, failing, capsys):
    failing(ValueError("a bug\nof ours"))
    assert main.main(["status"]) == 1
    err = capsys.readouterr().err
    (log,) = (project / ".streamhouse" / "logs").glob("crash-*.log")
    assert err == f"SH000 internal error: ValueError: a bug of ours\n  hint: the full trace is in {log}\n"
    assert "Traceback" in log.read_text()


def test_debug_shows_the_trace(project, failing, capsys, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_DEBUG", "1")
    failing(ValueError("a bug"))
    assert main.main(["status"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_trace_that_cannot_be_kept_is_no_second_failure(project, failing, capsys):
    (project / ".streamhouse").touch()
    failing(ValueError("a bug"))
    assert main.main(["status"]) == 1
    assert capsys.readouterr().err.endswith("hint: set STREAMHOUSE_DEBUG=1 to see the full trace\n")


def test_json_errors_go_to_standard_output(project, failing, capsys):
    failing(FileFormatError("bad", at=Location("flows/a.yaml", 3, 5), hint="fix it"))
    assert main.main(["status", "--json"]) == 3
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "error": {
            "code": "SH101",
            "message": "bad",
            "file": "flows/a.yaml",
            "line": 3,
            "column": 5,
            "hint": "fix it",
        }
    }


def test_several_json_errors_are_all_told(project, failing, capsys):
    failing(DefinitionErrors([FileFormatError("one"), FileFormatError("two")]))
    assert main.main(["status", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [e["message"] for e in document["errors"]] == ["one", "two"]
    assert document["error"] == document["errors"][0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["qery"], "no such command 'qery'; did you mean 'query'?"),
        (["run"], "Missing argument 'FLOW...'"),
        (["validate", "no/such/file"], "does not exist"),
        (["run", "x", "--nope"], "No such option"),
        (["action", "shwo"], "did you mean 'show'?"),
        (["validate", "a\u202eb"], "'a\\u202eb' does not exist"),
        (["qery\u2066"], "no such command 'qery\\u2066'"),
    ],
)
def test_wrong_usage_exits_with_2(project, capsys, arguments, text):
    assert main.main(arguments) == 2
    assert text in capsys.readouterr().err
    assert main.main([*arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


def test_outside_a_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["status"]) == 4
    err = capsys.readouterr().err
    assert err.startswith("SH307 ")
    assert "streamhouse init DIR" in err


def test_wrong_settings_are_told_with_their_place(project, capsys):
    (project / "streamhouse.yaml").write_text("flus: host:9123\n")
    assert main.main(["status"]) == 3
    assert capsys.readouterr().err == "streamhouse.yaml:1:1: SH102 unknown key 'flus'\n  hint: did you mean 'fluss'?\n"


def test_project_and_json_may_stand_on_either_side(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir("/")
    for arguments in (
        ["--project", str(project), "--json", "status"],
        ["status", "--json", "--project", str(project)],
    ):
        assert main.main(arguments) == 0
        assert json.loads(capsys.readouterr().out) == {"project": str(project), "auto_apply": "off", "flows": []}


def test_an_explicit_project_is_not_searched_upward(project, capsys):
    (project / "inner").mkdir()
    assert main.main(["status", "--project", str(project / "inner")]) == 4
    assert "SH307" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_command_cleanly(project, number):
    # Short sleeps: a signal between Python's look for signals and the system's sleep is seen after that sleep only.
    program = (
        "import sys, time, click, streamhouse.cli.main as m\n"
        "@click.command()\n"
        "def wait():\n"
        "    try:\n"
        "        print('ready', flush=True)\n"
        "        for _ in range(600): time.sleep(0.1)\n"
        "    finally:\n"
        "        print('cleaned', flush=True)\n"
        "m.streamhouse.add_command(wait)\n"
        "sys.exit(m.main(['wait']))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (out, process.returncode) == ("cleaned\n", 130)
    assert "Traceback" not in err


def test_a_closed_pipe_is_no_error(project):
    program = "import sys; from streamhouse.cli.main import main; sys.exit(main(['status', '--json']))"
    read, write = os.pipe()
    os.close(read)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_lost_module_of_ours_is_an_internal_error():
    assert failures.known_error(ModuleNotFoundError("No module named 'streamhouse.x'", name="streamhouse.x")) is None


def test_reports_outside_a_project_keep_their_trace_elsewhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(failures.tempfile, "gettempdir", lambda: str(tmp_path / "temp"))
    assert failures.report(ValueError("x"), App()) == 1
    assert list((tmp_path / "temp").glob("crash-*.log"))


@pytest.mark.parametrize("word", ["\udcff", "a\x00b"])
@pytest.mark.parametrize("command", [["validate"], ["env", "discard"], ["runner", "stop", "--name"], ["query"]])
def test_bytes_that_are_no_text_are_wrong_usage(project, capsys, command, word):
    assert main.main([*command, word]) == failures.USAGE
    assert "no text in UTF-8" in capsys.readouterr().err
    assert main.main(["--json", *command, word]) == failures.USAGE
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


def test_a_fault_in_finding_the_project_is_told_too(project, capsys, monkeypatch):
    def broken(root):
        raise TypeError("broken")

    monkeypatch.setattr("streamhouse.project.identity.is_settled", broken)
    assert main.main(["status"]) == failures.INTERNAL
    assert "SH000 internal error: TypeError: broken" in capsys.readouterr().err


def test_a_java_process_that_is_gone_is_named_and_other_sockets_are_not():
    from py4j.java_gateway import GatewayConnection, GatewayParameters

    nothing = take_ports(1)[0]
    with pytest.raises(Exception, match="error occurred") as gone:
        GatewayConnection(GatewayParameters(port=nothing)).start()
    assert failures.known_error(gone.value).code == "SH500"
    with pytest.raises(ConnectionError) as other, socket.socket() as own:
        own.connect(("127.0.0.1", nothing))
    assert failures.known_error(other.value) is None


@pytest.mark.parametrize(
    "path", ["x" * 5000, "/".join(["x"] * 3000), "file/inner", "loop/inner", "folder"], ids=str.__len__
)
def test_a_path_that_the_system_refuses_is_no_fault_of_ours(tmp_path, path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError) as refused:  # noqa: PT011  which one is the system's
        (tmp_path / path).read_text()
    found = failures.known_error(refused.value)
    assert found is not None
    assert found.code != "SH000"
    assert len(str(found)) < 500


@pytest.mark.parametrize("words", [["status"], ["status", "--json"]])
def test_an_error_that_ends_a_thread_is_no_traceback(words, project, monkeypatch, capsys):
    def work():
        raise ValueError("broken inside")

    @click.command()
    @click.option("--json", is_flag=True)
    def command(json):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        click.echo("{}")

    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # the command sets its own
    monkeypatch.setattr(main.LazyGroup, "get_command", lambda *_: command)
    assert main.main(words) == 0
    shown = capsys.readouterr()
    assert shown.out == "{}\n"
    assert shown.err.startswith("SH000 internal error: ValueError: broken inside\n  hint: the full trace is in ")
    assert "Traceback" not in shown.err
