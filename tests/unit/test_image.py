"""The image: what it starts, and that what it runs while it is made fits our code. It is not built here."""

import inspect
import os
import re
import subprocess
from pathlib import Path

import pytest

from streamhouse.install.jars import spark_jars

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
ENTRYPOINT = ROOT / "scripts" / "image_entrypoint.sh"
SHOW = '#!/bin/bash\nprintf "%s\\n" "$@"\n'


def test_the_jars_are_asked_for_as_they_are_given():
    (arguments,) = re.findall(r"spark_jars\(([^()]*)\)", DOCKERFILE)
    names = [one.split("=")[0].strip() for one in arguments.split(",")]
    assert names == list(inspect.signature(spark_jars).parameters)


@pytest.fixture
def started(tmp_path):
    """Starts a container: words and variables → what is run in it, a word a line."""
    for name in ("spark/bin/spark-submit", "java/bin/java"):
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(SHOW)
        program.chmod(0o755)

    def start(words, variables):
        given = {"SPARK_HOME": str(tmp_path / "spark"), "JAVA_HOME": str(tmp_path / "java"), **variables}
        done = subprocess.run(
            [str(ENTRYPOINT), *words],
            env={"PATH": os.environ["PATH"], **given},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.replace(str(tmp_path), "").splitlines()

    return start


def test_it_starts_what_spark_on_kubernetes_asks_for():
    assert 'ENTRYPOINT ["tini", "--", "/opt/streamhouse/entrypoint"]' in DOCKERFILE
    assert f"scripts/{ENTRYPOINT.name} /opt/streamhouse/entrypoint" in DOCKERFILE


def test_a_driver(started):
    words = ["driver", "--class", "org.apache.spark.deploy.PythonRunner", "local:///a b.py", "runner", "start"]
    assert started(words, {"SPARK_DRIVER_BIND_ADDRESS": "10.0.0.7"}) == [
        *("--conf", "spark.driver.bindAddress=10.0.0.7", "--deploy-mode", "client"),
        *words[1:],
    ]


def test_an_executor(started):
    options = {f"SPARK_JAVA_OPT_{at}": f"-Dn={at} x" for at in range(11)}
    given = {
        **options,
        "SPARK_EXECUTOR_MEMORY": "1g",
        "SPARK_CONF_DIR": "/conf",
        "SPARK_CLASSPATH": "/jars/a.jar",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver:7078",
        "SPARK_EXECUTOR_ID": "3",
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_APPLICATION_ID": "spark-1",
        "SPARK_EXECUTOR_POD_IP": "10.0.0.8",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_EXECUTOR_POD_NAME": "shop-exec-3",
    }
    said = started(["executor"], given)
    assert said == [
        *options.values(),
        *("-Xms1g", "-Xmx1g", "-cp", "/conf:/jars/a.jar:/spark/jars/*"),
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://CoarseGrainedScheduler@driver:7078"),
        *("--executor-id", "3", "--cores", "2", "--app-id", "spark-1", "--hostname", "10.0.0.8"),
        *("--resourceProfileId", "0", "--podName", "shop-exec-3"),
    ]


def test_what_is_unknown_to_spark_runs_as_it_is(started):
    assert started(["printf", "%s|", "a b", "c"], {}) == ["a b|c|"]
