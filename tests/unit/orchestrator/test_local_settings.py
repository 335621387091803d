import json
import stat
from pathlib import Path

from streamhouse.orchestrator.local_settings import airflow_settings, secrets_in


def settings(tmp_path, **given):
    keys = secrets_in(tmp_path)
    return airflow_settings(
        home=tmp_path, project=Path("/p"), plugins=Path("/plugins"), port=81, keys=keys, environment=given
    )


def test_secrets_are_made_once_and_for_their_owner_alone(tmp_path):
    made = secrets_in(tmp_path)
    assert secrets_in(tmp_path) == made
    assert len(made.jwt) >= 64
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600
    (tmp_path / "secrets.json").write_text("{")
    assert secrets_in(tmp_path) != made


def test_nothing_is_reachable_from_elsewhere(tmp_path):
    found = settings(tmp_path)
    assert found["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert found["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:81/execution/"


def test_what_a_person_says_of_airflow_wins_but_for_places(tmp_path):
    found = settings(tmp_path, AIRFLOW__CORE__PARALLELISM="9", AIRFLOW_HOME="/elsewhere", HOME="/me")
    assert (found["AIRFLOW__CORE__PARALLELISM"], found["HOME"]) == ("9", "/me")
    assert found["AIRFLOW_HOME"] == str(tmp_path)
    (bundle,) = json.loads(found["AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST"])
    assert bundle["kwargs"]["project"] == "/p"
