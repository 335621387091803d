"""`streamhouse action`: the reusable pieces of SQL."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.model.action import Action
    from streamhouse.registry import Registry


@click.group(
    cls=LazyGroup,
    short_help="List, show and test actions.",
    commands_at={
        "test": "streamhouse.cli.action_test:test",
        "new": "streamhouse.cli.action_new:new",
        "add": "streamhouse.cli.action_add:add",
    },
)
@shared_options
def action() -> None:
    """Look at and test actions, the reusable pieces of SQL in actions/."""


@action.command(
    "list",
    epilog="""\b
Examples:
  streamhouse action list
  streamhouse action list --json | jq -r '.actions[].action'
""",
)
@shared_options
@click.pass_obj
def list_(app: App) -> None:
    """List every action, with the flows that use it."""
    registry = app.registry
    actions = list(registry.actions.values())
    if app.as_json:
        app.output.document({"actions": [_short_document(a, registry) for a in actions]})
        return
    rows = [
        (a.action, a.version, a.step.value, len(a.examples), ", ".join(_flows_using(registry, a.action)), a.description)
        for a in actions
    ]
    app.output.table(("action", "version", "step", "examples", "used by", "description"), rows)
    app.note_broken_files()


@action.command(
    epilog="""\b
Examples:
  streamhouse action show clean_orders
  streamhouse action show clean_orders@1
"""
)
@click.argument("name")
@shared_options
@click.pass_obj
def show(app: App, name: str) -> None:
    """Show action NAME: what it reads, its parameters, what it promises, and its SQL."""
    registry = app.registry
    found = registry.action(name)
    if app.as_json:
        app.output.document(_document(found, registry))
    else:
        _show(found, app)


def _flows_using(registry: "Registry", name: str) -> list[str]:
    return list(dict.fromkeys(use.flow for use in registry.used_by(name)))


def _short_document(a: "Action", registry: "Registry") -> dict[str, Any]:
    return {
        "action": a.action,
        "version": a.version,
        "step": a.step,
        "description": a.description,
        "file": a.at.file,
        "examples": len(a.examples),
        "used_by": _flows_using(registry, a.action),
    }


def _document(found: "Action", registry: "Registry") -> dict[str, Any]:
    return {
        **found.model_dump(mode="json", by_alias=True),
        "sql": found.sql.strip(),
        "file": found.at.file,
        "line": found.at.line,
        "fingerprint": registry.fingerprint(found),
        "used_by": [{"flow": use.flow, "writes": use.step.writes} for use in registry.used_by(found.action)],
    }


def _show(found: "Action", app: App) -> None:
    from streamhouse.cli.meaning import show as show_meaning
    from streamhouse.planner.build_catalog import said_by

    output = app.output
    output.line(f"{found.action} {found.version}", style="bold")
    if found.description:
        output.line(found.description)
    output.facts(_facts(found, app.registry))
    output.line()
    _show_inputs(found, output)
    if found.params:
        output.line()
        _show_parameters(found, output)
    if found.expect:
        output.line()
        _show_expectations(found, output)
    output.line()
    show_meaning(output, said_by(found))
    output.line(found.sql.strip())


def _facts(found: "Action", registry: "Registry") -> dict[str, object]:
    uses = [f"{use.flow} ({use.step.writes})" for use in registry.used_by(found.action)]
    facts: dict[str, object] = {
        "step": f"{found.step.value}, writes {found.step.layer.value}",
        "file": found.at.file,
        "primary key": ", ".join(found.output.primary_key) or "none: rows are appended",
        "event time": found.output.event_time,
        "also called": ", ".join(found.synonyms) or None,
        "examples": len(found.examples),
        "used by": ", ".join(uses) or "no flow",
        "deprecated": _deprecation(found),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _show_expectations(found: "Action", output: "CommandOutput") -> None:
    rows = [(name, e.check, e.on_violation) for name, e in found.expect.items()]
    output.table(("expectation", "check", "on violation"), rows)


def _show_inputs(found: "Action", output: "CommandOutput") -> None:
    columns = [
        (port, column, type_)
        for port, declared in found.inputs.items()
        for column, type_ in (declared or {"(any)": ""}).items()
    ]
    output.table(("input", "column", "type"), columns)


def _show_parameters(found: "Action", output: "CommandOutput") -> None:
    rows = [
        (f":{name}", p.type, "(required)" if p.required else p.default, p.description)
        for name, p in found.params.items()
    ]
    output.table(("parameter", "type", "default", "description"), rows)


def _deprecation(found: "Action") -> str | None:
    if found.deprecated is None:
        return None
    instead = f"; use {found.deprecated.use}" if found.deprecated.use else ""
    return f"may be gone from {found.deprecated.until} on{instead}"


@action.command(
    epilog="""\b
Example:
  streamhouse action schema > action.schema.json
""",
)
@shared_options
@click.pass_obj
def schema(app: App) -> None:
    """Print the JSON Schema of the YAML header of action files."""
    from streamhouse.registry.schema_export import action_schema

    app.output.document(action_schema())
