"""Airflow's own environment, which `make` puts beside the engine's; tests start programs of it."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""Of this checkout."""

_BIN = ROOT / ".venv-airflow" / "bin"


def program(name: str) -> Path:
    """A program of the control plane: `python`, `airflow`.

    Raises:
        AssertionError: the environment is not there.
    """
    found = _BIN / name
    if not found.exists():
        raise AssertionError(
            f"{found} is missing: this test needs Airflow's environment\n"
            "  hint: 'make test' and 'make airflow' make it; alone: make .venv-airflow/.complete"
        )
    return found
