"""The embedded services: real servers, started, stopped, killed and started again."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from streamhouse.errors import DiskFullError, PortTakenError, ServiceStartError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.services.ports import free_ports
from streamhouse.services.services import Services, running
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.ddl import describe
from streamhouse.stores.fluss.wire.cluster import Wire
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.services,
    deep(
        "servers that end in other ways",
        stays=(
            "test_rows_are_there_again_after_down_and_after_kill_9",
            "test_services_of_a_killed_process_stop_with_the_one_that_takes_them_over",
        ),
    ),
]

PLUGINS = Path(__file__).parents[2] / "plugins"
SERVERS = {"zookeeper", "coordinator", "tablet"}


@pytest.fixture
def services(tmp_path):
    # What a shell, a settings file and Java each have trouble with, all in one path.
    root = tmp_path / "a #project: näme"
    root.mkdir()
    services = Services(root)
    yield services
    services.down()


def path(name):
    import fluss

    return fluss.TablePath("fluss", name)


def on(address, work):
    import fluss

    async def go():
        connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": address}))
        try:
            return await asyncio.wait_for(work(connection), PATIENCE_S)
        finally:
            await connection.close()

    return asyncio.run(go())


async def make_tables(connection):
    import fluss

    columns = pa.schema([("id", pa.int64()), ("amount", pa.int64())])
    admin = connection.get_admin()
    log = fluss.TableDescriptor(fluss.Schema(columns), bucket_count=2)
    keyed = fluss.TableDescriptor(fluss.Schema(columns, ["id"]), bucket_count=2)
    await admin.create_table(path("events"), log, ignore_if_exists=False)
    await admin.create_table(path("totals"), keyed, ignore_if_exists=False)


def make_partitioned_table(address):
    """As the product does: a partition of a table that the coordinator does not know stops it, and it may miss one."""
    columns = (Column(name="day", type="string"), Column(name="id", type="bigint"))
    table = Table(name="ods.by_day", columns=columns, partition_by=("day",), tiers=Tiers(hot="7d"))
    with Wire(address) as wire:
        catalog = FlussCatalog(wire)
        catalog.create("fluss.by_day", describe(table))
        catalog.create_partitions("fluss.by_day", ["2026-11-21"])


def write(first, end):
    async def work(connection):
        ids = list(range(first, end))
        events = (await connection.get_table(path("events"))).new_append().create_writer()
        events.write_arrow(pa.table({"id": ids, "amount": [i * 10 for i in ids]}))
        await events.flush()
        totals = (await connection.get_table(path("totals"))).new_upsert().create_writer()
        for i in ids:
            totals.upsert({"id": i % 100, "amount": i})
        await totals.flush()
        by_day = (await connection.get_table(path("by_day"))).new_append().create_writer()
        by_day.write_arrow(pa.table({"day": ["2026-11-21"] * len(ids), "id": ids}))
        await by_day.flush()

    return work


async def read_partition(connection):
    import fluss

    [partition] = await connection.get_admin().list_partition_infos(path("by_day"))
    table = await connection.get_table(path("by_day"))
    scanner = await table.new_scan().with_fixed_schema(True).create_record_batch_log_scanner()
    scanner.subscribe_partition(partition.partition_id, 0, fluss.EARLIEST_OFFSET)
    return sorted((await scanner.to_arrow())["id"].to_pylist())


async def read(connection):
    import fluss

    events = await connection.get_table(path("events"))
    scanner = await events.new_scan().with_fixed_schema(True).create_record_batch_log_scanner()
    for bucket in range(2):
        scanner.subscribe(bucket, fluss.EARLIEST_OFFSET)
    ids = sorted((await scanner.to_arrow())["id"].to_pylist())

    totals = await connection.get_table(path("totals"))
    table_id = totals.get_table_info().table_id
    rows = {}
    for bucket in range(2):
        scan = totals.new_scan().limit(2**31 - 1).create_bucket_batch_scanner(fluss.TableBucket(table_id, bucket))
        while (batch := await scan.next_batch()) is not None:
            rows.update(zip(batch.batch["id"].to_pylist(), batch.batch["amount"].to_pylist(), strict=True))
    return ids, rows


def kill(services):
    found = [psutil.Process(service.pid) for service in services.status().services]
    for process in found:
        process.kill()
    psutil.wait_procs(found, timeout=PATIENCE_S)


def test_rows_are_there_again_after_down_and_after_kill_9(services):
    first = services.up()
    on(first.fluss, make_tables)
    make_partitioned_table(first.fluss)
    on(first.fluss, write(0, 1000))
    assert services.down()
    second = services.up()
    on(second.fluss, write(1000, 1500))
    kill(services)
    assert services.status().endpoints is None
    third = services.up()
    assert first.fluss == second.fluss == third.fluss  # who knows the address finds it again
    ids, rows = on(third.fluss, read)
    assert ids == list(range(1500))
    assert rows == {i: 1400 + i for i in range(100)}
    assert on(third.fluss, read_partition) == list(range(1500))
    on(third.fluss, write(1500, 1600))
    assert on(third.fluss, read)[0] == list(range(1600))


def processes(services):
    return {service.name: psutil.Process(service.pid) for service in services.status().services}


def running_below(root):
    """Servers of the project at `root`, whoever started them."""
    marks = [str(Services(root).folder.conf)]
    found = psutil.process_iter(["cmdline", "status"])
    return [p for p in found if any(mark in a for a in p.info["cmdline"] or [] for mark in marks)]


def python(code, *arguments):
    """Another process that runs `code` with our packages on its path."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PLUGINS)},
    )


