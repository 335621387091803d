"""Our side: the example project's queries, one flow for each, over ODS tables that another flow has filled."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "nexmark"
LOADING = "nexmark_ods"
QUERIES = tuple(range(23))


def write_project(root: Path, rounds: int, rows_per_epoch: int) -> None:
    """Make a project at `root`: the flow `nexmark_ods`, and `q<number>_<round>` for each query and round.

    The flow of a query holds its step and those it reads from, except for ODS. Each flow writes tables of its own.
    """
    shutil.copytree(EXAMPLE / "actions", root / "actions", dirs_exist_ok=True)
    (root / "flows").mkdir(exist_ok=True)
    whole = yaml.safe_load((EXAMPLE / "flows" / "nexmark.yaml").read_text())
    ods = {**whole, "flow": LOADING, "steps": [s for s in whole["steps"] if s["writes"].startswith("ods.")]}
    _put(root, ods)
    for query in QUERIES:
        for number in range(rounds):
            flow = flow_of(query, number)
            steps = [_within(step, flow) for step in steps_of(whole["steps"], query)]
            _put(root, {"flow": flow, "max_rows_per_epoch": rows_per_epoch, "steps": steps})


def flow_of(query: int, number: int) -> str:
    """The name of the flow that runs a query in a round."""
    return f"q{query}_{number}"


def sql_of(action: str) -> str:
    """The SQL of an action of the example, without its header."""
    (file,) = (EXAMPLE / "actions").glob(f"*/{action}.sql")
    return file.read_text().split("--- */", maxsplit=1)[1]


def steps_of(steps: list[dict[str, Any]], query: int) -> list[dict[str, Any]]:
    """The steps of a query, with those upstream of them behind ODS."""
    writers = {step["writes"]: step for step in steps if not step["writes"].startswith("ods.")}
    wanted = [step for table, step in writers.items() if re.search(rf"\.q{query}_", table)]
    found: dict[str, dict[str, Any]] = {}
    while wanted:
        step = wanted.pop()
        found[step["writes"]] = step
        wanted += [writers[table] for table in _reads(step) if table in writers]
    return [step for step in steps if step["writes"] in found]


def _reads(step: Mapping[str, Any]) -> list[str]:
    return [read if isinstance(read, str) else read["table"] for read in step["reads"].values()]


def _within(step: Mapping[str, Any], flow: str) -> dict[str, Any]:
    """The step with tables that belong to one flow only."""

    def renamed(read: Any) -> Any:
        return read if not isinstance(read, str) or read.startswith("ods.") else f"{read}__{flow}"

    reads = {port: renamed(read) for port, read in step["reads"].items()}
    return {**step, "reads": reads, "writes": f"{step['writes']}__{flow}"}


def _put(root: Path, flow: Mapping[str, Any]) -> None:
    (root / "flows" / f"{flow['flow']}.yaml").write_text(yaml.safe_dump(dict(flow), sort_keys=False))
