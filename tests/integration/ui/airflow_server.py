"""A real Airflow api-server on SQLite and loopback, with our plugin."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.control_plane import ROOT, program
from tests.patience import PATIENCE_S, until
from tests.ports import take_ports


@dataclass(frozen=True)
class AirflowServer:
    """Where it is, and a token for each user: `admin`, `viewer`."""

    url: str
    tokens: dict[str, str]
    log: Path


@contextmanager
def airflow_server(home: Path, project: Path, **more: str) -> Iterator[AirflowServer]:
    """Start one for a project; its folders are below `home`, and `more` is added to its environment."""
    airflow = program("airflow")
    (port,) = take_ports(1)
    passwords = {"admin": "for this test", "viewer": "for this test too"}
    home.mkdir(parents=True)
    (home / "passwords.json").write_text(json.dumps(passwords))
    (home / "dags").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "STREAMHOUSE"))},
        "PYTHONPATH": str(ROOT / "plugins"),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,viewer:viewer",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API_AUTH__JWT_SECRET": "no secret: a test on loopback, sixty-four bytes long or somewhat more",
        "STREAMHOUSE_PROJECT": str(project),
        **more,
    }
    log = home / "server.log"
    with log.open("w") as out:
        subprocess.run(
            [airflow, "db", "migrate"], env=environment, check=True, stdout=out, stderr=out, timeout=PATIENCE_S
        )
        # uvicorn's worker is a child of the command: the whole group is ended.
        server = subprocess.Popen(
            [airflow, "api-server"], env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, server, log)
            yield AirflowServer(url, {name: _token(url, name, word) for name, word in passwords.items()}, log)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


def _wait(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    def answers() -> bool:
        assert server.poll() is None, f"the api-server ended: {log.read_text()[-3000:]}"
        with suppress(httpx.HTTPError):
            return httpx.get(f"{url}/api/v2/version", timeout=PATIENCE_S).status_code == 200
        return False

    until(answers, what="an answer of the api-server", saw=lambda: log.read_text()[-3000:])


def _token(url: str, name: str, password: str) -> str:
    answer = httpx.post(f"{url}/auth/token", json={"username": name, "password": password}, timeout=PATIENCE_S)
    answer.raise_for_status()
    return str(answer.json()["access_token"])
