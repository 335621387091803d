"""The columns of files, as a source can declare them: by the values of their rows, and proved by reading these."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.columnar import ColumnarFormat, columnar_rows, is_columnar, refuse_other_columns
from streamhouse.ingest.csv_file import csv_lacking, csv_names, has_no_line, refuse_other_csv
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_values import UnfitError, as_iso, typed
from streamhouse.ingest.file_places import file_place
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.formats import AS_SPARK, Format, format_of, read_file
from streamhouse.ingest.inferred_json import FieldFacts, json_object
from streamhouse.ingest.inferred_texts import TextFacts
from streamhouse.ingest.json_file import json_file, wrong_line
from streamhouse.ingest.json_rows import json_rows
from streamhouse.ingest.listing import check_place
from streamhouse.ingest.object_reader import connection_of
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.object_connection import S3
from streamhouse.model.table import Column

_VALUE = re.compile(r"[+-]?\d[\d.,:/ TZ-]*", re.ASCII)


@dataclass(frozen=True)
class InferredColumn:
    """One column.

    Attributes:
        types: That the values seen may have, the best first; empty: none fits, and `note` says why.
        note: What a person should know; empty: nothing.
    """

    name: str
    types: Sequence[str]
    note: str = ""

    @property
    def type(self) -> str | None:
        """The type to declare; None: it is to be left out."""
        return self.types[0] if self.types else None


@dataclass(frozen=True)
class InferredFiles:
    """What the files of a pattern have.

    Attributes:
        columns: In the order in which the files name them.
        files: How many were looked at.
        rows: How many were looked at; of Parquet and Avro, how many there are.
        is_proved: Whether the source reads every row of every file with these types; else only some were looked at.
    """

    columns: tuple[InferredColumn, ...]
    files: int
    rows: int
    is_proved: bool


def infer_files(
    pattern: str,
    root: Path,
    kind: Format | None = None,
    most_rows: int | None = None,
    rules: CsvRules = AS_SPARK,
    connection: str | None = None,
) -> InferredFiles:
    """The columns of all files that match a pattern.

    Args:
        pattern: As the option `path` of a source, relative to `root`.
        root: The project's folder.
        kind: Of all files; None: by the ending of the pattern.
        most_rows: Look at so many rows, from the first file on, and prove nothing; None: at all.
        rules: How CSV is written.
        connection: Of a pattern in an object store; None: the only one that permits it.

    Raises:
        StoreUnavailableError: the object store does not answer.
        SourceError: no file matches, the format is not known, or a file is malformed.
    """
    found_kind = kind or format_of(pattern)
    if found_kind is None:
        raise SourceError(f"'{pattern}' does not show its format", hint="--format csv, json, parquet or avro")
    paths = _paths(pattern, root, found_kind, connection)
    if found_kind == "csv":  # of files without a line the source reads no rows
        some = {name: path for name, path in paths.items() if not has_no_line(path, name, rules)}
        paths = some or paths
    if is_columnar(found_kind):
        found = _of_columnar(paths, found_kind)
    else:
        found = (_of_csv if found_kind == "csv" else _of_json)(paths, most_rows, rules)
    if not rules.form.header:  # the source finds columns by their place: each file has all of them
        rules = replace(rules, order=tuple(column.name for column in found.columns))
    found = _proved(found, paths, found_kind, rules) if most_rows is None else found
    if not rules.form.header and (odd := [column for column in found.columns if column.type is None]):
        hint = "files without names in their first line need the same number of columns: read the others by themselves"
        raise SourceError(f"not all files have column '{odd[0].name}': {odd[0].note}", at=Location(pattern), hint=hint)
    return found


def _paths(pattern: str, root: Path, kind: Format, connection: str | None) -> dict[str, AnyFile]:
    is_stored = pattern.startswith(S3)
    if not is_stored:
        check_place(pattern, root, None)
    named = connection or (connection_of(pattern, root) if is_stored else None)
    place = file_place(FilesOptions(path=pattern, format=kind, connection=named), root)
    names = place.names()
    if not names:
        hint = "the bucket may be right, and the rest of the path wrong"
        hint = hint if is_stored else "paths are relative to the project's folder"
        raise SourceError(f"no file matches '{pattern}'", hint=hint)
    return {name: place.file(name) for name in names}


def _of_csv(paths: dict[str, AnyFile], most_rows: int | None, rules: CsvRules) -> InferredFiles:
    facts: dict[str, TextFacts] = {}
    names: dict[str, str] = {}  # by which case makes no difference
    some: dict[str, list[pa.Array]] = {}  # where only some rows are looked at
    rows = files = 0
    for file, path in paths.items():
        if most_rows is not None and rows >= most_rows:
            break
        columns = tuple(Column(name=one, type="string") for one in csv_names(path, file, rules))
        texts = read_file(path, "csv", columns, file, rules=rules)
        texts = texts if most_rows is None else texts.slice(0, most_rows - rows)
        for column in columns:
            name = names.setdefault(column.name.lower(), column.name)
            values = texts.column(column.name).combine_chunks()
            facts[name] = facts.get(name, TextFacts()) + TextFacts.of(as_iso(values, rules.form))
            if most_rows is not None:
                some.setdefault(name, []).append(values)
        rows, files = rows + texts.num_rows, files + 1
    found = [_named(InferredColumn(one, *seen.types()), rules) for one, seen in facts.items()]
    fitting = (_fitting(column, some[column.name], rules) if column.name in some else column for column in found)
    return InferredFiles(tuple(fitting), files, rows, False)


def _named(column: InferredColumn, rules: CsvRules) -> InferredColumn:
    """A column that says so where its name may be a value of the first row."""
    if not rules.form.header or not _VALUE.fullmatch(column.name):
        return column
    note = "its name looks like a value: header: false, if the first line is a row"
    return replace(column, note=f"{note}; {column.note}" if column.note else note)


def _fitting(column: InferredColumn, texts: Sequence[pa.Array], rules: CsvRules) -> InferredColumn:
    """A column with the first of its types that the reader takes these values for."""

    def why(type_: str) -> str | None:
        try:
            for one in texts:
                typed(one, column.name, type_, rules.form)
        except UnfitError as error:
            return error.text
        return None

    return _first_fitting(column, why)


def _of_json(paths: dict[str, AnyFile], most_rows: int | None, _rules: CsvRules) -> InferredFiles:
    facts = FieldFacts()
    some: list[bytes] = []  # where only some rows are looked at
    rows = files = 0
    for name, path in paths.items():
        if most_rows is not None and rows >= most_rows:
            break
        records = json_file(path, name)
        looked_at = records.texts if most_rows is None else records.texts[: most_rows - rows]
        some += looked_at if most_rows is not None else []
        for number, record in enumerate(looked_at):
            try:
                facts.add(json_object(record))
            except UnreadableError as error:
                raise wrong_line(error, number, records, name) from error
        rows, files = rows + len(looked_at), files + 1
    names: dict[str, str] = {}  # case makes no difference in Spark
    columns = []
    for one, found in facts.fields.items():
        first = names.setdefault(one.lower(), one)
        other = ((), f"Spark takes it for the same column as '{first}': case makes no difference")
        columns.append(InferredColumn(one, *(found.types() if first == one else other)))

    def fitting(column: InferredColumn) -> InferredColumn:
        return _first_fitting(column, lambda type_: _unread(some, (Column(name=column.name, type=type_),)))

    return InferredFiles(tuple(fitting(one) if some else one for one in columns), files, rows, False)


def _unread(records: Sequence[bytes], columns: tuple[Column, ...]) -> str | None:
    """Why lines of JSON cannot be read with these columns; None: they can."""
    try:
        json_rows(records, columns)
    except UnreadableError as error:
        return str(error)
    return None


def _first_fitting(column: InferredColumn, why: Callable[[str], str | None]) -> InferredColumn:
    """A column without the types before the first that fits; `why` says of a type what is wrong, None: it fits."""
    first: str | None = None
    for number, type_ in enumerate(column.types):
        failure = why(type_)
        if failure is None:
            fitting = replace(column, types=column.types[number:])
            return fitting if first is None else replace(fitting, note=f"not {column.type}: {first}")
        first = first or failure
    return replace(column, types=(), note=first or column.note)


def _of_columnar(paths: dict[str, AnyFile], kind: ColumnarFormat) -> InferredFiles:
    types: dict[str, dict[str, None]] = {}
    refused: dict[str, str] = {}  # column → why no type of ours has its values
    names: dict[str, str] = {}  # by which case makes no difference
    rows = 0
    for file, path in paths.items():
        found = columnar_rows(path, kind, Location(file))
        rows += found.rows
        for column in found.columns:
            name = names.setdefault(column.name.lower(), column.name)
            types.setdefault(name, {})[column.type] = None
        for column_name, error in found.refused.items():
            name = names.setdefault(column_name.lower(), column_name)
            types.setdefault(name, {})
            refused.setdefault(name, error.message)
    columns = tuple(
        InferredColumn(name, (), refused[name])
        if name in refused
        else InferredColumn(name, tuple(found) if len(found) == 1 else (), _several(found))
        for name, found in types.items()
    )
    return InferredFiles(columns, len(paths), rows, False)


def _several(types: dict[str, None]) -> str:
    return "" if len(types) == 1 else f"some files have {' and others '.join(types)}"


def _proved(found: InferredFiles, paths: dict[str, AnyFile], kind: Format, rules: CsvRules) -> InferredFiles:
    """The types with which the source reads every row; a column that it reads with none is left out."""
    columns = list(found.columns)
    waiting = list(paths)
    while waiting:
        name = waiting.pop(0)
        if _failure(paths[name], kind, columns, name, rules) is not None:
            columns = [_readable(paths[name], kind, column, name, rules) for column in columns]
            waiting = [one for one in paths if one != name]  # those that were read had other types
    declared = tuple(Column(name=one.name, type=one.type) for one in columns if one.type is not None)
    for name, path in paths.items() if declared else ():
        _refuse_other(path, kind, declared, name, rules)
    return replace(found, columns=tuple(columns), is_proved=True)


def _refuse_other(path: AnyFile, kind: Format, declared: tuple[Column, ...], name: str, rules: CsvRules) -> None:
    """Check that a source with these columns does not refuse a file as one of something else."""
    if kind == "csv":
        refuse_other_csv(path, name, rules, declared)
    elif is_columnar(kind):
        refuse_other_columns(path, kind, declared, (), Location(name))
    else:
        read_file(path, kind, declared, name)


def _readable(path: AnyFile, kind: Format, column: InferredColumn, name: str, rules: CsvRules) -> InferredColumn:
    return _first_fitting(column, lambda type_: _failure(path, kind, [replace(column, types=(type_,))], name, rules))


def _failure(path: AnyFile, kind: Format, columns: Sequence[InferredColumn], name: str, rules: CsvRules) -> str | None:
    """Why a file cannot be read with these columns; None: it can."""
    declared = tuple(Column(name=one.name, type=one.type) for one in columns if one.type is not None)
    if not declared:
        return None
    try:
        if kind == "json":
            return _unread(json_file(path, name).texts, declared)
        if kind == "csv" and len(csv_lacking(path, name, rules, declared)) == len(declared):
            return None
        read_file(path, kind, declared, name, optional=[one.name for one in declared], rules=rules)
    except SourceError as error:
        return error.message.removeprefix("the file is malformed: ")
    except pa.ArrowException as error:
        return str(error)
    return None
