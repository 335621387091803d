"""Reads one action file: YAML header with places, then SQL."""

from typing import Any, NamedTuple

from streamhouse.errors import DefinitionError, FileFormatError, StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.meaning import Meaning
from streamhouse.model.notice import Notice
from streamhouse.registry.declared import declared_type, join_cut_types
from streamhouse.registry.header_checks import header_errors
from streamhouse.registry.inline_secrets import refuse_secrets
from streamhouse.registry.lengths import length_errors, long_columns
from streamhouse.registry.parse_sql import parse_check, parse_query
from streamhouse.registry.problems import Problems
from streamhouse.registry.sql_names import check_params, check_tables, placeholders
from streamhouse.registry.validate import build, keep_known
from streamhouse.registry.yaml_nodes import Document, read_yaml
from streamhouse.sql.dialect import hand_on
from streamhouse.sql.header import SplitFile, split_header
from streamhouse.sql.types import split_not_null


class ReadAction(NamedTuple):
    """An action, and what is odd about its file without being wrong."""

    action: Action
    notices: tuple[Notice, ...]


def read_action(text: str, file: str) -> ReadAction:
    r"""Read and check an action by itself, without the flows that use it.

    Args:
        text: The whole file, lines ending in `\n`.
        file: Its path for messages, as a person would type it from the project's folder.

    Returns:
        The action with canonical type names, and notices about parameters it declares but does not use.

    Raises:
        HeaderError: there is no header, or it does not end.
        FileFormatError: the header is no YAML, or a value has the wrong shape.
        UnknownKeyError: the header has a key the format lacks.
        SqlSyntaxError: the SQL is not one SELECT.
        UnknownTableError: the SQL reads what `inputs` lacks.
        MissingParameterError: the SQL uses what `params` lacks.
        TypeMismatchError: a default is not of its parameter's type, or a value of an example of its column's.
        PortError: the SQL never reads an input, or an example gives rows of no input.
        UnknownColumnError: an example gives a column that its input lacks, or expects one that the result lacks.
        DefinitionErrors: several of these at once.
    """
    split = split_header(text, file)
    problems = Problems()
    document = read_yaml(split.yaml, file, first_line=split.yaml_line, problems=problems)
    if not isinstance(document.data, dict):
        raise FileFormatError("the header is no mapping", at=document.value_at(()), hint="write 'key: value' lines")
    refuse_secrets(document, problems, lambda _: "leave it out: a parameter is no place for one", under=("params",))
    problems.add(*length_errors(document))
    data = _header(document, problems)
    action = build(
        Action,
        {
            **data,
            "sql": split.sql,
            "sql_at": split.sql_at,
            "at": document.value_at(("action",)),
            "places": document.places_below(*Meaning.model_fields),
        },
        document,
        problems,
    )
    if action is not None:
        problems.add(*header_errors(action, document))
    notices = _check_sql(split, data, document, problems)
    if action is None or problems:
        raise problems.error()
    return ReadAction(action, notices)


def name_in(text: str, file: str) -> tuple[str | None, str | None]:
    """Name and version that a broken action file seems to have; None: unknown."""
    try:
        split = split_header(text, file)
        data = read_yaml(split.yaml, file, first_line=split.yaml_line).data
    except StreamhouseError:
        return None, None
    found = data if isinstance(data, dict) else {}
    name, version = found.get("action"), found.get("version")
    return (name if isinstance(name, str) else None), (version if isinstance(version, str) else None)


def _canonicalise_types(data: dict[str, Any], document: Document, problems: Problems) -> None:
    for port, columns in _mapping(data.get("inputs")).items():
        for column, text in _mapping(columns).items():
            if isinstance(text, str):
                kind, required = split_not_null(text)
                columns[column], error = declared_type(kind, ("inputs", port, column), document)
                problems.add(*error)
                if required:
                    data.setdefault("never_null", {}).setdefault(port, []).append(column)
    for name, parameter in _mapping(data.get("params")).items():
        text = _mapping(parameter).get("type")
        if isinstance(text, str):
            parameter["type"], error = declared_type(text, ("params", name, "type"), document)
            problems.add(*error)


def _header(document: Document, problems: Problems) -> dict[str, Any]:
    """What the header says, in the model's form."""
    written = document.data
    if isinstance(written.get("params"), dict):
        written = {**written, "params": {name: join_cut_types(one) for name, one in written["params"].items()}}
    data: dict[str, Any] = keep_known(written, Action, document, problems)
    if isinstance(data.get("inputs"), dict):
        data["inputs"] = {port: join_cut_types(columns) for port, columns in data["inputs"].items()}
    _canonicalise_types(data, document, problems)
    renamed = _mapping(_mapping(data.get("output")).get("renamed"))
    if renamed:
        data["output"]["places"] = {name: document.value_at(("output", "renamed", name)) for name in renamed}
    return data


def _check_expectations(data: dict[str, Any], document: Document, problems: Problems) -> set[str]:
    """Check conditions against the header; the parameters that they use."""
    used: set[str] = set()
    for name, expectation in _mapping(data.get("expect")).items():
        check = _mapping(expectation).get("check")
        if not isinstance(check, str):
            continue
        at = document.value_at(("expect", name, "check"))
        try:
            condition = parse_check(check, at)
        except DefinitionError as error:
            problems.add(error)
        else:
            used |= placeholders(condition)
            problems.add(*check_params(condition, check, at, _mapping(data.get("params")), exact=False))
    return used


def _check_sql(split: SplitFile, data: dict[str, Any], document: Document, problems: Problems) -> tuple[Notice, ...]:
    """Check SQL and conditions against the header, also when the header has other faults."""
    inputs, params = (_mapping(data.get(key)) for key in ("inputs", "params"))
    used = _check_expectations(data, document, problems)
    try:
        query = parse_query(split.sql, split.sql_at)
    except DefinitionError as error:
        problems.add(error)
        return ()
    if "inputs" in data:
        ports = {port: document.key_at(("inputs", port)) for port in inputs}
        problems.add(*check_tables(query, split.sql, split.sql_at, ports))
    problems.add(*long_columns(query, split.sql, split.sql_at))
    problems.add(*check_params(query, split.sql, split.sql_at, params))
    used |= placeholders(query)
    hand_on(split.sql, query)  # to the code that plans a step with it
    return tuple(
        Notice(f"the parameter '{name}' is never used", document.key_at(("params", name)), "use it, or remove it")
        for name in params
        if name not in used
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
