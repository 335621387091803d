"""`streamhouse forget`: take the rows of persons out of every table, with a proof."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.jobs.forget import Forgotten, ForgottenTable

REMAINS = 13
"""Exit code: something still has, or may have, values of the persons."""

_CHANGES = 10
_HOW = {
    "copied": ("made again: all other rows were copied", "would be made again: all other rows are copied"),
    "computed": ("made again: computed without the rows", "would be made again: computed without the rows"),
    "spared": ("spared: as it was", "spared: stays as it is"),
    "untouched": ("nothing was found", "nothing was found"),
}


@click.command(
    short_help="Forget persons: take their rows out of every table, tier and old version.",
    epilog="""\b
Examples:
  streamhouse forget dwd.customers --key customer_id=42 --dry-run
  streamhouse forget dwd.customers --key customer_id=42 --yes
  streamhouse forget dwd.customers --key email=ann@example.org --also ods.tickets.sender
""",
)
@click.argument("table")
@click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="COLUMN=VALUE",
    help="Which rows of TABLE are the person's. Again with another column: both must match. Again with the same "
    "column: a further person.",
)
@click.option("--also", multiple=True, metavar="TABLE.COLUMN", help="A further column that names the same persons.")
@click.option("--spare", multiple=True, metavar="TABLE", help="Leave a table as it is that was computed from the rows.")
@click.option("--dry-run", is_flag=True, help="Search, and change nothing; exits with 10 when rows would be removed.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; needed where no person can answer.")
@shared_options
@click.pass_obj
def forget(
    app: App,
    table: str,
    keys: tuple[str, ...],
    also: tuple[str, ...],
    spare: tuple[str, ...],
    dry_run: bool,
    yes: bool,
) -> None:
    """Make every table that has rows of a person again, without these rows, and drop the old tables.

    TABLE names the person by --key. The lineage of all flows says which other tables and sources carry that key,
    upstream and downstream: by copies of the column, and by joins. Tables that are computed from the rows are
    computed again. The old tables go at once, in every tier, with their snapshots, change logs and files. Then every
    tier is searched again, and so are sources, journals and dead letters.

    The flows must not run meanwhile. Exits with 13 when something still has the key, or may have it: the output says
    what, and what to do. You can stop the command at any time and run it again.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.jobs.forget import ForgetRequest
    from streamhouse.jobs.forget import forget as forget_persons

    request = ForgetRequest(table, _keys(keys), _columns(also), spare)
    if not dry_run and not yes:
        _confirm(table)
    with StageView() as view:
        done = forget_persons(app.project, request, dry_run=dry_run, say=view.say)
    if app.as_json:
        app.output.document({"table": table, "key": dict(request.key), "dry_run": dry_run, **asdict(done)})
    else:
        _show(app.output, done, dry_run=dry_run)
    _exit(done, dry_run=dry_run)


def _exit(done: "Forgotten", *, dry_run: bool) -> None:
    if dry_run and any(one.how in ("copied", "computed") for one in done.tables):
        raise click.exceptions.Exit(_CHANGES)
    if not dry_run and done.remains:
        raise click.exceptions.Exit(REMAINS)


def _confirm(table: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on: add --yes, or look first with --dry-run")
    text = f"Rows of this person in {table}, and in all tables that carry the key, are removed for good. Changes of "
    click.confirm(f"{text}these tables cannot be undone any more. Go on?", abort=True, err=True)


def _keys(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        column, equals, value = text.partition("=")
        if not column or not equals or not value:
            raise click.BadParameter(f"'{text}' is not COLUMN=VALUE", param_hint="--key")
        found[column] = (*found.get(column, ()), value)
    if len(found) > 1 and any(len(values) > 1 for values in found.values()):
        raise click.BadParameter(
            "with several columns there can be one person only; call the command for each", param_hint="--key"
        )
    return found


def _columns(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in texts:
        table, _, column = text.rpartition(".")
        if "." not in table or not column:
            raise click.BadParameter(f"'{text}' is not TABLE.COLUMN", param_hint="--also")
        pairs.append((table, column))
    return tuple(pairs)


def _show(output: "CommandOutput", done: "Forgotten", *, dry_run: bool) -> None:
    output.line(f"{done.rows:,} rows {'would be' if dry_run else 'were'} removed", style="bold")
    rows = [row for one in done.tables for row in _rows(one, dry_run=dry_run)]
    output.table(("table", "key", "tier", "rows", "in history", "in files", "left", "what"), rows)
    for text in done.dropped:
        output.line(f"dropped: {text}")
    for one in done.tables:
        for why in one.why:
            output.line(f"{one.table}: {why}")
    if done.not_connected:
        output.line(f"not connected with the key, not searched: {', '.join(done.not_connected)} (see --also)")
    for obstacle in done.obstacles:
        output.line(f"would be refused: {obstacle.table}: {obstacle.reason}; {obstacle.hint}", style="red")
    for left in done.remains:
        output.line(f"still there: {left.where}: {left.what}; {left.remedy}", style="yellow")
    for text in done.unchecked:
        output.line(f"not looked at: {text}")
    if not done.remains and not dry_run:
        what = "no tier, older snapshot, change log, file or source has the key any more"
        is_proof = not done.unchecked
        text = f"proof: {what}" if is_proof else f"of all that was looked at, {what}"
        output.line(text, style="green" if is_proof else "yellow")


def _rows(one: "ForgottenTable", *, dry_run: bool) -> list[tuple[object, ...]]:
    """One line for each tier of each version that had the table."""
    what = _HOW[one.how][1 if dry_run else 0]
    key = ", ".join(one.columns) or "no key"
    after: dict[str, int] = {}
    for found in one.after:
        after[found.tier] = after.get(found.tier, 0) + found.rows + found.older + (found.files or 0)
    if not one.before:
        return [(one.table, key, "", "", "", "", "", what)]
    lines: list[tuple[object, ...]] = []
    for found in one.before:
        count = after.get(found.tier, "")
        files = "" if found.files is None else found.files
        lines.append((found.table, key, found.tier, found.rows, found.older, files, count, what))
    return lines
