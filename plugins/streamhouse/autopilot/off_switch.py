"""Turns the autopilot off: the schedule's rounds by the settings, a loop in a terminal by a mark that it looks for."""

from datetime import UTC, datetime
from pathlib import Path

from streamhouse.errors import EnvironmentProblem
from streamhouse.project.autopilot import AutopilotMode
from streamhouse.project.project import Project
from streamhouse.project.settings import FILE_NAME
from streamhouse.registry.yaml_edits import with_value

_LINE = "autopilot: {{mode: {}}}\n"


def set_mode(project: Project, mode: AutopilotMode) -> None:
    """Write the mode into `streamhouse.yaml`, all else of which stays as it is.

    Raises:
        FileFormatError: it cannot be set there without changing something else.
        EnvironmentProblem: the file cannot be written.
    """
    file = project.root / FILE_NAME
    old = file.read_bytes().decode() if file.exists() else ""
    if all(line.split("#")[0].strip() in ("", "---") for line in old.splitlines()):
        new = (old if not old or old.endswith("\n") else old + "\n") + _LINE.format(mode)
    else:
        new = with_value(old, ("autopilot", "mode"), mode.value, FILE_NAME)
    try:
        file.write_bytes(new.encode())
    except OSError as error:
        raise EnvironmentProblem(f"{FILE_NAME} cannot be written: {error.strerror or error}") from error


def turn_off(project: Project) -> None:
    """Let no round begin any more: not by a schedule, and not in a loop that runs.

    Raises:
        FileFormatError, EnvironmentProblem: as `set_mode`; loops end all the same.
    """
    project.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    _mark(project).touch()
    if project.settings.autopilot.mode is not AutopilotMode.OFF:
        set_mode(project, AutopilotMode.OFF)


def was_turned_off(project: Project, since: datetime) -> bool:
    """Whether somebody turned it off since then."""
    mark = _mark(project)
    return mark.exists() and datetime.fromtimestamp(mark.stat().st_mtime, UTC) >= since


def _mark(project: Project) -> Path:
    return project.state_dir / "autopilot.off"
