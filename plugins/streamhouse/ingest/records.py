"""Cuts the text of a file into records, each of which is one row, with the line where it begins. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Attributes:
        texts: Of each, its bytes.
        lines: Of each, the line where it begins, from 1.
        header: The first record of a CSV file, where it has the names.
    """

    texts: list[bytes]
    lines: list[int]
    header: bytes = b""


def json_records(data: bytes) -> Records:
    """Each line that is not blank."""
    found = [(line, number) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    return Records([line.rstrip(b"\r") for line, _ in found], [number for _, number in found])