UP = """
    import sys
    from pathlib import Path
    from streamhouse.services.services import Services
    print(Services(Path(sys.argv[1])).up().fluss)
"""


def test_two_processes_that_start_at_once_share_one_cluster_on_loopback(tmp_path):
    others = [python(UP, tmp_path) for _ in range(2)]
    addresses = {other.communicate(timeout=PATIENCE_S)[0] for other in others}
    services = Services(tmp_path)
    try:
        assert addresses == {services.up().fluss + "\n"}
        assert len(running_below(tmp_path)) == 3
        found = processes(services)
        assert set(found) == SERVERS
        for name, process in found.items():
            listening = [c.laddr for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
            assert [a.ip for a in listening] == ["127.0.0.1"], name
            assert os.getsid(process.pid) == process.pid, "Ctrl-C in the terminal must not reach it"
            assert services.folder.log(name).stat().st_size > 0
            assert f"/{name}.jsa" in Path(f"/proc/{process.pid}/maps").read_text(), "the archive of its classes"
    finally:
        assert services.down()
    assert "Failed to do controlled shutdown" not in services.folder.log("tablet").read_text()
    assert not running_below(tmp_path)
    assert not services.down()
    assert services.status().services == ()


def test_where_some_servers_died_all_start_again(services):
    first = services.up()
    old = processes(services)
    old["coordinator"].kill()
    psutil.wait_procs([old["coordinator"]], timeout=PATIENCE_S)
    assert {s.name for s in services.status().services if s.alive} == {"zookeeper", "tablet"}
    second = services.up()
    new = processes(services)
    assert second == first  # at the address that whoever runs a flow knows
    assert not {p.pid for p in old.values()} & {p.pid for p in new.values()}
    assert services.up() == second


def test_the_port_asked_for_is_used_or_refused(tmp_path):
    [port] = free_ports(1)
    services = Services(tmp_path, port=port)
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(PortTakenError, match=f"port {port} of 127.0.0.1 cannot be used: Address already in use"):
            services.up()
    assert not running_below(tmp_path)
    try:
        assert services.up().fluss == f"localhost:{port}"
    finally:
        services.down()


def test_a_server_that_ends_at_its_start_is_told_with_its_reason(services):
    services.folder.make()
    (services.folder.zookeeper / "version-2").write_text("in the way")
    with pytest.raises(ServiceStartError) as told:
        services.up()
    assert "the zookeeper server ended at its start: " in told.value.message
    assert "version-2/snapshot.0 (Not a directory)" in told.value.message
    assert str(services.folder.log("zookeeper")) in told.value.hint
    assert not running_below(services.folder.base.parent.parent)
    (services.folder.zookeeper / "version-2").unlink()
    assert services.up()


def test_nothing_starts_on_a_full_disk(tmp_path):
    services = Services(tmp_path, least_free_bytes=2**62)
    with pytest.raises(DiskFullError, match="MiB free"):
        services.up()
    assert not running_below(tmp_path)


def test_running_stops_what_it_started_and_nothing_else(tmp_path):
    def fail_inside():
        with running(tmp_path):
            assert len(running_below(tmp_path)) == 3
            with running(tmp_path):  # they stay for the outer block
                pass
            assert len(running_below(tmp_path)) == 3
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert not running_below(tmp_path)


@pytest.mark.parametrize(
    ("asked", "when"),
    [(signal.SIGINT, "while it starts"), (signal.SIGINT, "when it is up"), (signal.SIGTERM, "when it is up")],
)
def test_being_asked_to_end_leaves_no_server_behind(tmp_path, asked, when):
    other = python(
        """
        import sys, time
        from pathlib import Path
        from streamhouse.services.services import running
        with running(Path(sys.argv[1]), lambda stage: print(stage.text, flush=True)):
            print("body", flush=True)
            time.sleep(60)
        """,
        tmp_path,
    )
    wanted = "starting Fluss\n" if when == "while it starts" else "body\n"
    assert any(line == wanted for line in other.stdout)
    assert len(running_below(tmp_path)) == 3
    other.send_signal(asked)
    other.communicate(timeout=PATIENCE_S)
    assert other.returncode not in (0, None)
    assert not running_below(tmp_path)


USE = """
    import sys, time
    from pathlib import Path
    from streamhouse.services.services import running
    with running(Path(sys.argv[1])):
        print("body", flush=True)
        time.sleep(600)
"""


def killed_user(root):
    """A process that needed the services, and is dead without a chance to stop them."""
    other = python(USE, root)
    assert any(line == "body\n" for line in other.stdout)
    other.kill()
    other.communicate()


def test_services_of_a_killed_process_stop_with_the_one_that_takes_them_over(tmp_path):
    killed_user(tmp_path)
    before = processes(Services(tmp_path))
    assert {process.pid for process in Services(tmp_path).orphans()} == {process.pid for process in before.values()}
    with running(tmp_path):
        assert processes(Services(tmp_path)) == before
        assert Services(tmp_path).orphans() == ()
    assert not running_below(tmp_path)


def test_services_of_a_killed_process_that_nobody_takes_over_stop_by_themselves(tmp_path):
    killed_user(tmp_path)
    # The record goes after the last server.
    until(lambda: not running_below(tmp_path) and not Services(tmp_path).status().services)


def test_services_that_a_person_started_outlive_a_killed_user(services):
    services.up()
    killed_user(services.folder.base.parent.parent)
    assert len(running_below(services.folder.base.parent.parent)) == 3
    assert services.orphans() == ()


def test_services_stay_while_another_process_needs_them(tmp_path):
    other = python(USE, tmp_path)
    try:
        assert any(line == "body\n" for line in other.stdout)
        with running(tmp_path):
            pass
        assert len(running_below(tmp_path)) == 3
        with running(tmp_path):
            other.send_signal(signal.SIGTERM)
            other.communicate(timeout=PATIENCE_S)
            assert len(running_below(tmp_path)) == 3  # this process needs them still
        assert not running_below(tmp_path)
    finally:
        other.kill()
        other.communicate()


def test_a_server_that_nothing_records_is_found_and_stopped(services):
    services.up()
    services.folder.state.unlink()
    assert len(services.orphans()) == 3
    assert services.down()
    assert services.orphans() == ()
