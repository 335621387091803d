"""Write the pages of `docs/reference/` from the models and the commands.

    .venv/bin/python scripts/reference.py

`tests/unit/docs/test_reference.py` refuses pages that are older than the code, and keys without a description.
"""

import json
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
from reference_types import ABOUT_TYPES, types

from streamhouse.cli.main import streamhouse
from streamhouse.ingest.kinds import option_models
from streamhouse.project.settings import Settings, settings_of_environment
from streamhouse.registry.schema_export import action_schema, flow_schema
from streamhouse.sql import functions
from streamhouse.sql.admit import TABLE_FUNCTIONS
from streamhouse.sql.refused import OPERATORS, REFUSED

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_Schema = dict[str, Any]
_HEAD = "| key | type | default | description |\n|---|---|---|---|"
_OTHER_VARIABLES = {
    "STREAMHOUSE_SPARK_CONF": "further settings of Spark, as a JSON object; added to `spark.conf`, which takes fewer",
    "STREAMHOUSE_SECRET_…": "secrets that flows may name under `secrets`; see `secret_variables`",
    "STREAMHOUSE_FLUSS_PASSWORD": "the password of `fluss_login.user`",
    "STREAMHOUSE_MODEL_KEY": "the key of the language model",
    "STREAMHOUSE_MCP_TOKEN": "the token of MCP clients over HTTP",
    "STREAMHOUSE_CACHE": "the folder for fetched jars and archives of classes; absent: `~/.cache/streamhouse`",
    "STREAMHOUSE_PROJECT": "for Airflow: the folder of the project; absent: the folder of its DAGs",
    "STREAMHOUSE_COMMAND": "for Airflow: the command `streamhouse` of the engine's environment",
    "STREAMHOUSE_DEBUG": "1: print the trace of an internal error",
}
_SQL = """An action is one SELECT of Spark SQL. What Spark 4.1 takes, an action takes, but for what this page refuses.

- Each output column has a name: a column, a field, or an expression with AS.
- A function that makes rows may stand in SELECT, in a LATERAL VIEW, in FROM, or behind LATERAL. Where a query
  names none of its columns, they have Spark's names: `col` of `explode` of an array, `key` and `value` of a map,
  `pos` before them for `posexplode`, the fields of the structs for `inline`, `col0`, `col1` … for `stack`,
  `c0`, `c1` … for `json_tuple`. `variant_explode` and `range` stand in FROM alone; `range` takes whole numbers.
- PIVOT takes `sum`, `avg`, `min`, `max` and `count`, and its values are literals. Several aggregates need names.
  PIVOT and UNPIVOT read the first table of a FROM; a join goes into a sub-query.
- An interval can be computed with, but no table can hold one: `ts + n * INTERVAL '1' SECOND`.
- `* EXCEPT (a, b)` names columns. A field of a struct is refused there: name the columns, and make the struct again.
- A sub-query sees the columns of the query around it, and none of a query further out."""
_COMMON = {"--json", "--project"}
_WORDS = {"object": "mapping", "integer": "whole number", "null": "nothing"}
_FEW_WORDS = 4
_GENERATED = "<!-- Written by scripts/reference.py: do not edit. -->"


def pages() -> dict[str, str]:
    """Name of the file → its text, of each page."""
    return {
        "flow.md": _page("Keys of a flow", "A flow is a YAML file in `flows/`.", _keys(flow_schema())),
        "action.md": _page(
            "Keys of an action",
            "The first comment of a file in `actions/` has these keys as YAML.",
            _keys(action_schema()),
        ),
        "settings.md": _page(
            "Settings of a project",
            "`streamhouse.yaml` has these keys. Each has a default. A variable of the environment wins over the file.",
            [*_keys(Settings.model_json_schema(by_alias=True)), *_variables()],
        ),
        "sources.md": _page(
            "Options of sources", "A source has one kind. [Sources](../sources.md) has examples.", _kinds()
        ),
        "options.md": _page(
            "Options of commands",
            "[Commands](../commands.md) has an overview. `streamhouse COMMAND --help` shows the same text.\n"
            "Every command takes `--json` (print one JSON document, also for errors) and `--project DIR`\n"
            "(the folder of the project).",
            _commands(),
        ),
        "sql.md": _page("SQL of an action", _SQL, _sql()),
        "types.md": _page("Types of columns", ABOUT_TYPES, types()),
    }


