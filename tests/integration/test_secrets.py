"""Secrets of a session show on no command line, in no file and in no log, while Spark runs and afterwards."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.patience import PATIENCE_S

pytestmark = pytest.mark.spark

CANARY = "canary-d41d8cd98f"
PROGRAM = """
import sys
from pathlib import Path
from streamhouse.cli.app import App
from streamhouse.runtime.session import local_session
app = App(project_dir=Path(sys.argv[1]))
session = local_session(app.project)
assert session.sparkContext.getConf().get("spark.hadoop.fs.s3a.secret.key") == sys.argv[2][::-1]
assert session.sparkContext.getConf().get("spark.authenticate") == "true"
session.range(10).count()
with app.project.state() as state:
    state.flows()
print("ready", flush=True)
sys.stdin.read()
session.stop()
"""


@pytest.fixture
def running(tmp_path):
    """A project whose session runs in a process of its own, and that process."""
    root = tmp_path / "project"
    (root / "flows").mkdir(parents=True)
    conf = {"spark.hadoop.fs.s3a.secret.key": CANARY, "spark.ui.enabled": "false"}
    given = {
        "STREAMHOUSE_SPARK_CONF": json.dumps(conf),
        "STREAMHOUSE_SPARK_MASTER": "local[1]",
        "KAFKA_PASSWORD": CANARY,
    }
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(root), CANARY[::-1]],
        env={**os.environ, **given, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2] / "plugins")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield root, process
    if process.poll() is None:
        process.kill()
    process.wait()


def files_with_the_canary(folder):
    return [path for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def command(process):
    """Its arguments; empty: it ended, and nobody waited for it yet."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a zombie too
        return ""


def test_nothing_shows_a_secret(running, tmp_path):
    root, process = running
    said = process.stdout.readline()
    assert said == "ready\n", said + process.stdout.read()
    ours = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    assert any("java" in one.name() for one in ours)
    assert not [line for line in map(command, ours) if CANARY in line]
    assert files_with_the_canary(tmp_path) == []
    kept = root / ".streamhouse"
    for path in (kept, *kept.rglob("*")):
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    process.stdin.close()
    assert process.wait(PATIENCE_S) == 0
    assert files_with_the_canary(tmp_path) == []
    assert CANARY not in process.stdout.read()
