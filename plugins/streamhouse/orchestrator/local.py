"""An Airflow on this machine that runs a project's flows: `python -m streamhouse.orchestrator.local`.

One process keeps all the others. Everything listens on the loopback interface, everything is kept under
`.streamhouse/airflow` of the project, and everything ends with it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar
from urllib.request import Request, urlopen

import click
from filelock import FileLock, Timeout

import streamhouse
from streamhouse.errors import EnvironmentProblem, ServiceStartError, StreamhouseError
from streamhouse.install.whole_file import write_whole
from streamhouse.orchestrator.components import Component, Components, last_lines
from streamhouse.orchestrator.engine_command import EngineCommand, resolve
from streamhouse.orchestrator.local_settings import USER, airflow_settings, secrets_in
from streamhouse.project.project import Project
from streamhouse.runtime.command import COMMAND_VARIABLE
from streamhouse.services.ports import LOOPBACK, free_ports, require_free
from streamhouse.services.services import Services
from streamhouse.state.runners import WantedState

_PORT = 8080
_START_S = 300.0
_LOOK_S = 1.0
_PARTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")
_PAUSED_KINDS = ("flow", "tier", "upkeep", "quality")

Say = Callable[[str], None]
T = TypeVar("T")


class _EndAskedError(BaseException):
    """Ctrl-C or SIGTERM."""


@dataclass(frozen=True)
class PageAddress:
    """Where the page is, and how to enter."""

    url: str
    user: str
    password: str


@click.command()
@click.option("--project", type=click.Path(file_okay=False, path_type=Path), help="Folder of the project.")
@click.option("--engine", metavar="COMMAND", help=f"The engine's streamhouse command. [default: ${COMMAND_VARIABLE}]")
@click.option("--port", type=click.IntRange(1, 65535), help=f"Of the page. [default: {_PORT}, or any that is free]")
@click.option("--run", "flows", multiple=True, metavar="FLOW", help="Unpause the DAGs of this flow; may be repeated.")
def main(project: Path | None, engine: str | None, port: int | None, flows: tuple[str, ...]) -> None:
    """Run Airflow here, with the flows of a project, until Ctrl-C."""
    if engine:
        os.environ[COMMAND_VARIABLE] = engine
    try:
        found = Project.at(project) if project is not None else Project.find(Path.cwd())
        with _ends():
            run(found, resolve(None, os.environ), port, flows, lambda text: click.echo(text, err=True))
    except StreamhouseError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)


def run(project: Project, engine: EngineCommand, port: int | None, flows: Sequence[str], say: Say) -> None:
    """Start everything, keep it, and stop it when this process is asked to end.

    Args:
        project: Whose flows.
        engine: Runs them.
        port: Of the page; None: a free one.
        flows: Whose DAGs are unpaused.
        say: Is called with what is done.

    Raises:
        EnvironmentProblem: another one runs for this project, or a part of it does not start.
    """
    home = project.state_dir / "airflow"
    (home / "logs").mkdir(parents=True, exist_ok=True)
    (home / "dags").mkdir(exist_ok=True)
    lock = FileLock(home / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise EnvironmentProblem(
            "another Airflow runs this project", hint=f"its address: {home / 'address.json'}; or end it with Ctrl-C"
        ) from error
    with ExitStack() as stack:
        stack.callback(lock.release)
        try:
            _run_until_end(project, home, engine, port, flows, say, stack)
        except _EndAskedError:
            say("stopping …")
        finally:
            _be_deaf()  # it ends already
    say("stopped")


def _run_until_end(
    project: Project,
    home: Path,
    engine: EngineCommand,
    port: int | None,
    flows: Sequence[str],
    say: Say,
    stack: ExitStack,
) -> None:
    (home / "address.json").unlink(missing_ok=True)  # of one that was killed
    keys = secrets_in(home)
    write_whole(home / "passwords.json", json.dumps({USER: keys.password}), private=True)
    chosen = _port(port)
    environment = airflow_settings(
        home=home, project=project.root, plugins=_plugins(home), port=chosen, keys=keys, environment=os.environ
    )
    airflow = [sys.executable, "-m", "airflow"]
    components = Components([_component(name, airflow, home) for name in _COMPONENTS], home, environment)
    if components.clear():
        say("ended what an Airflow that was killed left behind")
    say("preparing Airflow's database …")
    _migrate(airflow, home, environment)
    if project.settings.fluss is None:  # else each task that needs it would start it, and stop it under the others
        say("starting Fluss …")
        stack.callback(_stop_services, project, say)
        engine.call(["services", "up", "--project", str(project.root)])
    stack.callback(_stop_runners, project, engine, say)  # after Airflow, which would start them again
    stack.callback(components.stop)
    say("starting Airflow (its processes need about a minute) …")
    components.start()
    address = PageAddress(f"http://{LOOPBACK}:{chosen}", USER, keys.password)
    stack.callback((home / "address.json").unlink, missing_ok=True)
    _wait(address, components, say)
    for flow in flows:
        _unpause(address, flow, say)
    write_whole(home / "address.json", json.dumps(address.__dict__), private=True)
    say(f"Airflow is ready: {address.url}  user {address.user}, password {address.password}")
    say("Ctrl-C stops it, and everything it started")
    while True:
        time.sleep(_LOOK_S)
        components.check(say)


_COMPONENTS = {
    "api-server": (),
    "scheduler": ("--skip-serve-logs",),  # it would listen on all interfaces; logs are on this disk
    "dag-processor": (),
    "triggerer": ("--skip-serve-logs",),
}


def _component(name: str, airflow: Sequence[str], home: Path) -> Component:
    return Component(name, [*airflow, name, *_COMPONENTS[name]], home / "logs" / f"{name}.log")


def _migrate(airflow: Sequence[str], home: Path, environment: dict[str, str]) -> None:
    log = home / "logs" / "migrate.log"
    with log.open("w") as output:
        child = subprocess.Popen(
            [*airflow, "db", "migrate"], stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
        try:
            code = child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    if code:
        raise ServiceStartError(f"Airflow's database cannot be prepared:\n{last_lines(log)}", hint=f"its log: {log}")


def _port(wanted: int | None) -> int:
    if wanted is not None:
        require_free(wanted)
        return wanted
    with suppress(StreamhouseError):
        require_free(_PORT)
        return _PORT
    return free_ports(1)[0]


def _plugins(home: Path) -> Path:
    """The folder with our plugin: that of a checkout; where the package is installed, entry points name it."""
    folder = Path(streamhouse.__file__).parent.parent
    if (folder / "streamhouse_plugin.py").exists():
        return folder
    (home / "plugins").mkdir(exist_ok=True)
    return home / "plugins"


def _stop_runners(project: Project, engine: EngineCommand, say: Say) -> None:
    from streamhouse.runtime.owner import is_alive

    state = project.existing_state()
    if state is None:
        return
    by = "make airflow"
    with state:
        for wanted in state.runners.all_wanted():  # also of a runner that is being born
            state.runners.ask(wanted.flow, WantedState.STOPPED, by)
        alive = [runner.name for runner in state.runners.all(alive=is_alive) if runner.life.takes_up]
    for name in alive:
        say(f"stopping the runner {name}, after the epoch in hand …")
        try:
            engine.call(["runner", "stop", "--name", name, "--project", str(project.root), "--by", by])
        except StreamhouseError as error:
            say(str(error))


def _stop_services(project: Project, say: Say) -> None:
    services = Services(project.root)
    if services.status().services:
        say("stopping Fluss …")
        services.down()


# --- Airflow's API --------------------------------------------------------------------------------


def _wait(address: PageAddress, components: Components, say: Say) -> None:
    until, last_text = time.monotonic() + _START_S, ""
    while True:
        parts = _health(address)
        waits = [part for part in _PARTS if parts.get(part, {}).get("status") != "healthy"]
        if not waits:
            return
        if time.monotonic() > until:
            raise ServiceStartError(
                f"Airflow did not become healthy within {_START_S:.0f} s: {', '.join(waits)}",
                hint="see the logs in .streamhouse/airflow/logs",
            )
        text = f"waiting for {', '.join(waits)} …" if parts else "waiting for the API …"
        if text != last_text:
            say(last_text := text)
        components.check(say)
        time.sleep(_LOOK_S)


def _health(address: PageAddress) -> dict[str, Any]:
    try:
        found = request(f"{address.url}/api/v2/monitor/health")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _unpause(address: PageAddress, flow: str, say: Say) -> None:
    """Unpause what there is of a flow's DAGs, which may not be parsed yet."""
    login = {"username": address.user, "password": address.password}
    token = _patiently(lambda: request(f"{address.url}/auth/token", login))["access_token"]

    def parsed() -> set[str] | None:
        found = request(f"{address.url}/api/v2/dags?dag_id_pattern=__{flow}&limit=100", token=token)
        ids = {dag["dag_id"] for dag in found["dags"]}
        return ids if f"flow__{flow}" in ids else None

    try:
        ids = _patiently(parsed)
    except TimeoutError:
        say(f"there is no DAG of the flow '{flow}' (see: streamhouse validate)")
        return
    for name in (f"{kind}__{flow}" for kind in _PAUSED_KINDS):
        if name in ids:
            _unpause_one(f"{address.url}/api/v2/dags/{name}", token)


def _unpause_one(url: str, token: str) -> None:
    _patiently(lambda: request(url, {"is_paused": False}, token=token, method="PATCH"))


def _patiently(ask: Callable[[], T | None]) -> T:
    """What it answers; a busy Airflow may refuse, or not know yet.

    Raises:
        TimeoutError: it never knew.
    """
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        with suppress(OSError):
            if (found := ask()) is not None:
                return found
        time.sleep(_LOOK_S)
    raise TimeoutError


def request(url: str, body: Any = None, *, token: str | None = None, method: str | None = None) -> Any:
    """What an API answers, as JSON.

    Raises:
        OSError: it does not answer, or refuses (`urllib.error.HTTPError`).
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = json.dumps(body).encode() if body is not None else None
    with urlopen(Request(url, data=data, headers=headers, method=method), timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def _be_deaf() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _ends() -> Iterator[None]:
    """Within the block Ctrl-C and SIGTERM raise `_EndAskedError`, once."""

    def end(_: int, __: FrameType | None) -> None:
        _be_deaf()
        raise _EndAskedError

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