def _sql() -> Iterator[str]:
    """The functions of Spark, and what becomes of each in an action."""
    kinds = {
        "Functions of many rows": functions.AGGREGATES,
        "Functions over a window": functions.RANKS | {"lag", "lead", "nth_value"},
        "Functions that make rows": functions.GENERATORS | TABLE_FUNCTIONS,
        "Functions of the time": functions.CLOCKS,
        "Time windows": functions.TIME_WINDOWS,
    }
    yield from (f"## {title}\n\n{_listed(names)}" for title, names in kinds.items())
    others = functions.KNOWN - frozenset().union(*kinds.values())
    yield f"## Functions of one row\n\n{_listed(others)}"
    yield f"## Operators and words of the grammar\n\n{_listed(OPERATORS)}"
    reasons: dict[str, list[str]] = {}
    for name, why in REFUSED.items():
        reasons.setdefault(why, []).append(name)
    rows = [f"| {why} | {_listed(names)} |" for why, names in reasons.items()]
    yield "\n".join(["## Functions that are refused\n", "| such a function … | functions |", "|---|---|", *rows])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in sorted(names))


def undescribed() -> list[str]:
    """The keys, options and commands without a description."""
    return [line for name, text in pages().items() for line in text.splitlines() if line.endswith("|  |") and name]


def _page(title: str, first: str, rest: "Iterator[str] | list[str]") -> str:
    return "\n\n".join([f"# {title}", _GENERATED, first, *rest]) + "\n"


# --- models ---------------------------------------------------------------------------------------


def _keys(schema: _Schema) -> list[str]:
    """A table of the keys of a schema, then one of each object that they have."""
    known = schema.get("$defs", {})
    names = _reached(schema, known)
    words = {name: part["enum"] for name, part in known.items() if _is_list_of_words(part)}
    return [
        _table(schema, known),
        *(f"## {title}\n\n{_table(part, known)}" for title, part in names.items()),
        *(f"## {name}\n\nOne of: {', '.join(f'`{one}`' for one in values)}." for name, values in words.items()),
    ]


def _reached(schema: _Schema, known: dict[str, _Schema], path: str = "") -> dict[str, _Schema]:
    """Path of a key, such as `tables.NAME.tiers` → the object that it has; each kind of object once."""
    found: dict[str, _Schema] = {}
    seen: list[str] = []
    queue = [(path, schema)]
    while queue:
        path, part = queue.pop(0)
        for key, value in part.get("properties", {}).items():
            for name, inside in _objects(value):
                if name in seen or not _properties(known[name]):
                    continue
                seen.append(name)
                place = ".".join(filter(None, (path, key, inside)))
                found[f"`{place}`"] = _properties(known[name])
                queue.append((place, found[f"`{place}`"]))
    return found


def _is_list_of_words(part: _Schema) -> bool:
    """Whether a value is one of so many words that a section of its own lists them."""
    return len(part.get("enum", ())) > _FEW_WORDS


def _properties(part: _Schema) -> _Schema:
    """The form of an object that has keys; empty: it has none."""
    if "properties" in part:
        return part
    return next((_properties(form) for form in part.get("anyOf", []) if _properties(form)), {})


def _objects(value: Any, inside: str = "") -> Iterator[tuple[str, str]]:
    """The objects that a value may have, and what stands between: NAME for each key of a mapping."""
    if not isinstance(value, dict):
        return
    if "$ref" in value:
        yield value["$ref"].rsplit("/", 1)[1], inside
    for form in (*value.get("anyOf", []), *value.get("allOf", [])):
        yield from _objects(form, inside)
    yield from _objects(value.get("items"), inside)
    yield from _objects(value.get("additionalProperties"), "NAME")


