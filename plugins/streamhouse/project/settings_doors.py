"""What a file of settings may not say, although each value has the right shape: what would run code or open files.

The person who runs Streamhouse may say it, by the environment.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from streamhouse.doors.databases import check_catalog, check_state
from streamhouse.doors.ivy import refused_part
from streamhouse.doors.setting import CONTROL, RefusedSetting
from streamhouse.doors.spark import SPARK_CONF
from streamhouse.errors import FileFormatError
from streamhouse.model.spark_conf import why_ours
from streamhouse.registry.problems import Problems
from streamhouse.registry.regular_file import regular_text
from streamhouse.registry.yaml_nodes import Document, KeyPath


def check_doors(document: Document, root: Path, problems: Problems, *, hidden: Callable[[KeyPath, str], bool]) -> None:
    """Add an error for each value of `streamhouse.yaml` that only the environment may give.

    Args:
        document: As a person wrote it.
        root: The project's folder.
        problems: Grow.
        hidden: Whether the value at a path is refused as a secret already.
    """
    for path, text, check in _values(document.data, root):
        if hidden(path, text):
            continue
        try:
            check()
        except RefusedSetting as error:
            name = ".".join(map(str, path[:2]))
            problems.add(FileFormatError(f"{name}: {error}", at=document.key_at(path), hint=error.hint))


def _texts(data: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(data, str):
        yield path, data
    for key, value in data.items() if isinstance(data, dict) else enumerate(data if isinstance(data, list) else ()):
        yield from _texts(value, (*path, key))


def _of_one_line(text: str) -> Callable[[], object]:
    """Others take a value for one line of a file, of a header or of a command, whatever the value is."""

    def check() -> None:
        if found := CONTROL.search(text):
            raise RefusedSetting(f"the value has the control character U+{ord(found[0]):04X}", "write it on one line")

    return check


def _values(data: Any, root: Path) -> Iterator[tuple[KeyPath, str, Callable[[], object]]]:
    for path, text in _texts(data):
        if path[:2] != ("spark", "conf"):
            yield path, text, _of_one_line(text)
    for name, value in _mapping(_mapping(data).get("spark"), "conf").items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(name, str) and not isinstance(value, dict | list) and why_ours(name) is None:
            yield ("spark", "conf", name), text, _of_spark(name, text)
    catalog, state = _mapping(_mapping(data).get("cold")).get("catalog"), _mapping(data).get("state")
    if isinstance(catalog, str):
        yield ("cold", "catalog"), catalog, lambda: check_catalog(catalog)
    if isinstance(state, str):
        yield ("state",), state, lambda: check_state(state)
    if isinstance(ivy := _mapping(data).get("ivy_settings"), str):
        yield ("ivy_settings",), ivy, lambda: _check_ivy(root, ivy)


def _of_spark(name: str, text: str) -> Callable[[], object]:
    return lambda: SPARK_CONF.check(name, text)


def _check_ivy(root: Path, name: str) -> None:
    try:
        text = regular_text(root / Path(name).expanduser())
    except (OSError, RuntimeError, ValueError):  # who fetches jars reports it
        return
    if (part := refused_part(text)) is not None:
        raise RefusedSetting(
            f"the file has {part}, which is not taken: a settings file of Ivy can load code",
            "give it as the environment variable STREAMHOUSE_IVY_SETTINGS: it is for the person who runs Streamhouse",
        )


def _mapping(value: Any, *keys: str) -> dict[Any, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
