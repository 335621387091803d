"""The hot tier: Apache Fluss.

Reads and DDL speak Fluss's own wire protocol (`wire`, `requests`), because exact offsets, change
kinds as Arrow and merge functions are out of reach of its Python client; writes and key-value
scans go through that client (`native`).
"""

from streamhouse.stores.fluss.store import FlussStore

__all__ = ["FlussStore"]
