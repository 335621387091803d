"""Files into actions and flows, each with the places of what it says; looks them up by name."""

from streamhouse.registry.registry import Registry

__all__ = ["Registry"]
