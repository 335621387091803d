"""Cuts a query for strategy `delta` (docs/decisions/delta.md)."""

from streamhouse.sql.delta.stages import delta_plan

__all__ = ["delta_plan"]
