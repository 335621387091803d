"""Reads one flow file.

The places of what a person wrote stay with the model, for messages of later checks. A path is the keys
in the file joined by dots; it gives the value's place, for a mapping the place of its key. `key:` before
a path always gives the key.

| on | paths |
|---|---|
| `Step.places` | `use`, `writes`, `strategy`, `reads`, `reads.lines`, `reads.lines.table`, `reads.lines.as`, `with`, `with.min_quantity`; `key:reads.lines`, `key:with.min_quantity`, ... |
| `Flow.places` | `flow`, `freshness`, ..., `sources.transactions`, `sources.transactions.replay`, `sources.transactions.replay.package`, `tables.dwd.sales`, `tables.dwd.sales.primary_key`, `tables.dwd.sales.tiers.hot`, list items as `tags.0`; `key:` in the same way |

`Step.at` is where the step begins, `Read.at` its table's name, `Source.at` the source's name, `Flow.at` the flow's name.
"""  # noqa: E501  a table

import re
from collections.abc import Iterator, Mapping
from typing import Any

from streamhouse.errors import FileFormatError, StreamhouseError
from streamhouse.model.flow import Flow
from streamhouse.model.types import NAME, TABLE_NAME, USE
from streamhouse.registry.declared import declared_type, join_cut_types
from streamhouse.registry.inline_secrets import refuse_secrets
from streamhouse.registry.lengths import length_errors
from streamhouse.registry.problems import Problems
from streamhouse.registry.validate import build, keep_known, name_error, table_name_error
from streamhouse.registry.yaml_nodes import Document, KeyPath, read_yaml
from streamhouse.sql.types import split_not_null

STEPS_MOST = 3_000
"""Of a flow: planning compares each step with those before it."""

_USE = re.compile(USE)


def read_flow(text: str, file: str) -> Flow:
    """Read and check a flow by itself, without the actions it uses.

    Args:
        text: The YAML.
        file: Its path for messages, as a person would type it from the project's folder.

    Raises:
        FileFormatError: it is no YAML, or a value has the wrong shape.
        UnknownKeyError: it has a key the format lacks.
        DefinitionErrors: several of these at once.
    """
    problems = Problems()
    document = read_yaml(text, file, problems=problems)
    if not isinstance(document.data, dict):
        raise FileFormatError("the flow is no mapping", at=document.value_at(()), hint="begin with 'flow: orders'")
    refuse_secrets(document, problems, _instead, named=_may_be_secret)
    problems.add(*length_errors(document))
    raw = {key: value for key, value in document.data.items() if key != "sources"}
    steps = raw.get("steps")
    if isinstance(steps, list):
        if len(steps) > STEPS_MOST:
            cause = f"a flow has at most {STEPS_MOST:,} steps, this one has {len(steps):,}"
            raise FileFormatError(cause, at=document.key_at(("steps",)), hint="divide it into several flows")
        raw["steps"] = [_expand_reads(step) for step in steps]
    data = keep_known(raw, Flow, document, problems)
    if "sources" in document.data:
        data["sources"] = _sources(document, problems)
    if isinstance(data.get("steps"), list):
        data["steps"] = [_placed(step, ("steps", i), document, problems) for i, step in enumerate(data["steps"])]
    _check_names(data.get("tables"), ("tables",), document, problems)
    rules = data.get("schema_change")
    ruled = rules.get("tables") if isinstance(rules, dict) else None
    _check_names(ruled, ("schema_change", "tables"), document, problems)
    places = document.places_below(*(key for key in document.data if key != "steps"))
    flow = build(Flow, {**data, "at": document.value_at(("flow",)), "places": places}, document, problems)
    if flow is None or problems:
        raise problems.error()
    return flow


def name_in(text: str, file: str) -> str | None:
    """The name that a broken flow file seems to have; None: unknown."""
    try:
        data = read_yaml(text, file).data
    except StreamhouseError:
        return None
    name = data.get("flow") if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def _may_be_secret(path: KeyPath) -> bool:
    """Whether what stands there is a setting of a source; elsewhere names are those of columns and parameters."""
    names = {"secrets", "columns", "headers", "metadata"}
    return path[0] == "sources" and len(path) > 3 and not names & set(path[3:-1])


