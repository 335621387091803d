"""Makes sure that what a project keeps is its own: repairs it after a move, and refuses a copy until it is adopted."""

import shutil
from collections.abc import Callable
from pathlib import Path

from streamhouse.errors import EnvironmentProblem, ProjectCopiedError
from streamhouse.model.place import is_local
from streamhouse.project.identity import record, recorded
from streamhouse.project.project import Project
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.record import load
from streamhouse.services.relocate import note_move
from streamhouse.stores.relocation import Relocation


def settle(project: Project, say: Callable[[str], None] = lambda _: None) -> None:
    """Note where a project is, and repair one that was moved since it last ran.

    Raises:
        ProjectCopiedError: its state is a copy of that of another project, which is still there.
        EnvironmentProblem: it was moved while its services ran.
    """
    if not project.state_dir.is_dir():
        return
    place = recorded(project.root)
    if place is None:
        record(project.root)
    elif place.root == project.root:
        if not place.id:
            record(project.root)
    elif place.is_elsewhere:
        raise ProjectCopiedError(project.root, place.root)
    else:
        say(f"this project was moved from {place.root}; repairing what names its old place")
        _refuse_running(project)
        _repair(project, place.root)
        record(project.root, place.id or None)


def adopt(project: Project, say: Callable[[str], None] = lambda _: None, *, shared: bool = False) -> bool:
    """Make a copy a project of its own, with the tables and positions that it was copied with.

    Args:
        project: The copy; what it was copied from is left alone, and may run.
        say: Is called with what is being done.
        shared: It may share with the other project what lies outside of both.

    Returns:
        Whether it was a copy; else nothing was done.

    Raises:
        EnvironmentProblem: both would write to the same stores, which lie outside of the project.
    """
    place = recorded(project.root)
    if place is None or place.root == project.root or not place.is_elsewhere:
        settle(project, say)
        return False
    outside = _outside(project)
    if outside and not shared:
        raise EnvironmentProblem(
            f"the copy would write to the same {', '.join(outside)} as {place.root}",
            hint="name others in streamhouse.yaml, or say --shared where the two never run at once",
        )
    say(f"making this copy of {place.root} a project of its own")
    _forget_processes(project)
    _repair(project, place.root)
    if project.state_url.startswith("sqlite") and "state" not in outside and (state := project.existing_state()):
        with state:
            state.disown()
    record(project.root)
    return True


def _repair(project: Project, old: Path) -> None:
    """Rewrite every path of the old place. Cut off, it is done again: the place is recorded last."""
    to = Relocation(old, project.root)
    cold = Path(project.cold)
    if is_local(project.cold) and not project.settings.cold.is_rest and cold.is_relative_to(project.root):
        from streamhouse.stores.iceberg.relocate import relocate

        relocate(cold, to)
    services = ServicesFolder.of(project.root)
    if services.base.is_dir():
        note_move(services, old, project.root)
    for name in ("cache", "airflow/compiled"):
        shutil.rmtree(project.state_dir / name, ignore_errors=True)


def _refuse_running(project: Project) -> None:
    state = load(ServicesFolder.of(project.root).state)
    if state is not None and any(service.process.alive for service in state.services):
        raise EnvironmentProblem(
            f"{project.root} was moved while its services ran, and they still write to its old place",
            hint=f"end the processes {', '.join(str(one.process.pid) for one in state.services)} and try again",
        )


def _outside(project: Project) -> list[str]:
    """What the settings name outside of the project, which a copy shares with the original."""

    def is_outside(path: str) -> bool:
        return not is_local(path) or not Path(path).is_relative_to(project.root)

    url = project.state_url
    named = {
        "Fluss": project.settings.fluss is not None,
        "warm tier": is_outside(project.warm),
        "cold tier": project.settings.cold.catalog is not None or is_outside(project.cold),
        "state": not url.startswith("sqlite") or is_outside(url.partition(":///")[2]),
    }
    return [name for name, outside in named.items() if outside]


def _forget_processes(project: Project) -> None:
    """Remove what the processes of the other project left in the copy."""
    folder = ServicesFolder.of(project.root)
    for file in (folder.state, folder.ports, folder.lock):
        file.unlink(missing_ok=True)
    shutil.rmtree(project.state_dir / "locks", ignore_errors=True)
