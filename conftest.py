"""Which modules have their docstrings tested where Airflow is not installed: all that do not need it."""

from importlib.util import find_spec
from pathlib import Path

_FOR_AIRFLOW = "airflow"
_PACKAGE = Path(__file__).parent / "plugins"

collect_ignore = (
    []
    if find_spec(_FOR_AIRFLOW)
    else [
        str(file)
        for file in (*_PACKAGE.glob("*.py"), *(_PACKAGE / "streamhouse" / "orchestrator").glob("*.py"))
        if f"\nfrom {_FOR_AIRFLOW}." in (text := file.read_text(encoding="utf-8")) or "orchestrator.stream" in text
    ]
)
