"""What Paimon and Iceberg are told of an object store."""

import pytest

from streamhouse.install.jars import spark_jars
from streamhouse.runtime.session import cold_catalog
from streamhouse.stores.object_store import ObjectStore

STORE = ObjectStore(endpoint="http://store:9000", region="eu-central-1")
KEYS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "OTHER": "x"}
CATALOG = "spark.sql.catalog.cold"


def test_paimon_gets_keys_of_the_environment():
    assert STORE.paimon_options("s3://lake/warm", KEYS) == {
        "s3.endpoint": "http://store:9000",
        "s3.region": "eu-central-1",
        "s3.path.style.access": "true",
        "s3.access-key": "id",
        "s3.secret-key": "secret",
    }
    assert STORE.paimon_options("/srv/warm", KEYS) == {}
    assert "s3.access-key" not in ObjectStore().paimon_options("s3://lake/warm", {})


@pytest.mark.parametrize(
    ("warehouse", "catalog", "kind", "uri", "in_store"),
    [
        ("/srv/cold", None, "hadoop", None, False),
        ("s3://lake/cold", "jdbc:postgresql://db/lake", "jdbc", "jdbc:postgresql://db/lake", True),
        ("/srv/cold", "jdbc:postgresql://db/lake", "jdbc", "jdbc:postgresql://db/lake", False),
        ("lake", "https://polaris/api/catalog", "rest", "https://polaris/api/catalog", True),
    ],
)
def test_the_catalog_of_the_cold_tables(warehouse, catalog, kind, uri, in_store):
    options = cold_catalog(warehouse, catalog, STORE)
    assert options[f"{CATALOG}.type"] == kind
    assert options.get(f"{CATALOG}.uri") == uri
    assert options[f"{CATALOG}.warehouse"] == warehouse
    assert (options.get(f"{CATALOG}.s3.endpoint") == STORE.endpoint) == in_store
    assert (f"{CATALOG}.io-impl" in options) == in_store
    assert not any("secret" in value for value in options.values())


def test_jars_are_fetched_for_what_is_used():
    few = spark_jars(object_store=False, catalog=None)
    more = spark_jars(object_store=True, catalog="jdbc:postgresql://db/lake")
    assert set(few) < set(more)
    assert [jar.artifact for jar in more if jar not in few] == ["paimon-s3", "iceberg-aws-bundle", "postgresql"]
    assert spark_jars(object_store=False, catalog="https://polaris") == few
