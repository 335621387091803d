"""The embedded services of a project, from when a runner needs them to its end: started again when they die."""

import logging
import time
from collections.abc import Callable

from streamhouse.errors import RunnerFailedError, StreamhouseError
from streamhouse.install.stage import Stage, silent
from streamhouse.project.project import Project
from streamhouse.services.services import Services

_LOOK_S = 2.0
_AGAIN_S = 10.0
_log = logging.getLogger(__name__)


class ServiceWatch:
    """Does nothing before `up`: where others run the project's Fluss, or no table is in it, there is none to keep."""

    def __init__(
        self,
        project: Project,
        say: Callable[[str], None] = lambda _: None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Touches nothing yet.

        Args:
            project: Whose services.
            say: Is called with what is waited for.
            tell: Is called with what died, and when it is there again.
        """
        self._services = Services(project.root, ivy_settings=project.settings.ivy_settings)
        self._say = say
        self._tell = tell
        self._is_reported = False
        self._fluss: str | None = None
        self._is_used = False
        self._look_at = 0.0

    def up(self) -> str:
        """Start what does not run, and give host:port of Fluss. Whatever thread calls it, `check` may run meanwhile.

        Raises:
            EnvironmentProblem: see `Services.up`.
            RunnerFailedError: they answer elsewhere than before, where nobody connected to them finds them.
        """

        def say_stage(stage: Stage) -> None:
            self._say(stage.text)

        if self._is_used:
            endpoints = self._services.again(say_stage)
        else:
            endpoints = self._services.use(say_stage)
            self._is_used = True
        before, self._fluss = self._fluss, endpoints.fluss
        if before not in (None, endpoints.fluss):
            raise RunnerFailedError(
                f"Fluss came up again at {endpoints.fluss} instead of {before}, whose port is taken",
                hint="start the runner again",
            )
        return endpoints.fluss

    def check(self) -> None:
        """Look now and then, and bring up again what has died."""
        now = time.monotonic()
        if self._fluss is None or now < self._look_at:
            return
        self._look_at = now + _LOOK_S
        status = self._services.status()
        if status.endpoints is not None:
            return
        try:
            _log.warning("a service of Fluss has died; starting it again")
            self._tell_once([one.name for one in status.services if not one.alive])
            self.up()
            self._tell("Fluss is up again")
            self._is_reported = False
        except RunnerFailedError:
            raise
        except StreamhouseError as error:
            _log.warning("%s", error)
            self._look_at = now + _AGAIN_S

    def close(self) -> None:
        """Need them no more: they stop, where nobody else does."""
        if self._is_used:
            self._is_used = False
            self._services.leave(silent)

    def _tell_once(self, dead: list[str]) -> None:
        if not self._is_reported:
            self._tell(f"Fluss: {', '.join(dead) or 'every server'} died; it is started again, and the flow waits")
            self._is_reported = True
