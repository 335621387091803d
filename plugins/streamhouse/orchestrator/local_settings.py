"""How an Airflow on one machine is set up: everything under one folder, nothing reachable from elsewhere."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamhouse.install.whole_file import write_whole
from streamhouse.orchestrator.roots import PROJECT_VARIABLE
from streamhouse.services.ports import LOOPBACK

USER = "admin"
BUNDLE = "flows"
_LOCK_S = 60  # how long a process waits for another one's write; the default of 5 s loses tasks
_CLASS = "streamhouse.orchestrator.bundle.FlowBundle"


@dataclass(frozen=True)
class AirflowSecrets:
    """What this Airflow signs, encrypts and is entered with."""

    jwt: str
    fernet: str
    session: str
    password: str


def secrets_in(folder: Path) -> AirflowSecrets:
    """Those that were made once for this folder; only its owner can read them."""
    file = folder / "secrets.json"
    try:
        return AirflowSecrets(**json.loads(file.read_text()))
    except (OSError, ValueError, TypeError):
        new_secrets = AirflowSecrets(
            jwt=secrets.token_urlsafe(64),
            fernet=_fernet_key(),
            session=secrets.token_urlsafe(32),
            password=secrets.token_urlsafe(12),
        )
    write_whole(file, json.dumps(new_secrets.__dict__), private=True)
    return new_secrets


def _fernet_key() -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(secrets.token_bytes(32)).decode()


def airflow_settings(
    *, home: Path, project: Path, plugins: Path, port: int, keys: AirflowSecrets, environment: Mapping[str, str]
) -> dict[str, str]:
    """Environment variables of all of Airflow's processes.

    Args:
        home: Where it keeps everything.
        project: Whose flows it runs.
        plugins: Its folder of plugins.
        port: Of the page and the APIs, on the loopback interface.
        keys: Of this folder.
        environment: The environment of this process; what it says of Airflow wins, but for where things are.
    """
    url = f"http://{LOOPBACK}:{port}"
    bundle = {"name": BUNDLE, "classpath": _CLASS, "kwargs": {"project": str(project), "refresh_interval": 10}}
    chosen = {
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        # A task that waits for the engine holds a slot for minutes; an answer of a person must find one at once.
        "AIRFLOW__CORE__PARALLELISM": "8",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__INSTANCE_NAME": "Streamhouse",
        # The first call after the start may take long on a busy machine, and a task that lost it is lost.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        "AIRFLOW__DAG_PROCESSOR__BUNDLE_REFRESH_CHECK_INTERVAL": "5",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "PYTHONUNBUFFERED": "1",
    }
    fixed = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(plugins),
        "AIRFLOW__CORE__FERNET_KEY": keys.fernet,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}?timeout={_LOCK_S}",
        "AIRFLOW__API__HOST": LOOPBACK,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__SECRET_KEY": keys.session,
        "AIRFLOW__API_AUTH__JWT_SECRET": keys.jwt,
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps([bundle]),
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_STORAGE_PATH": str(home / "bundles"),
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs" / "tasks"),
        PROJECT_VARIABLE: str(project),
    }
    return {**chosen, **environment, **fixed}
