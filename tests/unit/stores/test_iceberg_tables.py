"""Which catalogs of cold tables are read without Spark, and how their files are reached."""

import errno
from contextlib import contextmanager
from unittest.mock import MagicMock

import pytest

from streamhouse.errors import DiskFullError, StoreError, StoreUnavailableError
from streamhouse.model.table import Column, Table
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.cold import cold_reader
from streamhouse.stores.base import NeedsSparkError, UnknownFormError
from streamhouse.stores.iceberg import data_files
from streamhouse.stores.iceberg.file_io import file_io
from streamhouse.stores.iceberg.light_failures import left_to_spark
from streamhouse.stores.iceberg.tables import DatabaseTables, FolderTables, RestTables, tables_of

REST = {"catalog": "https://polaris/api/catalog", "credential": "id:hush", "scope": "PRINCIPAL_ROLE:ALL"}
DATABASE = "jdbc:postgresql://db:5432/iceberg?user=me&password=hush%21"
OF_COLD = "spark.sql.catalog.cold"


@pytest.mark.parametrize(
    ("cold", "conf", "kind"),
    [
        ({}, {}, FolderTables),
        ({"warehouse": "/srv/cold"}, {"spark.driver.memory": "4g"}, FolderTables),
        ({"warehouse": "/srv/cold"}, {f"{OF_COLD}.warehouse": "hdfs://nodes/cold"}, None),
        ({"warehouse": "/srv/cold"}, {f"{OF_COLD}.type": "hive"}, None),
        ({"warehouse": "/srv/cold"}, {OF_COLD: "org.example.Catalog"}, None),
        (REST, {}, RestTables),
        (REST, {f"{OF_COLD}.header.X-Iceberg-Access-Delegation": "vended-credentials"}, RestTables),
        (REST, {f"{OF_COLD}.rest.auth.type": "google"}, None),
        ({"catalog": DATABASE, "warehouse": "s3://lake/cold"}, {}, DatabaseTables),
        ({"catalog": DATABASE, "warehouse": "/srv/cold"}, {}, DatabaseTables),
        ({"catalog": f"{DATABASE}&sslmode=require", "warehouse": "s3://lake/cold"}, {}, DatabaseTables),
        ({"catalog": f"{DATABASE}&currentSchema=x", "warehouse": "s3://lake/cold"}, {}, None),
        ({"catalog": "jdbc:postgresql://one,two/iceberg", "warehouse": "s3://lake/cold"}, {}, None),
        ({"catalog": "jdbc:mysql://db/iceberg", "warehouse": "s3://lake/cold"}, {}, None),
    ],
)
def test_settings_decide_who_reads(tmp_path, cold, conf, kind):
    reader = cold_reader(Project(tmp_path, Settings.model_validate({"cold": cold, "spark": {"conf": conf}})))
    assert (None if reader is None else type(reader._tables)) is kind


def test_what_nobody_may_see_is_known():
    rest = {"type": "rest", "uri": "https://me:pass@polaris/", "credential": "id:hu:sh", "token": "t0ken"}
    assert set(tables_of(rest).secrets) == {"hu:sh", "t0ken", "pass"}
    assert tables_of({"type": "jdbc", "uri": DATABASE, "s3.secret-access-key": "key"}).secrets == ("hush!", "key")


@pytest.mark.parametrize(
    ("location", "options", "why"),
    [
        ("gs://lake/cold", {}, "gs://"),
        ("hdfs://nodes/cold", {}, "hdfs://"),
        ("s3://lake/cold", {"io-impl": "org.example.IO"}, "a way of its own"),
        ("s3://lake/cold", {"s3.remote-signing-enabled": "true"}, "signs"),
    ],
)
def test_places_that_only_java_reaches(location, options, why):
    with pytest.raises(NeedsSparkError, match=why):
        file_io(location, options)


def test_options_of_java_are_told_to_pyarrow():
    given = {
        "s3.endpoint": "http://store",
        "client.region": "eu-central-1",
        "s3.access-key-id": "id",
        "auth.manager": "x",
    }
    assert file_io("s3://lake/cold", given).properties == {k: v for k, v in given.items() if k != "auth.manager"}
    assert file_io("/srv/cold", {"s3.path-style-access": "false"}).properties == {"s3.force-virtual-addressing": "true"}


S3 = "When reading information for key 'k' in bucket 'lake': AWS Error {} during HeadObject operation: {}"


@pytest.mark.parametrize(
    ("said", "raised", "shown"),
    [
        (OSError(S3.format("NETWORK_CONNECTION", "curlCode: 7, Couldn't connect")), StoreUnavailableError, "endpoint"),
        (OSError(S3.format("SLOW_DOWN", "no")), StoreUnavailableError, "does not answer"),
        (OSError(S3.format("ACCESS_DENIED", "No response body.")), StoreError, "AWS_ACCESS_KEY_ID"),
        (PermissionError("Cannot open file, access denied: s3://lake/k"), StoreError, "AWS_ACCESS_KEY_ID"),
        (OSError(S3.format("NO_SUCH_BUCKET", "no")), StoreError, "bucket"),
        (FileNotFoundError("Cannot open file, does not exist: s3://lake/k"), StoreError, "upkeep removed it"),
        (OSError(S3.format("NETWORK_CONNECTION", "curlCode: 60, SSL peer certificate")), NeedsSparkError, "curlCode"),
        (ValueError("odd hush\nmore"), UnknownFormError, r"odd \*\*\*$"),
    ],
)
def test_what_is_read_through_is_translated(said, raised, shown):
    with pytest.raises(raised, match=shown) as told, left_to_spark("dwd.t", ["hush"]):
        raise said
    assert type(told.value) is raised


@pytest.mark.parametrize(
    ("said", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), DiskFullError),
        (OSError(S3.format("NETWORK_CONNECTION", "curlCode: 28, Timeout was reached")), StoreUnavailableError),
        (OSError(S3.format("ACCESS_DENIED", "no")), StoreError),
        (OSError("odd"), StoreError),
    ],
)
def test_what_is_written_through_is_translated(monkeypatch, said, raised):
    @contextmanager
    def failing(*_):
        raise said
        yield

    monkeypatch.setattr(data_files, "sink", failing)
    stored = MagicMock()
    stored.location.return_value = "/srv/cold/dwd/t"
    table = Table(name="dwd.t", columns=(Column(name="k", type="int"),), tiers={"cold": "1d"})
    with pytest.raises(raised, match=r"dwd\.t|object store") as told:
        data_files._write(stored, table, None, "parquet")
    assert type(told.value) is raised
