"""Where the project of compiled flows is on this machine."""

from pathlib import Path

PROJECT_VARIABLE = "STREAMHOUSE_PROJECT"
"""Environment variable: the folder of the project, for the page and for DAGs that no bundle makes."""

ROOT_FILE = "project.txt"
"""Beside compiled flows: the project's folder. It is no part of what was compiled."""


def root_beside(file: Path) -> str:
    """The project's folder, for a file of a bundle."""
    return (file.parent / ROOT_FILE).read_text(encoding="utf-8")
