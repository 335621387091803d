"""From definitions to plans: check, order, type, explain. Pure."""

from streamhouse.compiler.compile import Actions, compile_flow, compile_project
from streamhouse.compiler.explain import ExplainedPlan, explain

__all__ = ["Actions", "ExplainedPlan", "compile_flow", "compile_project", "explain"]
