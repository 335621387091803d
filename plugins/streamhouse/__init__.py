"""Streamhouse: declarative data flows for the streaming lakehouse."""

from time import time_ns

LOADED_NS = time_ns()
"""When this process began to load our code, in ns since 1970."""
