"""How long `streamhouse plan` takes over a project of many actions: cold, warm, and after one edit.

    python benchmarks/plan.py [--actions 1000]

Peers on the same 1,000 models, measured elsewhere: SQLMesh loads them in 40 s, dbt parses them in 15 s.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
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
    actions = parser.parse_args().actions
    folder = Path(tempfile.mkdtemp(prefix="plan-"))
    try:
        _write(folder, actions)
        figures = {"actions": actions, "never applied": _timed(folder)}
        _apply(folder)
        figures["nothing changed, cold"] = _timed(folder, cold=True)
        figures["nothing changed, warm"] = min(_timed(folder) for _ in range(3))
        file = folder / "actions" / "a1.sql"
        file.write_text(file.read_text().replace("SUM(n)", "SUM(n + 1)"))
        figures["one edit"] = _timed(folder)
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
    from streamhouse.registry import Registry
    from streamhouse.runtime.check import check_project
    from streamhouse.runtime.project import Project

    project = Project.at(folder)
    checked = check_project(project, Registry.load(folder))
    with project.state() as state:
        for plan in checked.plans.values():
            state.save_plan(plan)


def _timed(folder: Path, *, cold: bool = False) -> float:
    if cold:
        shutil.rmtree(folder / ".streamhouse" / "cache", ignore_errors=True)
    command = [sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main(sys.argv[1:]))"]
    begin = time.perf_counter()
    done = subprocess.run([*command, "plan", "--json"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 10}:
        raise SystemExit(done.stdout[:2000] + done.stderr[:2000])
    return round(time.perf_counter() - begin, 2)


if __name__ == "__main__":
    main()
