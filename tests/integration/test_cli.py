"""The command as a person uses it: real processes, real Fluss, real Spark."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "commands whose parts unit tests try, each in a process of its own",
        only=(
            "test_a_query_tells_what_it_reads",
            "test_tables_tell_of_themselves",
            "test_watching_asks_again",
            "test_failing_examples_show_what_differs",
            "test_an_example_that_makes_no_sense_is_told_before_spark_starts",
            "test_ctrl_c_stops_a_run_cleanly_and_nothing_is_lost",
        ),
    ),
]


@pytest.fixture(scope="module")
def environment():
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_")}
    return {**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@pytest.fixture(scope="module")
def command():
    return [sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main())"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory, command, environment):
    """A project from `init`, with its services up for the length of this file."""
    folder = tmp_path_factory.mktemp("cli") / "shop"
    subprocess.run([*command, "init", str(folder)], env=environment, check=True, capture_output=True)
    up = subprocess.run(
        [*command, "services", "up"], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert up.returncode == 0, up.stderr
    yield folder
    subprocess.run([*command, "services", "down"], cwd=folder, env=environment, check=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def streamhouse(shop, command, environment):
    def call(*arguments, code=0, cwd=shop):
        done = subprocess.run(
            [*command, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return call


@pytest.fixture(scope="module")
def first_run(streamhouse):
    assert streamhouse("plan", "orders", "--json", code=10)["flows"][0]["applied"] is None
    return streamhouse("run", "orders", "--once", "--json")


def lines_of(folder, pattern="*.csv"):
    found = []
    for file in sorted((folder / "data").glob(pattern)):
        with file.open() as text:
            found += list(csv.DictReader(text))
    return found


def is_kept(line):
    return int(line["quantity"]) >= 1 and line["price"] != ""


def revenue(lines):
    totals: dict[str, int] = {}
    for line in filter(is_kept, lines):
        cents = int(line["quantity"]) * round(float(line["price"]) * 100)
        totals[line["product"]] = totals.get(line["product"], 0) + cents
    return totals


def test_services_are_up(streamhouse):
    found = streamhouse("services", "status", "--json")
    assert found["fluss"]
    assert all(service["alive"] for service in found["services"])


def test_the_first_run_takes_every_line(shop, first_run):
    lines = lines_of(shop)
    assert len(lines) == 120
    assert first_run["rows"]["ods.orders"] == 120
    assert first_run["rows"]["dwd.orders"] == sum(map(is_kept, lines)) < 120
    assert first_run["epochs"] >= 1
    assert set(first_run["freshness_ms"]) == {"ods", "dwd", "dws"}


def test_the_tables_can_be_queried(first_run, streamhouse):
    text = streamhouse("query", "SELECT count(*) AS n FROM ods.orders")
    assert text.split() == ["n", "120", "1", "row"]


def test_answers_in_every_form(first_run, streamhouse, tmp_path):
    sql = "SELECT product, revenue_cents FROM dws.revenue_by_product ORDER BY product"
    wanted = streamhouse("query", sql, "--json")["rows"]
    assert len(wanted) > 1
    lines = streamhouse("query", sql, "--format", "json").splitlines()
    assert [json.loads(line) for line in lines] == wanted
    found = csv.DictReader(streamhouse("query", sql, "--format", "csv").splitlines())
    assert [row | {"revenue_cents": int(row["revenue_cents"])} for row in found] == wanted
    assert streamhouse("query", sql, "--output", str(tmp_path / "r.parquet")) == ""
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_a_query_tells_what_it_reads(first_run, streamhouse):
    sql = "SELECT sum(quantity) AS n FROM ods.orders"
    told = streamhouse("query", sql, "--explain", "--json")
    assert (told["engine"], told["reason"], told["rows"]) == ("this process", "", 1)
    hot, warm = told["reads"]  # `run --once` tiered every row
    assert [(read["table"], read["tier"], read["columns"]) for read in (hot, warm)] == [
        ("ods.orders", tier, ["quantity"]) for tier in ("hot", "warm")
    ]
    assert hot["rows"] + warm["rows"] == 120
    assert "answered by  Spark (asked for)" in streamhouse("query", sql, "--explain", "--engine", "spark")
    assert "1 of 5: quantity" in streamhouse("query", sql, "--explain")


def test_tables_tell_of_themselves(first_run, streamhouse):
    (epoch,) = streamhouse("query", "SELECT * FROM dwd.orders$history WHERE rows > 0", "--json")["rows"]
    assert (epoch["flow"], epoch["segment"], epoch["rows"]) == ("orders", "main", first_run["rows"]["dwd.orders"])
    then = f"SELECT count(*) AS n FROM dwd.orders AS OF EPOCH {epoch['epoch']}"
    assert streamhouse("query", then, "--json")["rows"] == [{"n": epoch["rows"]}]
    kinds = "SELECT _kind, count(*) AS n FROM dwd.orders$changes GROUP BY _kind"
    assert streamhouse("query", kinds, "--json")["rows"] == [{"_kind": "+I", "n": epoch["rows"]}]


def test_watching_asks_again(first_run, shop, command, environment):
    watching = subprocess.Popen(
        [*command, "query", "SELECT count(*) AS n FROM ods.orders", "--format", "csv", "--watch", "0.2"],
        cwd=shop,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    seen = [next(watching.stdout) for _ in range(9)]
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=PATIENCE_S)
    assert watching.returncode == 130
    assert [line.strip() for line in seen if ":" not in line] == ['"n"', "120"] * 3


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--json", "--format", "csv"], "--json is one document"),
        (["--explain", "--output", "x.csv"], "--explain shows no rows"),
        (["--format", "table", "--output", "x.csv"], "a table is for people"),
        (["--format", "arrow", "--watch"], "arrow is no text"),
    ],
)
def test_options_that_do_not_go_together(shop, command, environment, options, text):
    done = subprocess.run(
        [*command, "query", "SELECT 1", *options], cwd=shop, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert text in done.stdout + done.stderr


def test_status_and_plan_after_a_run(first_run, streamhouse):
    (flow,) = streamhouse("status", "orders", "--json")["flows"]
    assert (flow["state"], flow["revision"], flow["epochs"]) == ("stopped", 1, first_run["epochs"])
    assert flow["rows"]["ods.orders"] == 120
    assert streamhouse("plan", "orders", "--json")["flows"][0]["changes"] is False


def test_a_second_run_has_nothing_to_do(first_run, streamhouse):
    assert "nothing new to read" in streamhouse("run", "orders", "--once")


def test_ctrl_c_stops_a_run_cleanly_and_nothing_is_lost(shop, first_run, streamhouse, command, environment):
    new = shop / "data" / "orders-2026-02.csv"
    shutil.copyfile(shop / "data" / "orders-2026-01.csv", new)
    process = subprocess.Popen(
        [*command, "run", "orders"],
        cwd=shop,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = []
    for line in process.stderr:
        seen.append(line)
        if " rows/s " in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, (seen, out, err)
    assert "Traceback" not in err
    assert streamhouse("status", "orders", "--json")["flows"][0]["state"] == "stopped"
    streamhouse("run", "orders", "--once")
    found = streamhouse("query", "SELECT product, revenue_cents FROM dws.revenue_by_product", "--json")
    expected = revenue(lines_of(shop))
    assert {row["product"]: row["revenue_cents"] for row in found["rows"]} == expected
    assert sum(expected.values()) == 2 * sum(revenue(lines_of(shop, "*01.csv")).values())


@pytest.mark.parametrize(
    ("sql", "code", "text"),
    [
        ("SELEC 1", 3, "SH601"),
        ("SELECT nothing FROM ods.orders", 3, "SH601"),
        ("SELECT * FROM ods.nothing", 3, "SH601"),
        ("DROP TABLE ods.orders", 3, "SH601"),
    ],
)
def test_wrong_queries_are_refused_in_words(first_run, shop, command, environment, sql, code, text):
    done = subprocess.run(
        [*command, "query", sql], cwd=shop, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_examples_run_on_real_spark(shop, streamhouse):
    passed = streamhouse("action", "test", "--json")
    assert (passed["passed"], passed["failed"]) == (2, 0)


def test_failing_examples_show_what_differs(tmp_path, streamhouse):
    write_action(
        tmp_path,
        "SELECT id, name, 1 / (id - 7) AS ratio FROM rows WHERE id > :least",
        examples="""
  - {given: {rows: [{id: 1, name: a}, {id: 2}, {id: 2}]}, expect: [{id: 2}, {id: 2, name: b}, {id: 3}]}
  - {given: {rows: [{id: 5, name: x}]}, params: {least: 9}, expect: []}
  - {given: {}, expect: []}
  - {given: {rows: [{id: 7}]}, expect: []}
