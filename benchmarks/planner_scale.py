"""What `validate`, `plan` and `lineage` take over many flows, and over one flow of many steps.

    python benchmarks/planner_scale.py [--flows 500] [--steps 1000] [--quick] [--keep FOLDER]

Each figure is one command as a person starts it: processor seconds of the process and of all that it started, and
the most memory that one of them had. `cold` has no cache. Modules are compiled to bytecode beforehand, as in an
installed package. `--keep` leaves the projects behind, for a profile.

A flow of ten steps takes three files in (casts, a filter), cleans one, joins it with a table that it looks up and
with another that changes, aggregates in three ways and ranks. Half of its steps use actions that all flows share,
with parameters of some seven values; the others have an action of their own. The long flow is a hundred of these in
one file. In the chain each step reads the table of the step before, so an edit of the first reaches all.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_LINES = "{id: bigint, at: string, store_id: bigint, product_id: bigint, quantity: int, value: double, note: string}"
_PRODUCTS = "{product_id: bigint, category: string, brand: string, price: double}"
_REFUNDS = "{id: bigint, refunded_at: string, value: double}"
_SHARED = {
    "take_lines": (
        "ingest",
        f"inputs: {{r: {_LINES}}}\nparams: {{from_id: {{type: bigint, default: 0}}}}\n",
        """\
SELECT id, CAST(at AS TIMESTAMP) AS at, store_id, product_id, quantity,
  CAST(ROUND(value * 100) AS BIGINT) AS cents, TRIM(note) AS note
FROM r WHERE id IS NOT NULL AND id >= :from_id""",
    ),
    "take_products": (
        "ingest",
        f"inputs: {{r: {_PRODUCTS}}}\n",
        """\
SELECT product_id, UPPER(TRIM(category)) AS category, brand, CAST(price * 100 AS BIGINT) AS price_cents
FROM r""",
    ),
    "take_refunds": (
        "ingest",
        f"inputs: {{r: {_REFUNDS}}}\n",
        """\
SELECT id, CAST(refunded_at AS TIMESTAMP) AS refunded_at, CAST(ROUND(value * 100) AS BIGINT) AS refund_cents
FROM r WHERE value > 0""",
    ),
    "clean_lines": (
        "clean",
        """\
inputs:
  lines: {id: bigint, at: timestamp, store_id: bigint, product_id: bigint, quantity: int, cents: bigint, note: string}
params: {least: {type: int, default: 0}}
output: {event_time: sold_at}
expect:
  cents_are_not_negative: {check: cents >= 0, on_violation: warn}
""",
        """\
SELECT id, at AS sold_at, store_id, product_id, COALESCE(quantity, 1) AS quantity, cents,
  CASE WHEN note = '' THEN NULL ELSE note END AS note, DATE_FORMAT(at, 'yyyy-MM-dd') AS day
FROM lines
WHERE store_id IS NOT NULL AND product_id IS NOT NULL AND at IS NOT NULL AND quantity >= :least""",
    ),
    "by_store": (
        "aggregate",
        """\
inputs:
  lines: {store_id: bigint, day: string, cents: bigint, quantity: int}
params: {big: {type: bigint, default: 1000}}
output: {primary_key: [store_id, day]}
""",
        """\
SELECT store_id, day, SUM(cents) AS cents, SUM(quantity) AS units, COUNT(*) AS lines,
  COUNT(*) FILTER (WHERE cents > :big) AS big_lines
FROM lines GROUP BY store_id, day""",
    ),
}
_OWN = {
    "priced": (
        "clean",
        """\
inputs:
  lines: {id: bigint, at: timestamp, product_id: bigint, quantity: int, cents: bigint}
  products: {product_id: bigint, category: string, brand: string, price_cents: bigint}
output: {event_time: sold_at}
""",
        """\
WITH sold AS (
  SELECT id, at AS sold_at, product_id, quantity, cents, cents DIV {i} AS part FROM lines WHERE quantity > {i} - 5
)
SELECT sold.id, sold.sold_at, sold.product_id, COALESCE(products.category, 'UNKNOWN') AS category, products.brand,
  sold.quantity, sold.cents, sold.quantity * products.price_cents - sold.cents AS discount_{i}, sold.part
FROM sold LEFT JOIN products ON products.product_id = sold.product_id""",
    ),
    "refunded": (
        "clean",
        """\
