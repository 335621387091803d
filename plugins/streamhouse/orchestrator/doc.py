"""The text on the page of a flow's DAG: how rows go from source to sink, the flow's YAML, its SQL."""

from collections.abc import Mapping

from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.types import ReadMode, format_duration


def flow_text(plan: FlowPlan, file: str, yaml: str, sql: Mapping[str, str]) -> str:
    """Markdown.

    Args:
        plan: Of the flow.
        file: Where it is written, from the project's folder.
        yaml: What stands there.
        sql: `action@version` → its SQL as it is written.
    """
    used = dict.fromkeys(f"{step.action}@{step.version}" for step in plan.steps)
    parts = [
        plan.description,
        f"Rows are to be readable in the last layer within {format_duration(plan.freshness)}.",
        "## From source to sink",
        "\n".join(_line(step) for step in plan.steps),
        f"## {file}",
        _fenced("yaml", yaml),
        *(part for use in used if use in sql for part in (f"## {use}", _fenced("sql", sql[use]))),
    ]
    return "\n\n".join(part for part in parts if part)


def _line(step: PlannedStep) -> str:
    read = [f"{r.table} (looked up)" if r.mode is ReadMode.LOOKUP else r.table for r in step.reads]
    return f"- {', '.join(read)} → **{step.writes.name}** by {step.action}, {step.strategy}"


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.strip()}\n{fence}"
