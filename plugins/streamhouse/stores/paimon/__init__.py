"""The warm tier: Paimon tables written and read by pypaimon and its Rust engine."""

from streamhouse.stores.paimon.store import PaimonStore

__all__ = ["PaimonStore"]