inputs:
  lines: {id: bigint, at: timestamp, store_id: bigint, cents: bigint}
  refunds: {id: bigint, refunded_at: timestamp, refund_cents: bigint}
output: {primary_key: [id]}
""",
        """\
SELECT lines.id, lines.at AS sold_at, lines.store_id, lines.cents, refunds.refunded_at,
  lines.cents - COALESCE(refunds.refund_cents, {i}) AS net_{i}
FROM lines LEFT JOIN refunds ON refunds.id = lines.id
WHERE lines.cents > {i}""",
    ),
    "by_category": (
        "aggregate",
        """\
inputs:
  priced: {category: string, brand: string, cents: bigint, discount_{i}: bigint, part: bigint}
output: {primary_key: [category]}
""",
        """\
SELECT category, SUM(cents) AS cents, SUM(discount_{i}) AS discount, MAX(part) + {i} AS part,
  COUNT(DISTINCT brand) AS brands
FROM priced GROUP BY category HAVING COUNT(*) > {i}""",
    ),
    "by_day": (
        "aggregate",
        """\
inputs:
  refunded: {sold_at: timestamp, store_id: bigint, net_{i}: bigint}
output: {primary_key: [day, store_id]}
""",
        """\
SELECT CAST(sold_at AS DATE) AS day, store_id, SUM(net_{i}) AS net, AVG(net_{i} + {i}) AS average, COUNT(*) AS lines
FROM refunded GROUP BY CAST(sold_at AS DATE), store_id""",
    ),
    "best": (
        "customize",
        """\
inputs:
  categories: {category: string, cents: bigint, discount: bigint}
output: {primary_key: [category]}
""",
        """\
WITH ranked AS (
  SELECT category, cents, discount, ROW_NUMBER() OVER (ORDER BY cents DESC, category) AS place FROM categories
)
SELECT category, cents, discount, place FROM ranked WHERE place <= {i}""",
    ),
}
_SOURCES = f"""\
sources:
  lines: {{files: {{path: data/lines.csv, columns: {_LINES}}}}}
  products: {{files: {{path: data/products.csv, columns: {_PRODUCTS}}}}}
  refunds: {{files: {{path: data/refunds.csv, columns: {_REFUNDS}}}}}
"""
_STEPS = """\
  - {{use: take_lines, with: {{from_id: {few}}}, reads: {{r: lines}}, writes: ods.lines_{i}}}
  - {{use: take_products, reads: {{r: products}}, writes: ods.products_{i}}}
  - {{use: take_refunds, reads: {{r: refunds}}, writes: ods.refunds_{i}}}
  - {{use: clean_lines, with: {{least: {few}}}, reads: {{lines: ods.lines_{i}}}, writes: dwd.lines_{i}}}
  - use: priced_{i}
    reads: {{lines: ods.lines_{i}, products: {{table: ods.products_{i}, as: lookup}}}}
    writes: dwd.priced_{i}
  - {{use: refunded_{i}, reads: {{lines: ods.lines_{i}, refunds: ods.refunds_{i}}}, writes: dwd.refunded_{i}}}
  - {{use: by_store, with: {{big: {few}}}, reads: {{lines: dwd.lines_{i}}}, writes: dws.by_store_{i}}}
  - {{use: by_category_{i}, reads: {{priced: dwd.priced_{i}}}, writes: dws.by_category_{i}}}
  - {{use: by_day_{i}, reads: {{refunded: dwd.refunded_{i}}}, writes: dws.by_day_{i}}}
  - {{use: best_{i}, reads: {{categories: dws.by_category_{i}}}, writes: ads.best_{i}}}
"""
_TABLES = "  ods.products_{i}: {{primary_key: [product_id]}}\n  ods.refunds_{i}: {{primary_key: [id]}}\n"
_APPLY = """
import sys
from pathlib import Path
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project
project = Project.at(Path(sys.argv[1]))
plans, registry = check_project(project).plans, load_registry(project)
with project.state() as state:
    for name, plan in plans.items():
        state.save_plan(plan, definition=registry.definition(name))
