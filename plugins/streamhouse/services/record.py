"""`services.json`: which processes of a project run, for the next command."""

import json
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from streamhouse.errors import ServiceStartError
from streamhouse.install.whole_file import write_whole
from streamhouse.model.types import Frozen
from streamhouse.services.cluster import Ports
from streamhouse.services.process import Process


class Service(Frozen):
    """One running server: `name`, its process, the port of the loopback interface where it listens."""

    name: str
    process: Process
    port: int
    log: Path


class ServiceState(Frozen):
    """What was started, in the order of the start. `fluss` is the address that clients use, `host:port`.

    `users` are the processes that need the servers, each as often as it asked for them. The last one to leave stops
    them. Pinned servers stay until `services down`.
    """

    fluss: str
    services: tuple[Service, ...]
    complete: bool = False  # all of them answered
    users: tuple[Process, ...] = ()
    pinned: bool = True

    @property
    def alive(self) -> bool:
        """Whether all that belongs to it runs."""
        return self.complete and all(service.process.alive for service in self.services)

    @property
    def living_users(self) -> tuple[Process, ...]:
        """The users that still run."""
        return tuple(user for user in self.users if user.alive)

    @property
    def is_needed(self) -> bool:
        """Whether somebody still needs the servers; those that nobody needs are orphans."""
        return self.pinned or bool(self.living_users)

    def with_user(self, user: Process) -> "ServiceState":
        """One that is needed by this process, once more."""
        return self.model_copy(update={"users": (*self.living_users, user)})

    def without_user(self, user: Process) -> "ServiceState":
        """One that is needed by this process once less."""
        users = list(self.living_users)
        ours = [place for place, one in enumerate(users) if one.pid == user.pid]
        if ours:
            del users[ours[0]]
        return self.model_copy(update={"users": tuple(users)})


def load(file: Path) -> ServiceState | None:
    """What was saved; None when nothing was.

    Raises:
        ServiceStartError: the file is damaged or of another release. To take it for none would start
            servers twice over the same data.
    """
    try:
        return ServiceState.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ServiceStartError(
            f"{file} does not say which services run: {error.errors()[0]['msg']}",
            hint="end the processes it names, if any, and remove the file",
        ) from error


def last_ports(file: Path) -> Ports | None:
    """Where the servers listened last; None when nobody knows: then any port will do."""
    with suppress(OSError, ValidationError):
        return Ports.model_validate_json(file.read_bytes())
    return None


def save(file: Path, state: ServiceState | Ports) -> None:
    """Replace the file in one step: a reader sees the old state or the new one, never half of it."""
    write_whole(file, json.dumps(state.model_dump(mode="json"), indent=2))
