"""How long `streamhouse plan` takes over a project of many actions: cold, warm, and after one edit.

    python benchmarks/plan.py [--actions 1000] [--big]

`cold` has no cache, `warm` the cache of a call before which nothing changed. Each is the best of three, with the
processor seconds of that call; a busy machine stretches the first more than the second. Modules are compiled to
bytecode beforehand, as in an installed package. `--big` takes 10,000 actions.

Peers on the same 1,000 models, measured elsewhere: SQLMesh loads them in 40 s, dbt parses them in 15 s.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_RANKED = """\
WITH a AS (SELECT *, row_number() OVER (PARTITION BY dept ORDER BY id) AS k{i} FROM r)
SELECT dept, id, k{i} FROM a WHERE k{i} < 9"""
_SHAPES = (
    ("clean", "SELECT id, upper(trim(dept)) AS dept, n + {i} AS n, at FROM r WHERE n >= {i} AND dept IS NOT NULL"),
    ("aggregate", "SELECT dept, SUM(n) AS s, COUNT(*) AS c{i}, MAX(id) AS m FROM r GROUP BY dept"),
    ("customize", _RANKED),
    ("aggregate", "SELECT dept, AVG(n) AS a{i}, COUNT(DISTINCT id) AS d FROM r GROUP BY dept HAVING COUNT(*) > 1"),
)
_LAYERS = {"clean": "dwd", "aggregate": "dws", "customize": "ads"}
_STEPS = 50  # of each flow


def main() -> None:
    """Make a project, apply it, and time the command as a person starts it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--big", action="store_true", help="10,000 actions")
    given = parser.parse_args()
    actions = 10_000 if given.big else given.actions
    folder = Path(tempfile.mkdtemp(prefix="plan-"))
    try:
        _write(folder, actions)
        once = 1 if given.big else 3
        _timed(folder)  # writes bytecode
        figures = {"actions": actions, "never applied, cold": _best(once, folder, cold=True)}
        _apply(folder)
        time.sleep(3)  # the state store is trusted to stay as it is when it has been left alone for 2 s
        figures["nothing changed, cold"] = _best(once, folder, cold=True)
        figures["nothing changed, warm"] = _best(3, folder)
        file = folder / "actions" / "a1.sql"
        text = file.read_text()
        edits = (lambda i=i: file.write_text(text.replace("SUM(n)", f"SUM(n + {i})")) for i in range(1, 4))
        figures["one edit"] = min((_best(1, folder, before=edit) for edit in edits), key=lambda f: f["seconds"])
        figures["the same edit, warm"] = _best(3, folder)
        busy = Path("/proc/pressure/cpu")
        figures["some task waiting"] = busy.read_text().split()[2] if busy.exists() else None
        print(json.dumps(figures, indent=2))
    finally:
        shutil.rmtree(folder)


def _write(folder: Path, actions: int) -> None:
    for name in ("actions", "flows", "data"):
        (folder / name).mkdir()
    (folder / "streamhouse.yaml").write_text("{}\n")
    (folder / "data" / "rows.csv").write_text("id,dept,n,at\n1,a,1,2026-01-01 00:00:00\n")
    (folder / "actions" / "take.sql").write_text(
        "/* ---\naction: take\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
    )
    columns = "{id: bigint, dept: string, n: int, at: timestamp}"
    for begin in range(0, actions, _STEPS):
        number = begin // _STEPS
        steps = [f"  - {{use: take, reads: {{rows: lines}}, writes: ods.t{number}}}"]
        for i in range(begin, min(begin + _STEPS, actions)):
            kind, sql = _SHAPES[i % len(_SHAPES)]
            key = "output: {primary_key: [dept, id]}\n" if kind == "customize" else ""
            header = f"/* ---\naction: a{i}\nstep: {kind}\ninputs: {{r: {columns}}}\n{key}--- */\n"
            (folder / "actions" / f"a{i}.sql").write_text(f"{header}{sql.format(i=i)}\n")
            steps.append(f"  - {{use: a{i}, reads: {{r: ods.t{number}}}, writes: {_LAYERS[kind]}.t{i}}}")
        source = f"sources:\n  lines: {{files: {{path: data/rows.csv, columns: {columns}}}}}\n"
        text = f"flow: f{number}\n{source}steps:\n" + "\n".join(steps) + "\n"
        (folder / "flows" / f"f{number}.yaml").write_text(text)


def _apply(folder: Path) -> None:
    from streamhouse.project.check import check_project
    from streamhouse.project.project import Project

    project = Project.at(folder)
    plans = check_project(project).plans
    with project.state() as state:
        for plan in plans.values():
            state.save_plan(plan)


def _best(
    times: int, folder: Path, *, cold: bool = False, before: Callable[[], object] = lambda: None
) -> dict[str, float]:
    found = []
    for _ in range(times):
        if cold:
            shutil.rmtree(folder / ".streamhouse" / "cache", ignore_errors=True)
        before()
        found.append(_timed(folder))
    return min(found, key=lambda each: each["seconds"])


def _timed(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-c", "import sys; from streamhouse.cli.main import entry; entry()"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    used, begin = _processor_seconds(), time.perf_counter()
    done = subprocess.run(
        [*command, "plan", "--json"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    if done.returncode not in {0, 10}:
        raise SystemExit(done.stdout[:2000] + done.stderr[:2000])
    return {"seconds": round(seconds, 2), "processor seconds": round(_processor_seconds() - used, 2)}


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
