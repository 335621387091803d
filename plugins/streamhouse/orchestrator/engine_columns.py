"""Columns of sources; the engine reports them if this environment has no package that reads the sources."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamhouse.errors import Location, MissingPackageError, SourceError, StreamhouseError
from streamhouse.model.flow import Source
from streamhouse.model.table import Column
from streamhouse.orchestrator.engine_command import EngineCommand


class EngineColumns:
    """Asks the engine's command once, for all sources of a project; for one round of compiling.

    Args:
        root: The project's folder.
        command: Gives the engine's command; called when it is needed.
    """

    def __init__(self, root: Path, command: Callable[[], EngineCommand]) -> None:
        self._root = root
        self._command = command
        self._answers: dict[str, dict[str, Any]] | None = None

    def __call__(self, source: Source) -> tuple[Column, ...]:
        """The columns that a source delivers.

        Raises:
            SourceError: it cannot be opened.
            MissingPackageError: the engine's command cannot be had, or does not answer.
        """
        if self._answers is None:
            self._answers = {_identity(one["source"], one["kind"], one["options"]): one for one in self._ask()}
        found = self._answers.get(_identity(source.name, source.kind, source.options))
        if found is None:
            raise _no_answer(f"it does not know the source '{source.name}'")
        if found["error"] is not None:
            raise _error(found["error"], source)
        return tuple(Column.model_validate(column) for column in found["columns"])

    def _ask(self) -> list[dict[str, Any]]:
        try:
            return list(self._command().call(["flow", "columns", "--project", str(self._root)])["sources"])
        except (StreamhouseError, KeyError) as error:
            raise _no_answer(str(error)) from error


def _error(answer: dict[str, Any], source: Source) -> StreamhouseError:
    at = source.at if source.at.file else Location(answer["file"] or "", answer["line"] or 1, answer["column"] or 1)
    return SourceError(answer["message"], at=at, hint=answer["hint"])


def _no_answer(why: str) -> StreamhouseError:
    return MissingPackageError(
        f"only the engine's command can find which columns the sources of this project have: {why}",
        hint="name it in STREAMHOUSE_COMMAND, or in the Airflow connection 'streamhouse_engine'",
    )


def _identity(name: str, kind: str, options: Any) -> str:
    return json.dumps([name, kind, options], sort_keys=True, default=str)
