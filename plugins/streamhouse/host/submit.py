"""Starts a runner on a cluster that places drivers itself: `spark-submit` in cluster mode, on YARN and Kubernetes."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from streamhouse.doors.spark import VARIABLE as _SPARK_CONF
from streamhouse.doors.variables import PREFIX
from streamhouse.errors import EnvironmentProblem, RunnerFailedError
from streamhouse.install.jars import fetch
from streamhouse.install.private_file import write_private
from streamhouse.model.place import is_local
from streamhouse.model.spark_conf import SHUT
from streamhouse.model.types import Tier
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.project.settings import SparkSettings, jars_of
from streamhouse.runtime.session import DRIVER_MEMORY
from streamhouse.secret import names_secret
from streamhouse.spark.settings_file import properties_text

_APPLICATION = Path(__file__).parents[1] / "cli" / "cluster_app.py"
_OF_THIS_MACHINE = ("STREAMHOUSE_CACHE", "STREAMHOUSE_COMMAND", "STREAMHOUSE_COMPLETE")
_FLUSS_PASSWORD = "STREAMHOUSE_FLUSS_PASSWORD"
_SECRET = (
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "STREAMHOUSE_COLD_CREDENTIAL",
    "STREAMHOUSE_SPARK_SECRET",
    _FLUSS_PASSWORD,
)
_MAY_HOLD_A_PASSWORD = ("STREAMHOUSE_STATE", "STREAMHOUSE_COLD_CATALOG")
_SECRET_IN_QUERY = re.compile(r"(?i)(^|&)\w*(password|token|secret)=", re.UNICODE)
_FROM_SECRET = "spark.kubernetes.{}.secretKeyRef.{}"


def is_cluster(spark: SparkSettings) -> bool:
    """Whether a driver is placed by the cluster; else it is a process of this machine (`local[*]`, `spark://`)."""
    return spark.master == "yarn" or spark.master.startswith("k8s://")


def submit_words(
    spark: SparkSettings,
    *,
    program: str,
    name: str,
    application: Path,
    jars: Sequence[Path],
    properties: Path,
    arguments: Sequence[str],
) -> list[str]:
    """The call of `spark-submit`. Settings may be secret, and everybody sees arguments: they are in a file.

    Args:
        spark: Where.
        program: `spark-submit`.
        name: Of the application; the same for the same runner.
        application: What the driver runs. On Kubernetes it is in the image, at the same place.
        jars: For the driver and its executors; on Kubernetes in the image too.
        properties: File that holds the settings.
        arguments: Of `streamhouse`.
    """
    in_image = spark.master.startswith("k8s://")
    prefix = "local://" if in_image else ""
    waits = "spark.kubernetes.submission.waitAppCompletion" if in_image else "spark.yarn.submit.waitAppCompletion"
    return [
        program,
        *("--master", spark.master),
        *("--deploy-mode", "cluster"),
        *("--name", name),
        *("--jars", ",".join(f"{prefix}{jar}" for jar in jars)),
        *("--properties-file", str(properties)),
        *("--conf", f"{waits}=false"),
        f"{prefix}{application}",
        *arguments,
    ]


def cluster_conf(spark: SparkSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """Settings by which a driver elsewhere is what it would be here; those of the project come before them.

    Args:
        spark: Where, and the settings of the project.
        environment: Of this process: its `STREAMHOUSE_*` reach the driver, and what tasks log in to stores with
            (`AWS_*`, the password of Fluss) the executors as well. No cluster hands an environment on by itself.
    """
    ours = {name: value for name, value in environment.items() if name.startswith(("STREAMHOUSE_", "AWS_"))}
    ours = {name: value for name, value in ours.items() if name not in _OF_THIS_MACHINE}
    driver, refs, settings = "spark.kubernetes.driverEnv", {}, dict(spark.conf)
    if spark.master.startswith("k8s://"):
        refs = {
            _FROM_SECRET.format("executor", name): spark.conf[_FROM_SECRET.format("driver", name)]
            for name in _from_secrets(spark)
            if _is_of_executors(name)
        }
        ours = {name: value for name, value in ours.items() if name not in _from_secrets(spark)}
        if _SPARK_CONF in _from_secrets(spark):  # the driver reads them there
            settings = {key: value for key, value in settings.items() if not _is_secret(key)}
    else:
        driver = "spark.yarn.appMasterEnv"
        ours = {name: _in_double_quotes(value) for name, value in ours.items()}
    return {
        "spark.pyspark.python": sys.executable,
        "spark.driver.memory": DRIVER_MEMORY,  # its JVM is there before our session is made
        "spark.log.level": "WARN",  # its log is the runner's, too
        **{f"{driver}.{name}": value for name, value in ours.items()},
        **{f"spark.executorEnv.{name}": value for name, value in ours.items() if _is_of_executors(name)},
        **refs,
        **settings,
        **SHUT,
    }


def shown_secrets(spark: SparkSettings, environment: Mapping[str, str]) -> list[str]:
    """Variables and settings that a pod would show to all who may look at it or at its ConfigMap.

    Args:
        spark: Where, and the settings of the project.
        environment: Of this process.
    """
    if not spark.master.startswith("k8s://"):
        return []
    plain_variables = {name for name, value in environment.items() if value} - _from_secrets(spark)
    plain_variables -= {key.removeprefix("spark.kubernetes.driverEnv.") for key in spark.conf}
    of_flows = sorted(name for name in plain_variables if name.startswith(PREFIX))
    variables = [*of_flows, *(name for name in _SECRET if name in plain_variables)]
    variables += [name for name in _MAY_HOLD_A_PASSWORD if name in plain_variables and _has_password(environment[name])]
    settings = [] if _SPARK_CONF in _from_secrets(spark) else [key for key in spark.conf if _is_secret(key)]
    return sorted([*variables, *settings])


def _is_of_executors(variable: str) -> bool:
    return variable.startswith("AWS_") or variable == _FLUSS_PASSWORD


def _is_secret(setting: str) -> bool:
    # What is Kubernetes' own, Spark hides; and a variable that is written out there is meant to be seen.
    return names_secret(setting) and not setting.startswith(("spark.kubernetes.", "spark.executorEnv."))


def _from_secrets(spark: SparkSettings) -> set[str]:
    """Variables that the driver's pod has from Secrets of Kubernetes."""
    prefix = _FROM_SECRET.format("driver", "")
    return {key.removeprefix(prefix) for key in spark.conf if key.startswith(prefix)}


