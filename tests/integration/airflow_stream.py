"""Runs one DAG with a `StreamOperator` to its end, in Airflow's own environment; see `test_airflow_stream.py`.

Arguments: a home for Airflow, the project, the flow. Prints the log of the run, then a JSON document.
"""

import json
import os
import sys
from pathlib import Path

DAG_FILE = """\
from datetime import datetime

from airflow.sdk import DAG
from streamhouse.orchestrator.stream import StreamOperator

with DAG(
    "{flow}__stream",
    schedule="@continuous",
    start_date=datetime(2026, 1, 1),
    max_active_runs=1,
    catchup=False,
):
    StreamOperator(task_id="stream", flow="{flow}", project="{project}", poll=0.5)
"""


def main(home: Path, project: str, flow: str) -> None:
    """Parse the DAG and run it as `airflow dags test` does: its trigger runs in line."""
    dags = home / "dags"
    dags.mkdir(parents=True, exist_ok=True)
    (dags / f"{flow}.py").write_text(DAG_FILE.format(flow=flow, project=project))
    database = home / "airflow.db"
    os.environ.update(
        AIRFLOW_HOME=str(home),
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__DAGS_FOLDER=str(dags),
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{database}",
    )
    is_new = not database.exists()
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    if is_new:
        initdb()
    bag = DagBag(str(dags), safe_mode=False)
    heavy = sorted({"pyspark", "pyarrow", "fluss", "pypaimon", "duckdb", "sqlglot"} & set(sys.modules))
    run = bag.dags[f"{flow}__stream"].test()
    print(json.dumps({"errors": bag.import_errors, "heavy": heavy, "state": str(run.state)}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
