"""Stores that go away, change or lose what they held: the flow waits, goes on, or says in one line what is wrong."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from streamhouse.model.table import Column
from streamhouse.project.project import Project
from streamhouse.services.cluster import COORDINATOR, TABLET
from streamhouse.services.services import Services
from streamhouse.stores.ledger import NoLedger
from tests.flows import assert_equals_batch, command, drop_tables, with_stores
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S, SOAKING, until
from tests.ports import take_ports

pytestmark = [pytest.mark.services, pytest.mark.spark, deep("servers that die for minutes")]

FLOW, SEGMENT = "outage", "main"
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/latest.sql": "/* ---\naction: latest\nstep: clean\ninputs: {lines: {}}\noutput: {primary_key: [shop]}\n"
    "--- */\nSELECT shop, id, cents FROM lines\n",
    "actions/totals.sql": "/* ---\naction: totals\nstep: aggregate\ninputs: {lines: {}}\n--- */\n"
    "SELECT shop, SUM(cents) AS cents, COUNT(*) AS lines FROM lines GROUP BY shop\n",
    "actions/averages.sql": "/* ---\naction: averages\nstep: aggregate\ninputs: {lines: {}}\n"
    "output: {primary_key: [shop]}\n--- */\nSELECT shop, AVG(cents) AS cents FROM lines GROUP BY shop\n",
    "flows/outage.yaml": f"""\
