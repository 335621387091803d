"""A run of tests in which Spark and Fluss die: each death is the failure of one test."""

import os
import subprocess
import sys
from pathlib import Path

from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = deep("real servers die; tests/unit/gate/test_deaths.py tries the same with small processes")

TOP = Path(__file__).parents[2]
PLUGINS = ("gate.levels", "gate.shared", "gate.leftovers", "gate.verdict", "plugins_fluss", "plugins_spark")
TESTS = """
import psutil
from streamhouse.spark.java_process import pid_of
from streamhouse.services.services import Services
from streamhouse.stores.fluss.store import FlussStore

def tables(fluss):
    store = FlussStore(fluss)
    try:
        return store.columns("ods.none")
    finally:
        store.close()

def test_both_work(spark, fluss):
    assert spark.range(5).count() == 5
    assert tables(fluss) is None

def test_spark_dies(spark):
    java = psutil.Process(pid_of(spark))
    java.kill()
    java.wait()

def test_both_work_after_it(spark, fluss):
    assert spark.range(5).count() == 5
    assert tables(fluss) is None

def test_spark_hangs(spark):
    psutil.Process(pid_of(spark)).suspend()
    assert False, "no answer"

def test_fluss_dies(fluss):
    port = int(fluss.rpartition(":")[2])
    [server] = {c.pid for c in psutil.net_connections("inet") if c.status == "LISTEN" and c.laddr.port == port}
    psutil.Process(server).kill()
    psutil.Process(server).wait()

def test_both_work_at_the_end(spark, fluss):
    assert spark.range(5).count() == 5
    assert tables(fluss) is None
"""


AGAIN = """
from pathlib import Path

def test_fails_once(spark):
    first = Path("first")
    if not first.exists():
        first.touch()
        assert False, "by chance"

def test_after_it(spark):
    assert spark.range(5).count() == 5
"""


def test_each_death_fails_one_test(tmp_path):
    done = run(tmp_path, "tests/unit", TESTS)  # without a second try
    failed = {line.rpartition("::")[2].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("run it")}
    assert failed == {"test_spark_dies'", "test_spark_hangs'", "test_fluss_dies'"}, done.stdout + done.stderr
    for words in ("Spark died while", "Spark stopped answering while", "Fluss died while"):
        assert words in done.stdout


def test_a_second_try_has_a_new_spark_and_so_have_the_tests_after_it(tmp_path):
    done = run(tmp_path, "tests/integration", AGAIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 0 failed, 1 flaky" in done.stdout
    assert "LEFT RUNNING" not in done.stdout


def run(folder: Path, where: str, text: str) -> subprocess.CompletedProcess[str]:
    options = ("addopts = --import-mode=importlib -rfE", f"timeout = {PATIENCE_S:.0f}")  # one that hangs says where
    ini = "\n".join(("[pytest]", *options))
    (folder / "pytest.ini").write_text(ini)
    (folder / where).mkdir(parents=True)
    (folder / where / "test_a.py").write_text(text)
    words = [word for name in PLUGINS for word in ("-p", f"tests.{name}")]
    paths = os.pathsep.join(map(str, (TOP, TOP / "plugins")))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words, "tests"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "STREAMHOUSE_TEST_PATIENCE": "0.5"},
        capture_output=True,
        text=True,
        check=False,
    )
