"""From definitions to plans: check, order, type, explain. Pure.

Compiling loads sqlglot, and so waits until it is asked for: comparing and showing plans need none of it.
"""

from typing import TYPE_CHECKING, Any

from streamhouse.compiler.explain import ExplainedPlan, explain

if TYPE_CHECKING:
    from streamhouse.compiler.compile import Actions, View, compile_flow, compile_project

__all__ = ["Actions", "ExplainedPlan", "View", "compile_flow", "compile_project", "explain"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from streamhouse.compiler import compile as compiling

        return getattr(compiling, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
