"""`streamhouse action add`: a ready action with the columns of a table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.model.table import Column

_FOLDERS = {"clean": "clean", "aggregate": "aggregate"}
_LAYERS = {"clean": "dwd", "aggregate": "dws"}


@click.command(
    short_help="Add a ready action over a table.",
    epilog="""\b
Examples:
  streamhouse action add scd2 --input ods.customers --key customer_id --order updated_at
  streamhouse action add scd2 --input ods.changes --key id --op op --order committed_at --sequence number
  streamhouse action add hourly_rollup --input dwd.sales --key store_id --order sold_at --column cents
  streamhouse action add flatten_json --input ods.events --json-column body --field user.id=bigint
\b
Ready actions: cdc_apply, scd2, deduplicate_latest, sessionize, flatten_json, mask_personal_data, unpivot,
hourly_rollup. docs/ready-actions.md says what each needs.
""",
)
@click.argument("ready")
@click.option("--input", "table", required=True, metavar="TABLE", help="The table that the action reads: layer.table.")
@click.option("--key", "keys", multiple=True, help="Column by which rows belong together. May be repeated.")
@click.option("--order", default="", help="Column that says which row is newer, or when it happened.")
@click.option("--sequence", default="", help="Column that says which of several rows at one --order is newer.")
@click.option("--column", "columns", multiple=True, help="Column to mask, unpivot or sum. May be repeated.")
@click.option("--op", default="", help="Column with the kind of a change; 'd' is a delete.")
@click.option("--json-column", default="", help="Column with the JSON text.")
@click.option("--field", "fields", multiple=True, metavar="PATH=TYPE", help="Field of the JSON. May be repeated.")
@click.option("--name", help="Of the new action. [default: READY_TABLE]")
@shared_options
@click.pass_obj
def add(
    app: App,
    ready: str,
    table: str,
    keys: tuple[str, ...],
    order: str,
    sequence: str,
    columns: tuple[str, ...],
    op: str,
    json_column: str,
    fields: tuple[str, ...],
    name: str | None,
) -> None:
    """Write the ready action READY into the project, with the columns of a table and with examples.

    The file is an ordinary action: change it as you like. No flow changes.
    """
    from streamhouse.errors import ArgumentsError, did_you_mean
    from streamhouse.install.whole_file import write_whole
    from streamhouse.jobs.write_target import check_folders
    from streamhouse.planner.ready_actions import READY, ReadyRequest, text_of
    from streamhouse.registry.read_action import read_action

    found = READY.get(ready)
    if found is None:
        known = list(READY)
        raise ArgumentsError(f"there is no ready action '{ready}'", hint=did_you_mean(ready, known, ", ".join(known)))
    called = name or f"{ready}_{table.partition('.')[2]}"
    typed = dict(_typed(one) for one in fields)
    wanted = ReadyRequest(_columns(app, table), keys, order, columns, typed, op, json_column, sequence)
    file = Path("actions") / _FOLDERS[found.kind] / f"{called}.sql"
    path = app.project.root / file
    if path.exists() or called in app.registry.action_names:
        raise ArgumentsError(f"there is an action '{called}'", hint="give the new one another name: --name")
    text = text_of(found, called, wanted)
    read_action(text, str(file))
    check_folders(app.project.root, [file.as_posix()])
    write_whole(path, text)
    step = f"- {{use: {called}, reads: {{rows: {table}}}, writes: {_LAYERS[found.kind]}.{called}}}"
    if app.as_json:
        app.output.document({"action": called, "file": str(file), "step": step})
        return
    app.output.line(f"wrote {file}", style="green")
    app.output.line(f"try its examples: streamhouse action test {called}")
    app.output.line(f"add a step to a flow, then see: streamhouse plan --explain\n  {step}")


def _typed(text: str) -> tuple[str, str]:
    path, sign, kind = text.partition("=")
    if not sign or not path or not kind:
        raise click.BadParameter(f"'{text}' is not PATH=TYPE, such as user.id=bigint")
    return path, kind


def _columns(app: App, table: str) -> "tuple[Column, ...]":
    from streamhouse.errors import UnknownTableError, did_you_mean
    from streamhouse.project.desired import desired_plans

    plans = desired_plans(app.project, {})  # also of flows whose applied plans cannot be read: as their files say
    tables = {name: one for plan in plans.values() for name, one in plan.tables.items()}
    if table not in tables:
        hint = did_you_mean(table, list(tables), f"tables: {', '.join(tables)}")
        raise UnknownTableError(f"unknown table '{table}'", hint=hint)
    return tables[table].columns