""",
    )
    found = streamhouse("action", "test", "--json", code=3, cwd=tmp_path)
    assert (found["passed"], found["failed"]) == (2, 2)
    first, _, _, last = found["examples"]
    assert first["missing"] == [{"id": 2, "name": "b"}, {"id": 3, "name": None}]
    assert first["unexpected"] == [{"id": 2, "name": None}]
    assert last["error"].startswith("[DIVIDE_BY_ZERO] ")
    assert "\n" not in last["error"]


@pytest.mark.parametrize(
    ("example", "told"),
    [
        ("{given: {rows: []}, expect: [{nme: x}]}", "did you mean 'name'?"),
        ("{given: {rows: [{id: many}]}, expect: []}", "'many' is no int"),
    ],
)
def test_an_example_that_makes_no_sense_is_told_before_spark_starts(tmp_path, streamhouse, example, told):
    write_action(tmp_path, "SELECT id, name FROM rows WHERE id > :least", examples=f"\n  - {example}\n")
    error = json.dumps(streamhouse("action", "test", "--json", code=3, cwd=tmp_path))
    assert told in error
    assert '"file": "actions/pick.sql"' in error


def write_action(root: Path, sql: str, examples: str) -> None:
    (root / "flows").mkdir()
    (root / "actions").mkdir()
    header = "action: pick\nstep: clean\ninputs:\n  rows: {id: int, name: string}\n"
    header += f"params:\n  least: {{type: int, default: 1}}\nexamples:{examples}"
    (root / "actions" / "pick.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
