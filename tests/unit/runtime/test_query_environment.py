import os

from streamhouse.project.settings import Settings
from streamhouse.runtime.query_environment import only_what_a_query_needs, query_environment

SECRETS = {
    "AIRFLOW__CORE__FERNET_KEY": "canary",
    "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "canary",
    "KAFKA_PASSWORD": "canary",
    "AWS_SECRET_ACCESS_KEY": "canary",
    "STREAMHOUSE_COLD_CREDENTIAL": "canary",
    "STREAMHOUSE_SPARK_SECRET": "canary",
    "PGPASSWORD": "canary",
    "GITHUB_TOKEN": "canary",
}
PLAIN = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "https_proxy": "http://p", "STREAMHOUSE_FLUSS": "a:1"}


def test_a_project_on_this_machine_needs_no_secret():
    assert query_environment({**SECRETS, **PLAIN}, Settings()) == PLAIN


def test_what_a_lake_a_catalog_a_cluster_and_a_database_are_entered_by_stays():
    settings = Settings.model_validate(
        {
            "warm": {"warehouse": "s3://lake/warm"},
            "cold": {"catalog": "http://catalog"},
            "spark": {"master": "spark://m:7077"},
            "state": "postgresql+psycopg://db/state",
        }
    )
    kept = query_environment({**SECRETS, **PLAIN}, settings)
    assert kept.keys() - PLAIN.keys() == {
        "AWS_SECRET_ACCESS_KEY",
        "STREAMHOUSE_COLD_CREDENTIAL",
        "STREAMHOUSE_SPARK_SECRET",
        "PGPASSWORD",
    }


def test_they_come_back_after_the_block(monkeypatch):
    monkeypatch.setenv("KAFKA_PASSWORD", "canary")
    with only_what_a_query_needs(Settings()):
        assert "KAFKA_PASSWORD" not in os.environ
    assert os.environ["KAFKA_PASSWORD"] == "canary"
