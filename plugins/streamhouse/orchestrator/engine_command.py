"""How Airflow calls the engine, which lives in an environment of its own: the `streamhouse` command there."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any

from streamhouse.errors import EnvironmentProblem, StreamhouseError
from streamhouse.runtime.command import COMMAND_VARIABLE, Command

CONNECTION = "streamhouse_engine"
_KNOWN = ("command", "environment", "spark")
_KNOWN_SPARK = ("master", "conf")


@dataclass(frozen=True)
class EngineCommand(Command):
    """The engine's command."""

    def _started(self, arguments: Sequence[str]) -> "subprocess.Popen[str]":
        try:
            return subprocess.Popen(
                [*self.words, *arguments, "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **self.environment},
            )
        except OSError as error:
            raise EnvironmentProblem(
                f"the engine's command does not start: {error.strerror}: {self.words[0]}",
                hint=f"name it in the Airflow connection '{CONNECTION}' (extra: command) or in {COMMAND_VARIABLE}",
            ) from error

    def call(
        self,
        arguments: Sequence[str],
        on_line: Callable[[str], None] = lambda _: None,
        *,
        fine: Collection[int] = (),
        on_start: Callable[["subprocess.Popen[str]"], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Run a command of the engine to its end.

        Args:
            arguments: Of `streamhouse`, without `--json`.
            on_line: Is called with each line of its progress.
            fine: Exit codes besides 0 that are no failure but an answer, which the document contains as well.
            on_start: Gets the process, so that another thread or a signal handler can end it.

        Returns:
            The JSON document that it printed; empty: none.

        Raises:
            EngineCallError: it failed; the text is what a person would have read.
            EnvironmentProblem: there is no such command.
        """
        process = self._started(arguments)
        on_start(process)
        lines: list[str] = []

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line.rstrip())
                on_line(lines[-1])

        reader = Thread(target=read, name="engine", daemon=True)
        reader.start()
        assert process.stdout is not None
        try:
            out = process.stdout.read()
            code = process.wait()
        except BaseException:  # the end of this call ends that command
            process.terminate()
            raise
        reader.join()
        document = _document(out)
        error_text = _error_text(document)
        if code and (code not in fine or not document or error_text):
            raise EngineCallError(error_text or "\n".join(lines[-5:]) or f"it ended with {code}", code)
        return document


class EngineCallError(StreamhouseError):
    """A command of the engine failed; `str` is its own error as it prints it, `exit_status` its exit code."""

    def __init__(self, text: str, exit_status: int) -> None:
        self.exit_status = exit_status
        super().__init__(text)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return EngineCallError, (self.message, self.exit_status)


def resolve(
    extra: Mapping[str, Any] | None, environment: Mapping[str, str], otherwise: Sequence[str] = ("streamhouse",)
) -> EngineCommand:
    """Which command it is.

    Args:
        extra: Of the Airflow connection: `command` (text or a list), `environment`, `spark` (`master`, `conf`), all
            of them optional; None: there is no connection.
        environment: Of this process.
        otherwise: The command where neither names one.

    Raises:
        EnvironmentProblem: the connection has something else.
    """
    settings = dict(extra or {})
    spark = settings.get("spark", {})
    for found, known, place in ((settings, _KNOWN, ""), (spark, _KNOWN_SPARK, "spark.")):
        for key in sorted(set(found) - set(known)):
            raise EnvironmentProblem(
                f"the Airflow connection '{CONNECTION}' has an unknown key '{place}{key}' in its extra",
                hint=f"known keys: {', '.join(known)}",
            )
    command = settings.get("command") or environment.get(COMMAND_VARIABLE) or otherwise
    words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(map(str, command))
    added = {str(key): str(value) for key, value in settings.get("environment", {}).items()}
    if spark.get("master"):
        added["STREAMHOUSE_SPARK_MASTER"] = str(spark["master"])
    if spark.get("conf"):
        added["STREAMHOUSE_SPARK_CONF"] = json.dumps(spark["conf"], sort_keys=True)
    return EngineCommand(words, added)


def engine_command(otherwise: Sequence[str] = ("streamhouse",)) -> EngineCommand:
    """The command that this Airflow is set up for; its secrets are masked in logs.

    Args:
        otherwise: As of `resolve`.

    Raises:
        EnvironmentProblem: the connection cannot be read as one.
    """
    from airflow.sdk.bases.hook import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException
    from airflow.sdk.log import mask_secret

    try:
        extra = BaseHook.get_connection(CONNECTION).extra_dejson
    except AirflowNotFoundException:
        extra = None
    if extra:
        mask_secret({"environment": extra.get("environment", {}), "conf": extra.get("spark", {}).get("conf", {})})
    return resolve(extra, os.environ, otherwise)


def _document(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _error_text(document: Mapping[str, Any]) -> str | None:
    """Errors of a JSON document as they are printed for people."""
    errors = document.get("errors") or ([document["error"]] if document.get("error") else [])
    return "\n".join(_one(error) for error in errors) or None


def _one(error: Mapping[str, Any]) -> str:
    place = ":".join(str(error[key]) for key in ("file", "line", "column") if error.get(key) is not None)
    hint = f"\n  hint: {error['hint']}" if error.get("hint") else ""
    return f"{place + ': ' if place else ''}{error['code']} {error['message']}{hint}"