def _instead(path: KeyPath) -> str:
    if path[0] != "sources":
        return "leave it out; what a source needs is given as a variable of the environment, by its name"
    return (
        "use `secrets:` of the source with the name of the environment variable that holds it, "
        "such as STREAMHOUSE_SECRET_KAFKA"
    )


def _expand_reads(step: Any) -> Any:
    """`lines: ods.sales` is short for `lines: {table: ods.sales}`."""
    if not isinstance(step, dict) or not isinstance(step.get("reads"), dict):
        return step
    reads = {port: {"table": read} if isinstance(read, str) else read for port, read in step["reads"].items()}
    return {**step, "reads": reads}


def _check_names(tables: Any, path: KeyPath, document: Document, problems: Problems) -> None:
    for table in tables if isinstance(tables, dict) else ():
        if not re.fullmatch(TABLE_NAME, table):
            problems.add(table_name_error(table, (*path, table), document))


def _sources(document: Document, problems: Problems) -> Any:
    """Sources in the model's form: `{name: {kind: options}}` names the kind by its key."""
    written = document.data["sources"]
    if not isinstance(written, dict):
        return written
    sources = {}
    for name, source in written.items():
        if not re.fullmatch(NAME, name):
            problems.add(name_error("a source", name, ("sources", name), document))
        try:
            sources[name] = _source(name, source, document, problems)
        except FileFormatError as error:
            problems.add(error)
    return sources


def _source(name: str, source: Any, document: Document, problems: Problems) -> dict[str, Any]:
    path: KeyPath = ("sources", name)
    at = document.key_at(path)
    if not isinstance(source, dict) or len(source) != 1:
        many = isinstance(source, dict) and len(source) > 1
        cause = f"has {len(source)} kinds: {', '.join(source)}" if many else "does not say its kind"
        hint = "write one kind and its options: 'orders: {files: {path: data/orders}}'"
        raise FileFormatError(f"the source '{name}' {cause}", at=at, hint=hint)
    ((kind, options),) = source.items()
    if options is not None and not isinstance(options, dict):
        raise FileFormatError(
            f"the options of '{kind}' must be a mapping",
            at=document.value_at((*path, kind)),
            hint=f"write '{kind}: {{option: value}}'",
        )
    options = _typed_columns(options or {}, (*path, kind), document, problems)
    places = {".".join(keys): document.key_at((*path, kind, *keys)) for keys in _options_in(options)}
    return {"name": name, "kind": kind, "options": options, "at": at, "places": places}


def _options_in(options: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for option, value in options.items():
        yield (option,)
        yield from ((option, str(key)) for key in (value if isinstance(value, dict) else ()))


def _typed_columns(options: dict[str, Any], path: KeyPath, document: Document, problems: Problems) -> dict[str, Any]:
    """The options of a source; problems grow by each of its columns whose type is none, at its place."""
    columns = options.get("columns")
    if not isinstance(columns, dict):
        return options
    columns = join_cut_types(columns)
    for column, text in columns.items():
        if isinstance(text, str):
            kind, _ = split_not_null(text)
            problems.add(*declared_type(kind, (*path, "columns", column), document)[1])
    return {**options, "columns": columns}


def _placed(step: Any, path: KeyPath, document: Document, problems: Problems) -> Any:
    """The step with its places; problems grow by an ill-formed `use`."""
    if not isinstance(step, dict):
        return step
    use, reads = step.get("use"), step.get("reads")
    if isinstance(use, str) and not _USE.fullmatch(use):
        problems.add(
            FileFormatError(
                f"'{use}' cannot name an action",
                at=document.value_at((*path, "use")),
                hint="write its name, or name@1 for the newest version 1",
            )
        )
    if isinstance(reads, dict):
        step = {
            **step,
            "reads": {port: _placed_read(read, (*path, "reads", port), document) for port, read in reads.items()},
        }
    return {**step, "at": document.value_at(path), "places": document.places_in(path)}


def _placed_read(read: Any, path: KeyPath, document: Document) -> Any:
    return {**read, "at": document.value_at((*path, "table"))} if isinstance(read, dict) else read
