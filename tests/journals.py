"""Journals of a capture as a test writes them, without a database."""

from pathlib import Path

from streamhouse.capture.journal import new_group, next_segment, set_begun
from streamhouse.ingest.journal import journal_folder

TABLES = ("public.orders", "public.others")


class Journal:
    """The journal of the connection `shop`; a call adds lines to a new segment and returns its file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folder = journal_folder(root, "shop")
        folder.mkdir(parents=True)
        self.group = new_group(folder, "shop", TABLES)
        set_begun(self.group)

    def __call__(self, *lines: str) -> Path:
        file = next_segment(self.group)
        file.write_text("".join(f"{one}\n" for one in lines))
        return file
