"""What sources need of `streamhouse.yaml`, as it is at the moment; none where it cannot be read."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from streamhouse.registry.regular_file import regular_text

SETTINGS = "streamhouse.yaml"


def written_settings(root: Path, key: str) -> Any:
    """What the settings of the project at `root` have under a key, unchecked; None: nothing, or no settings.

    The settings are checked when the project is opened, which reports what is wrong in them.
    """
    try:
        stat = (root / SETTINGS).stat()
    except (OSError, ValueError):
        return None
    return _written(root, stat.st_size, stat.st_mtime_ns).get(key)


@lru_cache(maxsize=64)
def _written(root: Path, *_stamp: int) -> dict[str, Any]:
    try:
        found = yaml.safe_load(regular_text(root / SETTINGS))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}
