"""Files into actions and flows, each with the places of what it says; looks them up by name.

The registry loads sqlglot, and so waits until it is asked for: reading the settings needs none of it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamhouse.registry.registry import Registry

__all__ = ["Registry"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from streamhouse.registry.registry import Registry

        return Registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
