"""Journals of a capture as a test writes them, without a database."""

from pathlib import Path

from streamhouse.capture.journal import new_group, next_segment, set_begun
from streamhouse.ingest.checked_lines import with_checksum
from streamhouse.ingest.journal import journal_folder

TABLES = ("public.orders", "public.others")


class Journal:
    """The journal of the connection `shop`; a call adds lines to a new segment and returns its file.

    Args:
        root: The project's folder.
        has_checksums: Whether each line gets its checksum; False: as earlier versions wrote them.
    """

    def __init__(self, root: Path, *, has_checksums: bool = True) -> None:
        self.root = root
        self._has_checksums = has_checksums
        folder = journal_folder(root, "shop")
        folder.mkdir(parents=True)
        self.group = new_group(folder, "shop", TABLES)
        set_begun(self.group)

    def __call__(self, *lines: str) -> Path:
        file = next_segment(self.group)
        texts = [with_checksum(one.encode()) if self._has_checksums else one.encode() for one in lines]
        file.write_bytes(b"".join(one + b"\n" for one in texts))
        return file
