"""A project: its folder, its settings, and where it keeps what it makes."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from streamhouse.errors import NotAProjectError
from streamhouse.model.flow import Flow
from streamhouse.model.place import is_local, local_path
from streamhouse.model.table import Column
from streamhouse.project.cache.source_columns import ColumnCache, Elsewhere
from streamhouse.project.settings import FILE_NAME, Settings, load_settings

if TYPE_CHECKING:
    from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class Project:
    """A folder with `flows/` or `streamhouse.yaml`.

    Attributes:
        root: Absolute.
        elsewhere: Finds the columns of sources where the packages that read them are not installed; None: nobody.
    """

    root: Path
    settings: Settings
    elsewhere: Elsewhere | None = field(default=None, compare=False)

    @classmethod
    def find(cls, path: Path) -> Self:
        """The project that `path` lies in: the nearest folder, itself first, that looks like one.

        Raises:
            NotAProjectError: there is none.
            DefinitionError: its settings are wrong.
        """
        start = path.resolve()
        for folder in (start, *start.parents):
            if _is_project(folder):
                return cls(folder, load_settings(folder)).closed()
        raise NotAProjectError(
            f"{start} is in no Streamhouse project: no folder here or above has flows/ or {FILE_NAME}",
            hint="make one with 'streamhouse init DIR', or name one with --project DIR",
        )

    @classmethod
    def at(cls, folder: Path, elsewhere: Elsewhere | None = None) -> Self:
        """The project whose root is `folder`; folders above are not looked at.

        Raises:
            NotAProjectError: it is none.
            DefinitionError: its settings are wrong.
        """
        root = folder.resolve()
        if not _is_project(root):
            raise NotAProjectError(
                f"{root} is no Streamhouse project: it has neither flows/ nor {FILE_NAME}",
                hint="make one with 'streamhouse init DIR'",
            )
        return cls(root, load_settings(root), elsewhere).closed()

    @property
    def state_dir(self) -> Path:
        """Everything that Streamhouse keeps for this project on this machine; need not exist yet."""
        return self.root / ".streamhouse"

    @property
    def keeps_to_itself(self) -> bool:
        """Whether all files that Streamhouse makes lie in `state_dir`: no other program reads its lakes as files."""
        return all(
            not is_local(place) or Path(place).is_relative_to(self.state_dir) for place in (self.warm, self.cold)
        )

    def closed(self) -> Self:
        """Let nobody else enter `state_dir`, if it is there: logs, state and tables are in it. Returns the project."""
        with suppress(OSError):  # it is not there yet, or somebody else's
            if self.state_dir.stat().st_mode & 0o077:
                self.state_dir.chmod(0o700)
        return self

    def runner_log(self, name: str) -> Path:
        """Where the runner of that name writes, when it was started on this machine."""
        return self.logs / f"runner-{name}.log"

    @property
    def logs(self) -> Path:
        """Logs of services, Spark and crashes; need not exist yet."""
        return self.state_dir / "logs"

    @property
    def warm(self) -> str:
        """The Paimon warehouse: an absolute path, or the URL of an object store."""
        return self._warehouse(self.settings.warm.warehouse, "warm")

    @property
    def cold(self) -> str:
        """The Iceberg warehouse: an absolute path, or, where there is a catalog, what that knows it by ("": one)."""
        cold = self.settings.cold
        if cold.is_rest or (cold.catalog and cold.warehouse):
            return cold.warehouse or ""
        return self._warehouse(self.settings.cold.warehouse, "cold")

    @property
    def state_url(self) -> str:
        """The database URL of the state store; a relative SQLite path counts from the root."""
        url = self.settings.state
        if url is None:
            return f"sqlite:///{self.state_dir / 'state.db'}"
        scheme, _, path = url.partition(":///")
        if scheme.startswith("sqlite") and path and not path.startswith((":memory:", "file:")):
            return f"{scheme}:///{self.root / path}"
        return url

    def state(self) -> "StateStore":
        """The state store; close it after use. The first call on it creates what is missing."""
        from streamhouse.state.store import StateStore

        return StateStore(self.state_url)

    @property
    def state_file(self) -> Path | None:
        """The file with the state store, which need not exist yet; None: a server has it."""
        return Path(self.state_url.partition(":///")[2]) if self.state_url.startswith("sqlite") else None

    def existing_state(self) -> "StateStore | None":
        """The state store, or None when nothing ever ran here: looking at it must not create it."""
        return None if self.state_file is not None and not self.state_file.exists() else self.state()

    def source_columns(self, flow: Flow) -> dict[str, tuple[Column, ...]]:
        """Source → the columns it delivers, remembered until its options or files change.

        Raises:
            SourceError: a source is unknown, or what it names does not exist.
            DefinitionErrors: several are.
        """
        return self.column_cache().of(flow.sources)

    def column_cache(self) -> ColumnCache:
        """Remembers columns of sources; to be used at once, and created again after anything may have changed."""
        return ColumnCache(self.root, self.state_dir / "cache" / "columns", self.elsewhere)

    def _warehouse(self, location: str | None, tier: str) -> str:
        if not location:
            return str(self.state_dir / tier)
        return str(self.root / local_path(location).expanduser()) if is_local(location) else location


def _is_project(folder: Path) -> bool:
    return (folder / "flows").is_dir() or (folder / FILE_NAME).is_file()