def _has_password(url: str) -> bool:
    found = urlsplit(url.removeprefix("jdbc:"))
    return bool(found.password) or bool(_SECRET_IN_QUERY.search(found.query))


def _in_double_quotes(text: str) -> str:
    """For a shell: YARN writes variables between double quotes into a script, as they are."""
    return re.sub(r'(["$`\\])', r"\\\1", text)


def where_it_is(spark: SparkSettings, project: str, name: str) -> str | None:
    """How to see what the cluster makes of a runner; None: it is a process of this machine."""
    if not is_cluster(spark):
        return None
    if spark.master == "yarn":
        return f"yarn application -list (its name: {_called(project, name)})"
    namespace = spark.conf.get("spark.kubernetes.namespace", "default")
    label = re.sub("-+", "-", re.sub("[^a-z0-9-]", "-", _called(project, name).lower()))[:63]  # as Spark makes it
    return f"kubectl -n {namespace} describe pod -l spark-role=driver,spark-app-name={label.strip('-')}"


def _called(project: str, name: str) -> str:
    return f"streamhouse-{project}-{name}"


def submit(project: Project, name: str, arguments: Sequence[str], flows: Sequence[str]) -> None:
    """Hand a runner over to the cluster; it may start later, when there is room.

    Args:
        project: Holds the flows.
        name: Of the runner.
        arguments: Of `streamhouse`, there.
        flows: What it is to carry.

    Raises:
        EnvironmentProblem: a driver elsewhere would not find what is on this machine alone, or would show a secret.
        RunnerFailedError: the cluster refuses.
    """
    _require_hidden(project.settings.spark)
    _require_shared(project, flows)
    folder = project.state_dir / "cache" / "submit"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    properties = folder / f"{name}.properties"
    write_private(properties, properties_text(cluster_conf(project.settings.spark, os.environ)))
    words = _words(project, name, properties, arguments)
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        properties.unlink(missing_ok=True)
    if done.returncode:
        raise _failure(project, name, done)


def _failure(project: Project, name: str, done: "subprocess.CompletedProcess[str]") -> RunnerFailedError:
    """What spark-submit printed; all of it goes to the runner's log."""
    log = project.runner_log(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(done.stderr, encoding="utf-8")
    lines = [line for line in done.stderr.splitlines() if "Exception" in line or "Error" in line]
    cause = lines[-1].strip() if lines else f"it ended with {done.returncode}"
    return RunnerFailedError(f"spark-submit to {project.settings.spark.master}: {cause}", hint=f"its output: {log}")


def _require_shared(project: Project, flows: Sequence[str]) -> None:
    tables = [table for flow in flows for table in to_run(project, flow).plan.readable]
    here = {
        "fluss": project.settings.fluss is None and any(table.tiers.target is Tier.HOT for table in tables),
        "state": project.state_url.startswith("sqlite"),
        "warm": is_local(project.warm),
        "cold": is_local(project.cold) and not project.settings.cold.is_rest,
    }
    lacking = [what for what, alone in here.items() if alone]
    if lacking:
        raise EnvironmentProblem(
            f"a runner on {project.settings.spark.master} would not reach what is on this machine: "
            f"{', '.join(lacking)}",
            hint="set these in streamhouse.yaml to a Fluss cluster, a database server and object stores",
        )


def _require_hidden(spark: SparkSettings) -> None:
    shown = shown_secrets(spark, os.environ)
    if shown:
        variable = next((name for name in shown if name.isupper()), _SPARK_CONF)
        raise EnvironmentProblem(
            f"a pod on {spark.master} would show to all who may look at it: {', '.join(shown)}",
            hint=f"put it into a Secret of Kubernetes and name that in {_SPARK_CONF}: "
            f"{_FROM_SECRET.format('driver', variable)}: SECRET:KEY (docs/runner.md)",
        )


def _program() -> str:
    home = os.environ.get("SPARK_HOME")
    beside = Path(home) / "bin" if home else Path(sys.executable).parent
    found = shutil.which("spark-submit", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise EnvironmentProblem("there is no spark-submit", hint="set SPARK_HOME to an installation of Spark")
    return found


def _words(project: Project, name: str, properties: Path, arguments: Sequence[str]) -> list[str]:
    return submit_words(
        project.settings.spark,
        program=_program(),
        name=_called(project.root.name, name),
        application=_APPLICATION,
        jars=fetch(jars_of(project.settings), settings=project.settings.ivy_settings),
        properties=properties,
        arguments=arguments,
    )
