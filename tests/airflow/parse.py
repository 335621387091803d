"""Run in the control plane: what Airflow makes of DAG files, and what that takes, as JSON.

`parse.py --project DIR` has a bundle compile the project first, in a process of its own so that nothing it loads counts
here; `parse.py DIR` takes the files of a folder; `parse.py --project DIR --version V` only looks for a version.
"""

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

HEAVY = ("pyspark", "py4j", "fluss", "pypaimon", "pyarrow", "duckdb", "sqlglot", "pyiceberg")


def compiled(project: str, version: str | None) -> dict[str, Any]:
    """The folder, the version and the manifest of what a bundle has."""
    from streamhouse.orchestrator.bundle import FlowBundle

    bundle = FlowBundle(name="flows", project=project, version=version)
    was_there = bundle.path.exists()  # Airflow asks for it before it refreshes for the first time
    versions = set()
    for _ in range(2 if version is None else 0):
        bundle.refresh()
        versions.add(bundle.get_current_version().version)
    bundle.initialize()
    current = bundle.get_current_version()
    told = {"folder": str(bundle.path), "version": current.version, "data": current.data}
    return told | {"is_stable": len(versions) <= 1, "was_there": was_there}


def parsed(folder: str) -> dict[str, Any]:
    """What the files of a folder hold."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.serialization.serialized_objects import DagSerialization

    import streamhouse.orchestrator.dags  # noqa: F401  once for each process that parses

    reads: Counter[str] = Counter()
    sys.addaudithook(lambda event, given: reads.update([str(given[0])] if event == "open" else ()))
    bag = DagBag(folder)
    most_reads = max(times for path, times in reads.items() if path.startswith(folder) and path.endswith(".py"))
    loaded = [name for name in HEAVY if name in sys.modules]
    first, second = (
        {name: DagSerialization.to_dict(dag) for name, dag in held.dags.items()} for held in (bag, DagBag(folder))
    )
    return {
        "most_reads": most_reads,
        "dags": sorted(bag.dags),
        "errors": bag.import_errors,
        "loaded": loaded,
        "is_same": first == second,
        "names_places": any(folder in json.dumps(one["dag"]["tasks"]) for one in first.values()),
    }


def main() -> None:
    """Print it."""
    words = argparse.ArgumentParser()
    words.add_argument("folder", nargs="?")
    words.add_argument("--project")
    words.add_argument("--version")
    given = words.parse_args()
    told: dict[str, Any] = {"folder": given.folder}
    if given.project:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as beside:
            told = beside.submit(compiled, given.project, given.version).result()
    print(json.dumps(told if given.version else told | parsed(told["folder"])))  # noqa: T201


if __name__ == "__main__":
    main()
