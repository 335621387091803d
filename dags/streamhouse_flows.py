"""The Airflow DAGs of every file in flows/. To add a DAG, add a flow; this module never changes."""

from streamhouse.orchestrator.factory import dags_by_id

globals().update(dags_by_id(__file__))