def _table(schema: _Schema, known: dict[str, _Schema]) -> str:
    required = schema.get("required", [])
    rows = [_row(key, value, known, is_required=key in required) for key, value in schema["properties"].items()]
    return "\n".join([_HEAD, *rows])


def _row(key: str, value: _Schema, known: dict[str, _Schema], *, is_required: bool) -> str:
    default = "required" if is_required else _default(value.get("default"))
    text = value.get("description", "")
    if examples := value.get("examples"):
        text += "; such as " + ", ".join(f"`{example}`" for example in examples)
    return f"| `{key}` | {_cell(_type(value, known))} | {_cell(default)} | {_cell(text)} |"


def _default(value: Any) -> str:
    if value is None or value in ({}, [], ""):
        return ""
    if isinstance(value, dict):
        given = {key: one for key, one in value.items() if one not in (None, {}, [], "")}
        return "" if all(isinstance(one, dict) for one in given.values()) else "see below"
    return f"`{_duration(value)}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _duration(text: str) -> str:
    """A time as people write it: PT10S is 10s.

    Example:
        >>> [_duration(text) for text in ("PT10S", "PT10M", "P1D", "off")]
        ['10s', '10m', '1d', 'off']
    """
    if text.startswith("PT") and text[2:-1].isdigit():
        return text[2:].lower()
    return text[1:].lower() if text.startswith("P") and text[1:-1].isdigit() else text


def _type(value: _Schema, known: dict[str, _Schema]) -> str:
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})" if _is_list_of_words(known[name]) else _type(known[name], known)
    if "enum" in value:
        return " or ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(form, known) for form in value["anyOf"] if form.get("type") != "null"))
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}), known)}"
    inner = value.get("additionalProperties")
    if isinstance(inner, dict) and "properties" not in value:
        return f"mapping to {_type(inner, known)}"
    kinds = value.get("type", "any value")
    return " or ".join(_WORDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# --- settings, sources, commands ------------------------------------------------------------------


def _variables() -> Iterator[str]:
    settings = {name: f"sets `{'.'.join(path)}`" for name, path in settings_of_environment().items()}
    rows = [f"| `{name}` | {_cell(text)} |" for name, text in (settings | _OTHER_VARIABLES).items()]
    yield "\n".join(["## Variables of the environment", "", "| variable | what it says |", "|---|---|", *rows])


def _kinds() -> Iterator[str]:
    for kind, options in option_models().items():
        schema = options.model_json_schema(by_alias=True)
        yield f"## `{kind}`"
        yield from _keys(schema)


def _commands() -> Iterator[str]:
    for path, command in _each(streamhouse, "streamhouse"):
        if isinstance(command, click.Group) and not command.params:
            continue
        context = click.Context(command, info_name=path, **streamhouse.context_settings)
        usage = " ".join(command.collect_usage_pieces(context))
        yield f"## `{path}`\n\n    {path} {usage}"
        yield _help(command)
        options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
        if rows := [_option(one) for one in options if not _COMMON & set(one.opts)]:
            yield "\n".join(["| option | description |", "|---|---|", *rows])


def _each(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command, **streamhouse.context_settings)
    if command.invoke_without_command:
        yield path, command
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            yield from _each(inner, f"{path} {name}")


def _help(command: click.Command) -> str:
    """Its help as text; an example keeps its lines."""
    text = cleandoc((command.help or "").replace("\f", ""))
    blocks = [
        "\n".join(f"    {line}" for line in block.splitlines()[1:]) if block.startswith("\b") else block
        for block in text.split("\n\n")
    ]
    return "\n\n".join(blocks)


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    kind = "" if option.is_flag else f" {option.make_metavar(click.Context(streamhouse))}"
    text = option.help or ""
    if (
        option.default not in (None, False, ())
        and not callable(option.default)
        and "Sentinel" not in repr(option.default)
    ):
        text += f" Default: `{option.default}`."
    return f"| {names}{_cell(kind)} | {_cell(text)} |"


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
