"""The files of a project that define actions and flows, as bytes."""

import os
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import FileFormatError, Location


@dataclass(frozen=True)
class DefinitionFile:
    """One file, read once, so that all that is told about it is about the same bytes.

    Attributes:
        name: Its path from the project's folder, as a person would type it.
        content: None: it could not be read.
        cause: Why it could not.
    """

    name: str
    content: bytes | None
    cause: str = ""

    @property
    def stem(self) -> str:
        """The name of the file alone, without its ending."""
        return Path(self.name).stem

    def text(self) -> str:
        r"""What it says, lines ending in `\n`, without a byte order mark.

        Raises:
            FileFormatError: it cannot be read, or is no UTF-8.
        """
        if self.content is None:
            raise FileFormatError(f"the file cannot be read: {self.cause}", at=Location(self.name))
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode("utf-8-sig", errors="replace")
            at = Location(self.name, before.count("\n") + 1, len(before) - before.rfind("\n"))
            raise FileFormatError("this is no UTF-8 text", at=at, hint="save the file as UTF-8") from error
        return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class DefinitionFiles:
    """`actions/**/*.sql` and `flows/**/*.yaml` of a project, each in the order of paths."""

    actions: tuple[DefinitionFile, ...]
    flows: tuple[DefinitionFile, ...]


def read_files(root: Path) -> DefinitionFiles:
    """Read them all; a file that cannot be read is among them.

    Args:
        root: The project's folder; either folder may be absent.
    """
    return DefinitionFiles(
        tuple(_read(path, root) for path in _found(root / "actions", (".sql",))),
        tuple(_read(path, root) for path in _found(root / "flows", (".yaml", ".yml"))),
    )


def _found(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    # As Path.rglob, which takes longer: links to folders are not followed, and a folder of such a name counts.
    return sorted(
        Path(parent, name)
        for parent, folders, names in os.walk(folder)
        for name in (*folders, *names)
        if name.endswith(endings)
    )


def _read(path: Path, root: Path) -> DefinitionFile:
    name = path.relative_to(root).as_posix()
    try:
        return DefinitionFile(name, path.read_bytes())
    except OSError as error:
        return DefinitionFile(name, None, (error.strerror or "unknown cause").lower())
