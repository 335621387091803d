"""What Paimon and Iceberg are told of an object store."""

import pytest

from streamhouse.install.jars import SPARK_JARS, spark_jars
from streamhouse.project.settings import ColdSettings, Settings, jars_of
from streamhouse.runtime.cold import cold_catalog
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
    ("warehouse", "catalog", "kind", "in_store", "is_read_by_one"),
    [
        ("/srv/cold", None, "hadoop", False, False),
        ("s3://lake/cold", "jdbc:postgresql://db/lake", "jdbc", True, True),
        ("/srv/cold", "jdbc:postgresql://db/lake", "jdbc", False, False),
        ("lake", "https://polaris/api/catalog", "rest", True, False),
    ],
)
def test_the_catalog_of_the_cold_tables(warehouse, catalog, kind, in_store, is_read_by_one):
    options = cold_catalog(warehouse, ColdSettings(catalog=catalog), STORE)
    assert options[f"{CATALOG}.type"] == kind
    assert options.get(f"{CATALOG}.uri") == catalog
    assert options[f"{CATALOG}.warehouse"] == warehouse
    assert (options.get(f"{CATALOG}.s3.endpoint") == STORE.endpoint) == in_store
    assert (f"{CATALOG}.io-impl" in options) == is_read_by_one
    assert not any("secret" in value for value in options.values())


def test_a_rest_catalog_is_told_who_asks():
    cold = ColdSettings(catalog="https://polaris/api/catalog", credential="id:secret", scope="PRINCIPAL_ROLE:ALL")
    options = cold_catalog("", cold, STORE)
    assert options[f"{CATALOG}.credential"] == "id:secret"
    assert options[f"{CATALOG}.scope"] == "PRINCIPAL_ROLE:ALL"
    assert f"{CATALOG}.warehouse" not in options, "it has one of its own"
    assert "secret" not in repr(cold)


def test_jars_are_fetched_for_what_is_used():
    few = spark_jars(warm_in_store=False, cold_in_store=False, catalog=None)
    more = spark_jars(warm_in_store=True, cold_in_store=True, catalog="jdbc:postgresql://db/lake")
    assert set(few) < set(more)
    assert [jar.artifact for jar in more if jar not in few] == ["paimon-s3", "iceberg-aws-bundle", "postgresql"]


def test_tables_that_a_rest_catalog_places_may_be_in_an_object_store():
    cold = ColdSettings(catalog="https://polaris/api/catalog", warehouse="lake")
    assert [jar.artifact for jar in jars_of(Settings(cold=cold))[len(SPARK_JARS) :]] == ["iceberg-aws-bundle"]
