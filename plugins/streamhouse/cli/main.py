"""Entry point: commands by name, errors to text and exit codes, signals to a clean end."""

import atexit
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.failures import INTERRUPTED, report, report_thread
from streamhouse.cli.lazy import LazyGroup
from streamhouse.secret import masked
from streamhouse.spark.interrupt import interruptible
from streamhouse.spark.stack_traces import quiet_py4j

EXIT_CODES = """\b
Exit codes:
  0  done                        5  a store refuses or does not answer
  1  an error of Streamhouse     6  an epoch, lease or position is not as recorded
  2  wrong usage                 10 plan, trigger, --dry-run: something would change
  3  wrong definitions or SQL    11 plan, apply, run, trigger: a person must decide first
  4  the machine lacks something 12 tier: rows are overdue in a lake
                                 13 forget: something still has the key
                                 130 interrupted (Ctrl-C, SIGTERM)
"""

_COMPLETION = "_STREAMHOUSE_COMPLETE"  # click's name for it
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from streamhouse.cli.version import version_text

        click.echo(version_text())
        context.exit()


@click.group(
    cls=LazyGroup,
    commands_at={
        "init": "streamhouse.cli.init:init",
        "import": "streamhouse.cli.import_tables:import_tables",
        "source": "streamhouse.cli.source:source",
        "validate": "streamhouse.cli.validate:validate",
        "plan": "streamhouse.cli.plan:plan",
        "lineage": "streamhouse.cli.lineage:lineage",
        "describe": "streamhouse.cli.describe:describe",
        "apply": "streamhouse.cli.apply:apply",
        "changes": "streamhouse.cli.apply:changes",
        "env": "streamhouse.cli.environment:environment",
        "run": "streamhouse.cli.run:run",
        "runner": "streamhouse.cli.runner:runner",
        "capture": "streamhouse.cli.capture:capture",
        "tier": "streamhouse.cli.tier:tier",
        "upkeep": "streamhouse.cli.upkeep:upkeep",
        "backfill": "streamhouse.cli.backfill:backfill",
        "adopt": "streamhouse.cli.adopt:adopt",
        "restore": "streamhouse.cli.restore:restore",
        "forget": "streamhouse.cli.forget:forget",
        "query": "streamhouse.cli.query:query",
        "quarantine": "streamhouse.cli.quarantine:quarantine",
        "ask": "streamhouse.cli.ask:ask",
        "proposals": "streamhouse.cli.proposals:proposals",
        "status": "streamhouse.cli.status:status",
        "why": "streamhouse.cli.why:why",
        "ui": "streamhouse.cli.ui:ui",
        "mcp": "streamhouse.cli.mcp:mcp",
        "autopilot": "streamhouse.cli.autopilot:autopilot",
        "trigger": "streamhouse.cli.trigger:trigger",
        "events": "streamhouse.cli.events:events",
        "approvals": "streamhouse.cli.approvals:approvals",
        "approve": "streamhouse.cli.approvals:approve",
        "refuse": "streamhouse.cli.approvals:refuse",
        "services": "streamhouse.cli.services:services",
        "action": "streamhouse.cli.action:action",
        "flow": "streamhouse.cli.flow:flow",
        "demo": "streamhouse.cli.demo:demo",
        "explain": "streamhouse.cli.explain:explain",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"""\b
Start here:
  streamhouse init shop && cd shop
  streamhouse run orders --once
  streamhouse query 'SELECT * FROM dws.revenue_by_product'

{EXIT_CODES}""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the versions of Streamhouse, Python, Java and the engine.",
)
@shared_options
def streamhouse() -> None:
    """Declare data flows in SQL and YAML; Streamhouse keeps their tables up to date."""


def entry() -> None:
    """Run the command that the process was started with, and end the process."""
    code = main()
    if threading.active_count() == 1:
        # To take half a million objects apart one by one, only to leave, is a seventh of the time of a plan.
        with suppress(OSError):  # the reader of our output has gone
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


class _Masked(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))  # what a library says may have a URL with its password in it


def _mask_logs() -> None:
    """Also of what nobody has set a handler for, which goes to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Masked())


@contextmanager
def _own_umask() -> Iterator[None]:
    """A command may hide the files it makes; the caller of `main` gets its own file mode back."""
    before = os.umask(0o077)
    os.umask(before)
    try:
        yield
    finally:
        os.umask(before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing it raises gets past here.

    Args:
        arguments: Without the program's name; None: those of the process.
    """
    if _COMPLETION in os.environ:
        streamhouse.main(arguments, prog_name="streamhouse")  # a shell asks how a word could go on
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Python's 700 costs a sixth of the time of compiling: syntax trees are many objects, and most of them live on.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    # Python looks for garbage once more when it ends, in memory that the system takes back at once.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for some takes 20 ms, and we have none
    app = App(as_json="--json" in words)
    quiet_py4j()
    _mask_logs()
    threading.excepthook = lambda ended: report_thread(ended, app)
    return _exit_code(words, app)


def _refuse_bytes(words: Sequence[str]) -> None:
    """Refuse words that no file, table or name of ours can have: bytes that are not UTF-8, and NUL.

    Raises:
        UsageError: there is one.
    """
    for number, word in enumerate(words, 1):
        if "\x00" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
            raise click.UsageError(f"word {number} of the command is no text in UTF-8")


def _exit_code(words: list[str], app: App) -> int:
    try:
        _refuse_bytes(words)
        # Not click's own main: it would print, and exit, in its own ways.
        with _own_umask(), interruptible(), streamhouse.make_context("streamhouse", words, obj=app) as context:
            streamhouse.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except BrokenPipeError:
        # The reader of our output has gone (`| head`). Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (click.Abort, KeyboardInterrupt):
        click.echo("\ninterrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last door: whatever it is, a person gets one line and no traceback
        return report(error, app)
    return 0
