"""`streamhouse flow`: which action reads what and writes where."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from streamhouse.model.flow import Flow, Read, Source


@click.group(cls=LazyGroup, short_help="List and show flows.")
@shared_options
def flow() -> None:
    """Look at flows, which say what the actions read and write."""


@flow.command(
    "list",
    epilog="""\b
Examples:
  streamhouse flow list
  streamhouse flow list --json | jq -r '.flows[].flow'
""",
)
@shared_options
@click.pass_obj
def list_(app: App) -> None:
    """List every flow of the project."""
    flows = list(app.registry.flows.values())
    if app.as_json:
        app.output.document({"flows": [_short_document(f) for f in flows]})
        return
    app.output.table(
        ("flow", "owner", "sources", "steps", "file", "description"),
        [(f.flow, f.owner or None, len(f.sources), len(f.steps), f.at.file, f.description) for f in flows],
    )
    app.note_broken_files()


@flow.command(
    epilog="""\b
Example:
  streamhouse flow show orders

See also 'streamhouse plan orders --explain', which shows what the flow compiles to.
"""
)
@click.argument("name")
@shared_options
@click.pass_obj
def show(app: App, name: str) -> None:
    """Show flow NAME as it is written: its sources, and its steps with what they read and write."""
    found = app.registry.flow(name)
    if app.as_json:
        app.output.document(_document(found, app))
    else:
        _show(found, app)


def _short_document(f: "Flow") -> dict[str, Any]:
    return {
        "flow": f.flow,
        "description": f.description,
        "owner": f.owner,
        "tags": f.tags,
        "file": f.at.file,
        "sources": list(f.sources),
        "tables": [step.writes for step in f.steps],
    }


def _document(found: "Flow", app: App) -> dict[str, Any]:
    return {
        **found.model_dump(mode="json", by_alias=True),
        "file": found.at.file,
        "line": found.at.line,
        "fingerprint": app.registry.fingerprint(found),
    }


def _show(found: "Flow", app: App) -> None:
    from streamhouse.model.types import format_duration

    output = app.output
    output.line(found.flow, style="bold")
    if found.description:
        output.line(found.description)
    facts = {
        "file": found.at.file,
        "owner": found.owner or None,
        "tags": ", ".join(found.tags) or None,
        "freshness": format_duration(found.freshness),
    }
    output.facts({name: value for name, value in facts.items() if value is not None})
    if sources := [(s.name, s.kind, _options(s)) for s in found.sources.values()]:
        output.line()
        output.table(("source", "kind", "options"), sources)
    output.line()
    rows = [(step.writes, step.use, ", ".join(map(_read, step.reads.values()))) for step in found.steps]
    output.table(("writes", "action", "reads"), rows)


def _options(source: "Source") -> str:
    return ", ".join(f"{key}: {_short(value)}" for key, value in source.options.items())


def _read(read: "Read") -> str:
    return f"{read.table}{f' (as {read.mode.value})' if read.mode.value != 'changes' else ''}"


def _short(value: object) -> str:
    return f"{len(value)} entries" if isinstance(value, dict | list) else str(value)


@flow.command(
    epilog="""\b
Examples:
  streamhouse flow columns orders
  streamhouse flow columns --json | jq '.sources[] | select(.error)'
""",
)
@click.argument("name", required=False, metavar="[FLOW]")
@shared_options
@click.pass_obj
def columns(app: App, name: str | None) -> None:
    """Show the columns that the sources of FLOW (of all flows, without it) deliver.

    A source that cannot be opened is listed with its error.
    """
    flows = [app.registry.flow(name)] if name is not None else list(app.registry.flows.values())
    found = [_delivered(app, one.flow, source) for one in flows for source in one.sources.values()]
    if app.as_json:
        app.output.document({"sources": found})
        return
    rows: list[tuple[object, ...]] = []
    for one in found:
        place = (one["flow"], one["source"])
        if one["error"] is not None:
            rows.append((*place, None, None, one["error"]["message"]))
        rows += [(*place, column["name"], column["type"], None) for column in one["columns"]]
    app.output.table(("flow", "source", "column", "type", "error"), rows)
    if name is None:
        app.note_broken_files()


def _delivered(app: App, flow: str, source: "Source") -> dict[str, Any]:
    from streamhouse.cli.failures import error_document, known_error

    document: dict[str, Any] = {
        "flow": flow,
        "source": source.name,
        "kind": source.kind,
        "options": source.options,
        "columns": [],
        "error": None,
    }
    try:
        found = app.project.column_cache().of({source.name: source})[source.name]
    except Exception as error:
        known = known_error(error)
        if known is None:
            raise
        return {**document, "error": error_document(known)}
    return {**document, "columns": [column.model_dump() for column in found]}


@flow.command(
    epilog="""\b
Example:
  streamhouse flow schema > flow.schema.json    # "# yaml-language-server: $schema=flow.schema.json" atop a flow
""",
)
@shared_options
@click.pass_obj
def schema(app: App) -> None:
    """Print the JSON Schema of flow files, by which editors complete and check them."""
    from streamhouse.project.schemas import flow_file_schema

    app.output.document(flow_file_schema())