"""


@dataclass(frozen=True)
class Cost:
    """What one command took: processor seconds with its children, seconds, and the most memory of a process, in MB."""

    cpu: float
    seconds: float
    megabytes: float


def main() -> None:
    """Make both projects, and time the commands over each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flows", type=int, default=500, help="of ten steps each")
    parser.add_argument("--steps", type=int, default=1000, help="of the one long flow")
    parser.add_argument("--quick", action="store_true", help="20 flows and 100 steps, each once")
    parser.add_argument("--keep", type=Path, help="leave the projects in this folder")
    given = parser.parse_args()
    flows, steps, times = (20, 100, 1) if given.quick else (given.flows, given.steps, 3)
    folder = given.keep or Path(tempfile.mkdtemp(prefix="planner-scale-"))
    try:
        wide, long, chain = folder / "wide", folder / "long", folder / "chain"
        write_project(wide, [[i] for i in range(1, flows + 1)])
        write_project(long, [list(range(1, steps // 10 + 1))])
        busy = _waiting()
        _wide(wide, f"{flows} flows x 10 steps", flows, times)
        _long(long, f"1 flow of {steps} steps", steps // 20, times)
        write_chain(chain, steps)
        _chain(chain, f"1 chain of {steps} steps", steps)
        print(f"some task waiting: {busy} at first, {_waiting()} at last")
    finally:
        if given.keep is None:
            shutil.rmtree(folder)


def _wide(project: Path, name: str, flows: int, times: int) -> None:
    _run(project, "validate")  # writes bytecode
    _show(f"{name}: validate, cold", _best(times, project, "validate", cold=True), cpu=8)
    apply(project)
    _show(f"{name}: plan, nothing changed", _best(times, project, "plan"), cpu=1)
    column = f"dws.by_category_{flows // 2}.discount"
    _show(f"{name}: lineage of a column", _best(times, project, "lineage", column), cpu=1.5)
    _show(f"{name}: lineage of a column, cold", _best(1, project, "lineage", column, cold=True))
    found = [_edited(project, flows // 2, turn, "plan") for turn in range(times)]
    _show(f"{name}: plan, one edit", min(found, key=lambda one: one.cpu))
    _replace(project / "actions" / "by_store.sql", "SUM(cents)", "SUM(cents + 1)")
    _show(f"{name}: plan, an edit of an action that {flows} flows use", _run(project, "plan"))
    _show(f"{name}: plan, cold", _best(1, project, "plan", cold=True))


def _chain(project: Path, name: str, steps: int) -> None:
    _run(project, "validate")
    apply(project)
    for what, number in (("first", 1), ("middle", steps // 2), ("last", steps - 1)):
        _replace(project / "actions" / f"link_{number}.sql", f"a + {number} AS", f"a + {number + 1} AS")
        _show(f"{name}: plan, an edit of the {what} step", _run(project, "plan"), cpu=2, megabytes=250)
        _replace(project / "actions" / f"link_{number}.sql", f"a + {number + 1} AS", f"a + {number} AS")


def _long(project: Path, name: str, edited: int, times: int) -> None:
    _show(f"{name}: validate, cold", _best(times, project, "validate", cold=True))
    apply(project)
    _show(f"{name}: plan, nothing changed", _best(times, project, "plan"))
    found = [_edited(project, edited, turn, "plan") for turn in range(times)]
    _show(f"{name}: plan, one edit", min(found, key=lambda one: one.cpu), cpu=2, megabytes=250)
    _show(f"{name}: lineage of a column", _best(times, project, "lineage", f"dws.by_category_{edited}.discount"))
    _replace(project / "actions" / "by_store.sql", "SUM(cents)", "SUM(cents + 1)")
    _show(f"{name}: plan, an edit of an action that {len(_own(project))} steps use", _run(project, "plan"))
    _show(f"{name}: plan, cold", _best(1, project, "plan", cold=True))


def _own(project: Path) -> list[Path]:
    return sorted((project / "actions").glob("priced_*.sql"))


def write_project(folder: Path, flows: list[list[int]]) -> None:
    """A project of these flows, each of ten steps for every number; a number occurs in one flow only."""
    for name in ("actions", "flows", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "streamhouse.yaml").write_text("{}\n")
    (folder / "data" / "lines.csv").write_text("id,at,store_id,product_id,quantity,value,note\n1,,1,1,1,1.0,a\n")
    (folder / "data" / "products.csv").write_text("product_id,category,brand,price\n1,a,b,1.0\n")
    (folder / "data" / "refunds.csv").write_text("id,refunded_at,value\n1,2026-01-01 00:00:00,1.0\n")
    for name, (kind, header, sql) in _SHARED.items():
        _write_action(folder, name, kind, header, sql)
    for numbers in flows:
        for i in numbers:
            for name, (kind, header, sql) in _OWN.items():
                _write_action(folder, f"{name}_{i}", kind, header.replace("{i}", str(i)), sql.replace("{i}", str(i)))
        name = f"flow_{numbers[0]}"
        steps = "".join(_STEPS.format(i=i, few=i % 7) for i in numbers)
        tables = "".join(_TABLES.format(i=i) for i in numbers)
        text = f"flow: {name}\nfreshness: 30s\n{_SOURCES}steps:\n{steps}tables:\n{tables}"
        (folder / "flows" / f"{name}.yaml").write_text(text)


def write_chain(folder: Path, steps: int) -> None:
    """A project of one flow, each step of which reads the table of the step before."""
    for name in ("actions", "flows", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "streamhouse.yaml").write_text("{}\n")
    (folder / "data" / "rows.csv").write_text("id,a,b\n1,1,a\n")
    columns = "{id: bigint, a: bigint, b: string}"
    source = f"rows: {{files: {{path: data/rows.csv, columns: {columns}}}}}"
    text = f"flow: chain\nfreshness: 30s\nsources:\n  {source}\nsteps:\n"
    before = "rows"
    for number in range(steps):
        table = f"dwd.link_{number}" if number else "ods.link_0"
        sql = f"SELECT id, a + {number} AS a, UPPER(b) AS b FROM t WHERE a > {number} - 5000"
        _write_action(folder, f"link_{number}", "clean" if number else "ingest", f"inputs: {{t: {columns}}}\n", sql)
        text += f"  - {{use: link_{number}, reads: {{t: {before}}}, writes: {table}}}\n"
        before = table
    (folder / "flows" / "chain.yaml").write_text(text)


def _write_action(folder: Path, name: str, kind: str, header: str, sql: str) -> None:
    text = f"/* ---\naction: {name}\nversion: 1.0.0\nstep: {kind}\n{header}--- */\n{sql}\n"
    (folder / "actions" / f"{name}.sql").write_text(text)


def apply(project: Path) -> None:
    """Record the plans of all flows as applied, in a process of its own, and wait until that is trusted."""
    subprocess.run([sys.executable, "-c", _APPLY, str(project)], check=True)
    time.sleep(3)  # the state store is trusted to stay as it is when it has been left alone for 2 s


def _edited(project: Path, number: int, turn: int, *command: str) -> Cost:
    """The command after an edit of one action in the middle of a chain that no earlier turn made."""
    file = project / "actions" / f"priced_{number}.sql"
    _replace(file, f"(cents + {turn}) DIV" if turn else "cents DIV", f"(cents + {turn + 1}) DIV")
    return _run(project, *command)


def _replace(file: Path, old: str, new: str) -> None:
    """Edit a file; an edit that changes nothing would be measured as none."""
    text = file.read_text()
    if old not in text:
        raise SystemExit(f"{file} has no {old}")
    file.write_text(text.replace(old, new))


def _best(times: int, project: Path, *command: str, cold: bool = False) -> Cost:
    found = []
    for _ in range(times):
        if cold:
            shutil.rmtree(project / ".streamhouse" / "cache", ignore_errors=True)
        found.append(_run(project, *command))
    return min(found, key=lambda each: each.cpu)


def _run(project: Path, *command: str) -> Cost:
    python = [sys.executable, "-c", "from streamhouse.cli.main import entry; entry()"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(project / "bytecode")
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen([*python, *command], cwd=project, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode not in {0, 10}:
            output.seek(0)
            raise SystemExit(output.read(4000).decode(errors="replace"))
    seconds = time.perf_counter() - begin
    return Cost(used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024)


def _show(name: str, cost: Cost, *, cpu: float | None = None, megabytes: float | None = None) -> None:
    wanted = [(cost.cpu, cpu, "CPU-s"), (cost.megabytes, megabytes, "MB")]
    targets = [f"≤ {most:g} {unit} {'met' if got <= most else 'MISSED'}" for got, most, unit in wanted if most]
    text = f"{name}: {cost.cpu:.2f} CPU-s, {cost.seconds:.2f} s, {cost.megabytes:.0f} MB"
    print(f"{text}; {', '.join(targets)}" if targets else text, flush=True)


def _waiting() -> str:
    busy = Path("/proc/pressure/cpu")
    return busy.read_text().split()[1].removeprefix("avg10=") + " %" if busy.exists() else "not known"


if __name__ == "__main__":
    main()
