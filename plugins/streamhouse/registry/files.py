"""The files of a project that define actions and flows, as bytes."""

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from streamhouse.errors import FileFormatError, Location
from streamhouse.errors.base import printable
from streamhouse.registry.regular_file import open_regular

MOST_BYTES = 1_000_000
"""Of a file that a person writes: far above any real one, and read in seconds whatever it says."""


@dataclass(frozen=True)
class DefinitionFile:
    """One file, read once, so that everything known about it is about the same bytes.

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

    @cached_property
    def text_hash(self) -> str | None:
        """Of its text; None: it has none."""
        try:
            return text_hash(self.text())
        except FileFormatError:
            return None

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


def text_hash(text: str) -> str:
    """Another one when a text is another one."""
    return blake2b(text.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class DefinitionFiles:
    """`actions/**/*.sql` and `flows/**/*.yaml` of a project, each in the order of paths."""

    actions: tuple[DefinitionFile, ...]
    flows: tuple[DefinitionFile, ...]

    @cached_property
    def digest(self) -> str:
        """Another one when some file says something else."""
        hasher = blake2b(digest_size=20)
        for file in (*self.actions, *self.flows):
            content = b"-" + file.cause.encode() if file.content is None else b"+" + file.content
            for part in (file.name.encode(), content):
                hasher.update(len(part).to_bytes(8, "big"))
                hasher.update(part)
        return hasher.hexdigest()


def read_files(root: Path) -> DefinitionFiles:
    """Read them all; a file that cannot be read is among them.

    Args:
        root: The project's folder; either folder may be absent.
    """
    return DefinitionFiles(
        tuple(_read(root, name) for name in _found(root, "actions", (".sql",))),
        tuple(_read(root, name) for name in _found(root, "flows", (".yaml", ".yml"))),
    )


def _found(root: Path, folder: str, endings: tuple[str, ...]) -> list[str]:
    """Names from `root`, in the order of paths."""
    # As Path.rglob, which takes longer: links to folders are not followed, and a folder of such a name counts.
    # A mounted volume keeps the files that its links lead to in a folder whose name begins with two dots.
    top = os.fspath(root / folder)
    names = [
        os.path.join(parent, name)[len(top) - len(folder) :].replace(os.sep, "/")  # noqa: PTH118
        for parent, folders, files in os.walk(top)
        for name in (*folders, *files)
        if name.endswith(endings) and f"{os.sep}.." not in parent[len(top) :]
    ]
    return sorted(names, key=lambda name: name.split("/"))


def _read(root: Path, name: str) -> DefinitionFile:
    path, shown = f"{root}/{name}", printable(name)
    if shown != name:
        return DefinitionFile(shown, None, "its name has a character that is no text")
    try:
        if os.path.islink(path) and not _is_within(root, name):  # noqa: PTH114
            return DefinitionFile(name, None, "it is a link that leads out of the project")
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                return DefinitionFile(name, None, f"it has {size:,} bytes, more than {MOST_BYTES:,}")
            return DefinitionFile(name, file.readall())
    except (OSError, RuntimeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "too many links"
        return DefinitionFile(name, None, (cause or "unknown cause").lower())


def _is_within(root: Path, name: str) -> bool:
    real = (root / name).resolve(strict=True)
    return any(real.is_relative_to(folder.resolve()) for folder in (root, root / name.partition("/")[0]))