flow: {FLOW}
freshness: 100ms
max_rows_per_epoch: 10
sources:
  lines: {{files: {{path: data/*.csv, columns: {{id: bigint, shop: string, cents: bigint}}}}}}
steps:
  - {{use: keep, reads: {{rows: lines}}, writes: ods.out_lines}}
  - {{use: keep, reads: {{rows: lines}}, writes: ods.out_warm}}
  - {{use: keep, reads: {{rows: lines}}, writes: ods.out_cold}}
  - {{use: latest, reads: {{lines: ods.out_lines}}, writes: dwd.out_latest}}
  - {{use: totals, reads: {{lines: ods.out_lines}}, writes: dws.out_totals}}
  - {{use: averages, reads: {{lines: dwd.out_latest}}, writes: dws.out_averages}}
tables:
  ods.out_lines: {{tiers: {{hot: 7d}}}}
  ods.out_warm: {{tiers: {{warm: 7d}}}}
  ods.out_cold: {{tiers: {{cold: forever}}}}
""",
}


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """A Fluss of our own, to be killed: it comes back at the same address."""
    services = Services(tmp_path_factory.mktemp("outage"), port=take_ports(1)[0])
    services.up()
    yield services
    services.down()


@pytest.fixture
def project(tmp_path, services, spark, monkeypatch):
    address = services.up().fluss
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("STREAMHOUSE_FLUSS", address)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project.at(tmp_path)
    add(found, 0)
    yield found
    services.up()
    drop_tables(found, FLOW, spark)


def add(project, number, rows=60):
    """One more file, which appears as a whole."""
    lines = [f"{number * 1000 + i},shop{i % 3},{i * 7 % 50}" for i in range(rows)]
    new = project.root / "data" / ".new"
    new.write_text("\n".join(["id,shop,cents", *lines]) + "\n")
    new.replace(project.root / "data" / f"{number:03}.csv")


def start(project):
    output = (project.root / "output").open("w")
    return subprocess.Popen(
        command(project, FLOW),
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )


def ended(project, process):
    """Its exit code and what it printed, which is never a traceback."""
    try:
        code = process.wait(PATIENCE_S)
    finally:
        process.kill()
    printed = (project.root / "output").read_text()
    assert "Traceback" not in printed
    assert "py4j" not in printed
    return code, printed


def run(project):
    return ended(project, start(project))


def the_error(printed):
    """The one error that was printed: its code and its line."""
    found = re.findall(r"^.*\b(SH\d{3})\b.*$", printed, re.MULTILINE)
    lines = [line for line in printed.splitlines() if re.search(r"\bSH\d{3}\b", line)]
    assert len(found) == 1, printed
    assert "internal error" not in printed
    return found[0], lines[0]


def epochs(project):
    with project.state() as state:
        return state.progress(FLOW).epochs


def retries(project):
    with project.state() as state:
        return [event.text for event in state.events(FLOW, limit=1000) if event.kind == "retry"]


def wait_for(process, condition, project):
    printed = (project.root / "output").read_text

    def look():
        found = condition()
        assert found or process.poll() is None, printed()
        return found

    until(look, saw=printed)


def kill(services, name):
    """End a server as a crash would, and wait until it is gone: `up` must not find it alive."""
    os.kill(pid(services, name), signal.SIGKILL)
    until(lambda: services.status().endpoints is None)


def pid(services, name):
    return next(service.pid for service in services.status().services if service.name == name)


def test_servers_that_die_and_come_back(project, services, spark):
    add(project, 1, rows=400)  # forty epochs, so that the flow does not end before the servers do
    process = start(project)
    for name in (TABLET, COORDINATOR):
        begun, told = epochs(project), len(retries(project))
        wait_for(process, lambda begun=begun: epochs(project) > begun, project)
        kill(services, name)
        services.up()  # restarts them all
        wait_for(process, lambda told=told: len(retries(project)) >= told + 2, project)  # it waits, and goes on
    code, printed = ended(project, process)
    assert code == 0, printed
    told = retries(project)
    assert len(told) >= 2
    for waits, goes_on in zip(told[::2], told[1::2], strict=True):
        assert re.match(r"main waits: .*SH401 Fluss ", waits)
        assert re.match(r"main goes on after \d+\.\d s and \d+ attempts: Fluss ", goes_on)
    assert printed.count("; trying again") == len(told) / 2  # once for each, however many attempts it takes
    assert_equals_batch(project, FLOW, spark)


@soak
def test_a_server_that_is_silent_for_a_while(project, services, spark):
    process = start(project)
    told = len(retries(project))
    wait_for(process, lambda: epochs(project) >= 2, project)
    os.kill(pid(services, TABLET), signal.SIGSTOP)
    wait_for(process, lambda: len(retries(project)) > told, project)  # it counts as away
    os.kill(pid(services, TABLET), signal.SIGCONT)
    code, printed = ended(project, process)
    assert code == 0, printed
    assert_equals_batch(project, FLOW, spark)


@soak  # a write that was on its way is waited for four times a minute
def test_a_server_that_stays_away(project, services, spark, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_PATIENCE", "10s")
    told = len(retries(project))
    process = start(project)
    wait_for(process, lambda: epochs(project) >= 2, project)
    kill(services, TABLET)
    code, printed = ended(project, process)
    assert code == 5, printed
    assert the_error(printed)[0] == "SH401", printed
    assert len(retries(project)) == told + 1
    with project.state() as state:
        progress = state.progress(FLOW)
    assert progress.state == "failed"
    assert progress.error
    services.up()
    code, printed = run(project)
    assert code == 0, printed
    assert_equals_batch(project, FLOW, spark)


@soak
def test_a_table_that_was_changed_beside_us(project, spark):
    assert run(project)[0] == 0

    def otherwise(plan, stores):
        table = plan.tables["dws.out_totals"]
        columns = tuple(
            Column(name=c.name, type="string", nullable=c.nullable) if c.name == "lines" else c for c in table.columns
        )
        store = stores[table.tiers.target]
        store.ledger = NoLedger()  # somebody else, who does not ask what we know
        store.drop(table.name)
        store.create(table.model_copy(update={"columns": columns, "merge": {}}))

    with_stores(project, FLOW, spark, otherwise)
    add(project, 1)
    done = epochs(project)
    code, printed = run(project)
    assert code in (5, 6), printed  # another table of that name, which has none of the rows
    assert "dws.out_totals" in the_error(printed)[1]
    assert epochs(project) == done


@soak
@pytest.mark.parametrize("name", ["ods.out_warm", "ods.out_cold", "ods.out_lines"] if SOAKING else ["ods.out_warm"])
def test_a_table_that_was_removed_beside_us(project, spark, name):
    """To go on in a new and empty table would lose its rows without a word."""
    assert run(project)[0] == 0
    with_stores(project, FLOW, spark, lambda plan, stores: stores[plan.tables[name].tiers.target].drop(name))
    add(project, 1)
    done = epochs(project)
    code, printed = run(project)
    assert code in (5, 6), printed
    assert name in the_error(printed)[1]
    assert epochs(project) == done


@soak
def test_a_lake_that_cannot_be_written(project, spark):
    assert run(project)[0] == 0
    warm = Path(project.warm)
    moved = warm.with_name("warm.away")
    warm.rename(moved)
    warm.write_text("not a folder")  # who may write anywhere cannot write into a file either
    add(project, 1)
    done = epochs(project)
    code, printed = run(project)
    assert code in (4, 5, 6), printed
    assert str(warm) in the_error(printed)[1] or "ods.out_warm" in the_error(printed)[1]
    assert epochs(project) == done

    warm.unlink()
    shutil.move(moved, warm)
    code, printed = run(project)
    assert code == 0, printed
    assert_equals_batch(project, FLOW, spark)
