"""From definitions to plans: check, order, type, explain. Pure."""

from streamhouse.compiler.compile import Actions, View, compile_flow, compile_project
from streamhouse.compiler.explain import ExplainedPlan, explain

__all__ = ["Actions", "ExplainedPlan", "View", "compile_flow", "compile_project", "explain"]
