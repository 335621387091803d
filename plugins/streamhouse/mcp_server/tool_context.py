"""What every tool is given: the project, and the ways to work on it."""

import os
import time
from dataclasses import dataclass
from typing import Any

from streamhouse.mcp_server.limits import CALL_S, Work
from streamhouse.mcp_server.look import Look
from streamhouse.mcp_server.shareable import Shared
from streamhouse.planner.secrets import Secrets
from streamhouse.project.project import Project
from streamhouse.registry.files import read_files
from streamhouse.ui.desk import Desk
from streamhouse.ui.query_process import Asker, engine_command

_REST = 10  # so many times as long as it took, and
_GOOD_FOR_S = 10.0  # at least so long: sources may have other values by then; an edit of a file is seen at once


@dataclass(frozen=True)
class ServedProject:
    """What may be shown, of the files and the state of one moment."""

    of: tuple[object, ...]
    until: float
    shared: Shared


@dataclass
class Serving:
    """One project behind one server.

    Attributes:
        seconds: A call that takes longer is given up.
    """

    desk: Desk
    asker: Asker
    work: Work
    seconds: float
    _known: ServedProject | None = None  # of the last call

    @classmethod
    def of(cls, project: Project, seconds: float = CALL_S) -> "Serving":
        """For a project; to be closed."""
        return cls(Desk(project), Asker(project.root, engine_command(), seconds), Work(), seconds)

    def look(self) -> Look:
        """The project as it is now, for one call."""
        return Look(self.desk)

    def shared(self) -> Shared:
        """What may be shown of the project as it is now; milliseconds, more after an edit."""
        state = self.desk.state
        now = (read_files(self.desk.project.root).digest, state.definitions.stamp() if state is not None else None)
        known = self._known
        if known is None or known.of != now or time.monotonic() > known.until:
            began = time.monotonic()
            found = Shared.of(self.look())
            took = time.monotonic() - began
            self._known = known = ServedProject(now, time.monotonic() + max(_GOOD_FOR_S, _REST * took), found)
        return known.shared

    def cleaned(self, document: Any) -> Any:
        """Plain data as it may leave: without the secrets of the project and passwords in URLs."""
        project, known = self.desk.project, self._known
        flows = known.shared.flows.values() if known is not None else ()
        return Secrets.of(project.settings, project.root, flows, os.environ).without_in(document)

    def close(self) -> None:
        """Release what is open."""
        self.work.close()
        self.desk.close()
