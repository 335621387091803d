from dataclasses import replace
from pathlib import Path

import pytest

from streamhouse.install.java import JavaInstallation
from streamhouse.services.cluster import Cluster, Ports
from streamhouse.services.layout import ServicesFolder


@pytest.fixture
def cluster(tmp_path):
    folder = ServicesFolder.of(tmp_path / "a #b: c\\dé😀")
    return Cluster(
        folder,
        JavaInstallation(Path("/jdk"), 17),
        [Path("/x/a.jar"), Path("/x/b.jar")],
        Ports(zookeeper=11, coordinator=12, tablet=13),
    )


def test_every_server_listens_on_loopback_only(cluster):
    cluster.prepare()
    zookeeper = dict(line.split("=", 1) for line in (cluster.folder.conf / "zoo.cfg").read_text().splitlines())
    assert (zookeeper["clientPortAddress"], zookeeper["clientPort"]) == ("127.0.0.1", "11")
    assert zookeeper["admin.enableServer"] == "false"
    assert "-Dbind.listeners=FLUSS://127.0.0.1:12" in cluster.command("coordinator")
    assert "-Dbind.listeners=FLUSS://127.0.0.1:13" in cluster.command("tablet")


def test_memory_stays_small(cluster):
    heaps = {name: next(a for a in cluster.command(name) if a.startswith("-Xmx")) for name in Ports.__annotations__}
    assert heaps == {"zookeeper": "-Xmx96m", "coordinator": "-Xmx256m", "tablet": "-Xmx1g"}


def test_each_server_has_the_options_of_its_archive_of_classes(cluster):
    names = tuple(Ports.__annotations__)
    with_archives = replace(cluster, class_options={name: [f"-XX:SharedArchiveFile={name}"] for name in names})
    for name in names:
        command = with_archives.command(name)
        assert [word for word in command if word.startswith("-XX:Shared")] == [f"-XX:SharedArchiveFile={name}"]
        assert [word for word in command if word not in cluster.command(name)] == [f"-XX:SharedArchiveFile={name}"]


def test_a_path_with_any_character_reaches_zookeeper(cluster):
    cluster.prepare()
    line = next(x for x in (cluster.folder.conf / "zoo.cfg").read_text().splitlines() if x.startswith("dataDir="))
    # As java.util.Properties reads it.
    value = line.removeprefix("dataDir=").replace("\\\\", "\\u005c")
    read = value.encode("ascii").decode("unicode_escape").encode("utf-16", "surrogatepass").decode("utf-16")
    assert read == str(cluster.folder.zookeeper)


def test_the_log_of_the_run_before_is_kept_and_scratch_files_are_not(cluster):
    cluster.prepare()
    cluster.folder.log("tablet").write_text("first run")
    (cluster.folder.scratch / "librocksdbjni.so").write_text("")
    cluster.prepare()
    assert not cluster.folder.log("tablet").exists()
    assert (cluster.folder.logs / "tablet.log.1").read_text() == "first run"
    assert list(cluster.folder.scratch.iterdir()) == []


def test_servers_have_no_secret_of_ours(monkeypatch, cluster):
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "KAFKA_PASSWORD",
        "STREAMHOUSE_SECRET_KAFKA",
        "AIRFLOW__CORE__FERNET_KEY",
        "STREAMHOUSE_STATE",
    ):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("STREAMHOUSE_COLD_CREDENTIAL", "canary")
    monkeypatch.setenv("STREAMHOUSE_CACHE", "/plain")
    environment = cluster.environment()
    assert "canary" not in environment.values()
    assert environment["STREAMHOUSE_CACHE"] == "/plain"
    assert environment["PATH"]
