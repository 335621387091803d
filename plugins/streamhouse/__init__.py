"""Streamhouse: declarative data flows for the streaming lakehouse."""
