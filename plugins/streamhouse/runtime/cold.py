"""The catalog of the cold tables: what Spark knows of it, and what reads it without Spark."""

from typing import TYPE_CHECKING

from streamhouse.project.project import Project
from streamhouse.project.settings import ColdSettings
from streamhouse.runtime.stores import ProjectLedger
from streamhouse.stores.ledger import Ledger
from streamhouse.stores.object_store import ObjectStore, is_object_store

if TYPE_CHECKING:
    from streamhouse.stores.iceberg.light import IcebergReader

_CATALOG = "spark.sql.catalog.cold"


def cold_catalog(
    warehouse: str, cold: ColdSettings | None = None, objects: ObjectStore | None = None
) -> dict[str, str]:
    """Settings of the Iceberg catalog `cold`.

    They must be there when the session starts, since the store opens sessions of its own beside it.

    Args:
        warehouse: A folder; with a catalog the URL of an object store, or what a REST catalog knows it by ("": one).
        cold: Names the catalog, if there is one; without, the folder is the catalog.
        objects: Where the object store is.
    """
    cold, objects = cold or ColdSettings(), objects or ObjectStore()
    # Each session has a cache of its own: with one, rows just committed beside it are not seen.
    options = {"warehouse": warehouse, "cache-enabled": "false", "uri": cold.catalog}
    if cold.catalog is None:
        options["type"] = "hadoop"
    elif not cold.is_rest:
        options |= {"type": "jdbc", "jdbc.schema-version": "V1"}
    else:
        # Where its tables are, only the catalog knows, so each path is read by what can.
        options |= {"type": "rest", "credential": cold.credential, "scope": cold.scope, **objects.iceberg_client()}
    if not cold.is_rest and is_object_store(warehouse):
        options |= objects.iceberg_options()
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        _CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        **{f"{_CATALOG}.{key}": value for key, value in options.items() if value},
    }


def cold_reader(project: Project, ledger: Ledger | None = None) -> "IcebergReader | None":
    """Who reads the cold tables of a project in this process; None: only Spark can, as its settings are.

    Args:
        project: Whose.
        ledger: That it asks; None: one of its own.
    """
    settings = project.settings
    ours = cold_catalog(project.cold, settings.cold, settings.object_store)
    conf = ours | settings.spark.conf
    if conf[_CATALOG] != ours[_CATALOG]:
        return None
    from streamhouse.stores.iceberg.tables import tables_of

    tables = tables_of({k.removeprefix(f"{_CATALOG}."): v for k, v in conf.items() if k.startswith(f"{_CATALOG}.")})
    if tables is None:
        return None
    from streamhouse.stores.iceberg.light import IcebergReader

    return IcebergReader(tables, ledger or ProjectLedger(project))
