"""The columns of files, as a source can declare them: by the values of their rows, and proved by reading these."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pyarrow as pa

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.csv_file import csv_names
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_values import as_iso
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.formats import AS_SPARK, SUFFIXES, Format, read_file
from streamhouse.ingest.inferred_json import FieldFacts, field_facts
from streamhouse.ingest.inferred_texts import TextFacts
from streamhouse.ingest.listing import check_place, list_files
from streamhouse.ingest.parquet import parquet_rows
from streamhouse.model.table import Column


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
        rows: How many were looked at; of Parquet, how many there are.
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
) -> InferredFiles:
    """The columns of all files that match a pattern.

    Args:
        pattern: As the option `path` of a source, relative to `root`.
        root: The project's folder.
        kind: Of all files; None: by the ending of the pattern.
        most_rows: Look at so many rows, from the first file on, and prove nothing; None: at all.
        rules: How CSV is written.

    Raises:
        SourceError: no file matches, the format is not known, or a file is malformed.
    """
    found_kind = kind or SUFFIXES.get(Path(pattern).suffix.lower())
    if found_kind is None:
        raise SourceError(f"'{pattern}' does not show its format", hint="--format csv, json or parquet")
    check_place(pattern, root, None)
    names = list_files(pattern, root)
    if not names:
        raise SourceError(f"no file matches '{pattern}'", hint="paths are relative to the project's folder")
    paths = {name: data_path(root, name) for name in names}
    look = {"csv": _of_csv, "json": _of_json, "parquet": _of_parquet}[found_kind]
    found = look(paths, most_rows, rules)
    return _proved(found, paths, found_kind, rules) if most_rows is None else found


def _of_csv(paths: dict[str, Path], most_rows: int | None, rules: CsvRules) -> InferredFiles:
    facts: dict[str, TextFacts] = {}
    rows = files = 0
    for name, path in paths.items():
        if most_rows is not None and rows >= most_rows:
            break
        columns = tuple(Column(name=one, type="string") for one in csv_names(path, name, rules))
        texts = read_file(path, "csv", columns, name, rules=rules)
        texts = texts if most_rows is None else texts.slice(0, most_rows - rows)
        for column in columns:
            found = TextFacts.of(as_iso(texts.column(column.name).combine_chunks(), rules.form))
            facts[column.name] = facts.get(column.name, TextFacts()) + found
        rows, files = rows + texts.num_rows, files + 1
    return InferredFiles(tuple(InferredColumn(one, *seen.types()) for one, seen in facts.items()), files, rows, False)


def _of_json(paths: dict[str, Path], most_rows: int | None, _rules: CsvRules) -> InferredFiles:
    facts = FieldFacts()
    rows = files = 0
    for name, path in paths.items():
        if most_rows is not None and rows >= most_rows:
            break
        with path.open("rb") as lines:
            try:
                rows += field_facts(lines if most_rows is None else islice(lines, most_rows - rows), facts)
            except ValueError as error:
                number, why = error.args
                raise SourceError(f"the line is no JSON object: {why}", at=Location(name, number)) from error
        files += 1
    columns = tuple(InferredColumn(one, *found.types()) for one, found in facts.fields.items())
    return InferredFiles(columns, files, rows, False)


def _of_parquet(paths: dict[str, Path], _most_rows: int | None, _rules: CsvRules) -> InferredFiles:
    types: dict[str, dict[str, None]] = {}
    rows = 0
    for name, path in paths.items():
        found = parquet_rows(path, Location(name))
        rows += found.rows
        for column in found.columns:
            types.setdefault(column.name, {})[column.type] = None
    columns = tuple(
        InferredColumn(name, tuple(found) if len(found) == 1 else (), _several(found)) for name, found in types.items()
    )
    return InferredFiles(columns, len(paths), rows, False)


def _several(types: dict[str, None]) -> str:
    return "" if len(types) == 1 else f"some files have {' and others '.join(types)}"


def _proved(found: InferredFiles, paths: dict[str, Path], kind: Format, rules: CsvRules) -> InferredFiles:
    """The types with which the source reads every row; a column that it reads with none is left out."""
    columns = list(found.columns)
    waiting = list(paths)
    while waiting:
        name = waiting.pop(0)
        if _failure(paths[name], kind, columns, name, rules) is not None:
            columns = [_readable(paths[name], kind, column, name, rules) for column in columns]
            waiting = [one for one in paths if one != name]  # those that were read had other types
    return replace(found, columns=tuple(columns), is_proved=True)


def _readable(path: Path, kind: Format, column: InferredColumn, name: str, rules: CsvRules) -> InferredColumn:
    why = None
    for number in range(len(column.types)):
        tried = replace(column, types=column.types[number:])
        failure = _failure(path, kind, [tried], name, rules)
        if failure is None:
            return tried if why is None else replace(tried, note=f"not {column.type}: {why}")
        why = why or failure
    return replace(column, types=(), note=why or column.note)


def _failure(path: Path, kind: Format, columns: Sequence[InferredColumn], name: str, rules: CsvRules) -> str | None:
    """Why a file cannot be read with these columns; None: it can."""
    declared = tuple(Column(name=one.name, type=one.type) for one in columns if one.type is not None)
    if not declared:
        return None
    try:
        if kind == "csv" and not {one.name for one in declared} & set(csv_names(path, name, rules)):
            return None
        read_file(path, kind, declared, name, optional=[one.name for one in declared], rules=rules)
    except SourceError as error:
        return error.message.removeprefix("the file is malformed: ")
    except pa.ArrowException as error:
        return str(error)
    return None
