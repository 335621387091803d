"""The cold tier: Iceberg tables written and read through Spark's own connector."""

from streamhouse.stores.iceberg.store import IcebergStore

__all__ = ["IcebergStore"]
