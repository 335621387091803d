"""An Airflow of a test: started as `make airflow` does, asked through its REST API."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil

from streamhouse.orchestrator.local import request
from tests.control_plane import ROOT, program
from tests.patience import PATIENCE_S, until

T = TypeVar("T")

ENGINE = Path(sys.executable).with_name("streamhouse")


def environment(**more: str) -> dict[str, str]:
    """Of a process in the control plane, which writes what it compiles of DAG files as it does elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("AIRFLOW") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {**kept, "PYTHONPATH": str(ROOT / "plugins"), "STREAMHOUSE_COMMAND": str(ENGINE), **more}


def eventually(look: Callable[[], T | None], what: str, *, told: Callable[[], object] = lambda: None) -> T:
    """What `look` gives once it is true; errors of an API that is about to come back count as not yet.

    Where it never is, the failure also has what `told` gives.
    """
    last: object = None

    def looked() -> T | None:
        nonlocal last
        try:
            return look()
        except OSError as error:
            last = error
            return None

    def saw() -> object:
        with contextlib.suppress(OSError):
            return told() or last
        return last

    found = until(looked, what=what, saw=saw)
    assert found is not None
    return found


class Site:
    """An Airflow that runs a project, and its REST API."""

    def __init__(self, project: Path, process: "subprocess.Popen[str]", address: dict[str, str]) -> None:
        self.project = project
        self.process = process
        self.url = address["url"]
        answer = request(f"{self.url}/auth/token", {"username": address["user"], "password": address["password"]})
        self._token = answer["access_token"]

    def get(self, path: str) -> Any:
        return request(f"{self.url}/api/v2/{path}", token=self._token)

    def send(self, method: str, path: str, body: Any) -> Any:
        return request(f"{self.url}/api/v2/{path}", body, token=self._token, method=method)

    def component(self, name: str) -> psutil.Process:
        """The process of `airflow NAME`."""
        pids = [json.loads(line)["pid"] for line in (self.home / "pids").read_text().splitlines()]
        (found,) = [p for p in map(psutil.Process, pids) if name in p.cmdline()]
        return found

    @property
    def home(self) -> Path:
        return self.project / ".streamhouse" / "airflow"

    def tasks(self, dag: str, run: str = "~") -> list[dict[str, Any]]:
        """Task instances, the newest run first."""
        found = self.get(f"dags/{dag}/dagRuns/{run}/taskInstances?limit=100&order_by=-start_date")
        return list(found["task_instances"])

    def unfinished(self) -> dict[str, str]:
        """Task instance of any DAG that waits, has a slot or is tried again → its state."""
        found = self.tasks("~")
        over = ("success", "skipped", "failed", "upstream_failed", "removed", None)
        return {
            f"{t['dag_id']}.{t['task_id']} try {t['try_number']}": t["state"] for t in found if t["state"] not in over
        }

    def log(self, task: dict[str, Any]) -> str:
        """All that the log of a task's last try says."""
        place = f"dags/{task['dag_id']}/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}"
        told = self.get(f"{place}/logs/{task['try_number']}?full_content=true&map_index={task['map_index']}")
        return "\n".join(str(line.get("event", line)) for line in told["content"])


def mine(project: Path) -> list[psutil.Process]:
    """Every process that has to do with a project: by its words or its folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            # Not by its environment: Airflow writes titles over it.
            if str(project) in " ".join([process.cwd(), *process.cmdline()]):
                found.append(process)
    return found


@contextlib.contextmanager
def site(project: Path, *arguments: str, **more: str) -> Iterator[Site]:
    """Start, hand over when it is ready, end by SIGINT; the test fails where that leaves a process."""
    command = [str(program("python")), "-m", "streamhouse.orchestrator.local", "--project", str(project), *arguments]
    log = project / "local.log"
    place = project / ".streamhouse" / "airflow" / "address.json"
    place.unlink(missing_ok=True)
    with log.open("a") as output:
        process = subprocess.Popen(
            command, env=environment(**more), stdout=output, stderr=output, text=True, start_new_session=True
        )
    try:

        def ready() -> dict[str, str] | None:
            if process.poll() is not None:
                raise AssertionError(log.read_text())
            return json.loads(place.read_text()) if place.exists() else None

        yield Site(project, process, eventually(ready, "Airflow is ready"))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE_S)
        finally:
            left = mine(project)
            for one in left:
                with contextlib.suppress(psutil.Error):
                    one.kill()
    assert process.returncode == 0, log.read_text()
    assert not left, f"left behind: {left}"
