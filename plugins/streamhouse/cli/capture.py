"""`streamhouse capture`: the process that reads the changes of a database."""

import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval
from streamhouse.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from streamhouse.capture.calls import CaptureStatus

_connection = click.argument("connection", metavar="CONNECTION")


@click.group(cls=LazyGroup, short_help="Read the changes of databases.")
@shared_options
def capture() -> None:
    """Read the changes of a database into a journal, for all flows that read its tables.

    A CONNECTION is a name under 'connections' in streamhouse.yaml. 'streamhouse run' and runners capture what their
    flows read by themselves, while they run. A capture that is started here goes on when you leave.
    """


@capture.command(
    short_help="Capture a connection from now on.",
    epilog="""\b
Examples:
  streamhouse capture start shop
""",
)
@_connection
@click.option("--foreground", is_flag=True, help="Be the capture, here, until Ctrl-C.")
@click.option("--while-read", is_flag=True, hidden=True, help="End when the standard input ends.")
@click.option("--wait", metavar="DURATION", default="5m", show_default=True, help="How long it may take to live.")
@shared_options
@click.pass_obj
def start(app: App, connection: str, foreground: bool, while_read: bool, wait: str) -> None:
    """Capture all tables of CONNECTION that flows of this project read, and those that flows will read."""
    if foreground:
        _host(app, connection, while_read=while_read)
        return
    from streamhouse.capture import calls
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        record = calls.start(app.project, connection, wait=interval(wait, "--wait"), say=view.say)
    if app.as_json:
        app.output.document({"connection": connection, "owner": str(record.owner), "stage": record.stage})
    else:
        app.output.line(f"capture of {connection} lives: {record.owner}", style="green")


@capture.command(
    short_help="Let a capture end.",
    epilog="""\b
Examples:
  streamhouse capture stop shop
""",
)
@_connection
@click.option("--wait", metavar="DURATION", default="2m", show_default=True, help="How long it may take.")
@shared_options
@click.pass_obj
def stop(app: App, connection: str, wait: str) -> None:
    """Let the capture of CONNECTION end when the batch in hand is on the disk.

    The database keeps its log for the next start. A flow that runs and reads the connection starts it again.
    """
    from streamhouse.capture import calls
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        stopped = calls.stop(app.project, connection, wait=interval(wait, "--wait"), say=view.say)
    if app.as_json:
        app.output.document({"connection": connection, "stopped": stopped})
    else:
        app.output.line(f"capture of {connection} stopped" if stopped else f"no process captures {connection}")


@capture.command(
    short_help="Show captures, and the log that databases keep for them.",
    epilog="""\b
Examples:
  streamhouse capture status
  streamhouse capture status shop --json | jq .captures[0].slots
""",
)
@click.argument("connections", nargs=-1, metavar="[CONNECTION...]")
@shared_options
@click.pass_obj
def status(app: App, connections: tuple[str, ...]) -> None:
    """Show each CONNECTION, or all: its process, its tables, its journal, and how much log its database keeps.

    A database keeps its log until the capture has read it. A capture that does not run fills the database's disk.

    The journal keeps what a flow has yet to read. Flows that are behind, or stopped, are named below the table.
    """
    from streamhouse.capture import calls

    found = calls.status(app.project, connections)
    if app.as_json:
        app.output.document({"captures": [_document(one) for one in found]})
        return
    if not found:
        app.output.line("no connection yet (name one under 'connections' in streamhouse.yaml)")
        return
    app.output.table(
        ("connection", "state", "process", "tables", "journal", "log kept by the database", "what it does"),
        [_row(one) for one in found],
    )
    for one in found:
        if one.away:
            app.output.line(f"{one.name}: {one.away}" + (f" ({one.remedy})" if one.remedy else ""), style="yellow")
        if one.record is not None and one.record.error:
            app.output.line(f"{one.name}: {one.record.error}", style="red")
        for hold in one.holds:
            app.output.line(f"{one.name}: {hold.by} has yet to read the journal from {hold.segment} on")
        for warning in one.warnings:
            app.output.line(f"{one.name}: {warning}", style="yellow")


@capture.command(
    short_help="Begin a connection from the start.",
    epilog="""\b
Examples:
  streamhouse capture reset shop --yes
""",
)
@_connection
@click.option("--yes", is_flag=True, help="Do it without asking.")
@shared_options
@click.pass_obj
def reset(app: App, connection: str, yes: bool) -> None:
    """Remove the journal of CONNECTION and its replication slots: the next start takes a new snapshot.

    Each flow that reads the connection then asks a person what to do with its tables.
    """
    from streamhouse.capture import calls

    if not yes:
        click.confirm(f"Remove the journal of {connection}, and take a new snapshot at the next start?", abort=True)
    calls.reset(app.project, connection)
    if app.as_json:
        app.output.document({"connection": connection, "reset": True})
    else:
        app.output.line(f"the next capture of {connection} takes a new snapshot")


def _host(app: App, connection: str, *, while_read: bool) -> None:
    from streamhouse.capture.process import capture_log, host

    over = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: over.set())
    if while_read:
        threading.Thread(target=_end_with_input, args=(over,), daemon=True).start()
    log = None if sys.stdout.isatty() else str(capture_log(app.project, connection))
    host(app.project, connection, over=over, log=log, say=app.output.line)


def _end_with_input(over: threading.Event) -> None:
    while sys.stdin.buffer.read(1 << 10):
        pass
    over.set()


def _row(one: "CaptureStatus") -> tuple[object, ...]:
    record = one.record
    begun = sum(one.tables.values())
    return (
        one.name,
        record.life.value if record is not None else "never started",
        str(record.owner) if record is not None else "",
        f"{begun} of {len(one.tables)}" if begun < len(one.tables) else str(begun),
        f"{one.journal_bytes / 1e6:.1f} MB" + (f" from {', '.join(one.oldest)}" if one.oldest else ""),
        ", ".join(f"{slot.retained_bytes / 1e6:.1f} MB" if slot else "slot gone" for slot in one.slots.values()),
        record.stage if record is not None else "",
    )


def _document(one: "CaptureStatus") -> dict[str, Any]:
    record = one.record
    return {
        "connection": one.name,
        "state": record.life if record is not None else None,
        "owner": str(record.owner) if record is not None else None,
        "stage": record.stage if record is not None else None,
        "error": record.error if record is not None else None,
        "tables": [{"table": table, "snapshot_whole": begun} for table, begun in one.tables.items()],
        "journal_bytes": one.journal_bytes,
        "oldest": one.oldest,
        "held_by": [{"reader": hold.by, "segment": hold.segment} for hold in one.holds],
        "slots": [
            {
                "slot": name,
                "held_bytes": slot.retained_bytes if slot else None,
                "status": slot.status if slot else "gone",
            }
            for name, slot in one.slots.items()
        ],
        "away": one.away,
        "remedy": one.remedy,
        "warnings": one.warnings,
    }
