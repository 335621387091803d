"""Which columns a registered schema has, and whether a source may declare others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.json_schema import fits_json, json_columns
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.message_formats import LANGUAGES
from streamhouse.ingest.schema_registry import NotRegistered, RegisteredSchema, RegistryClient, SubjectVersion
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.ingest.wrong_option import of_option
from streamhouse.model.shape import SeenColumn
from streamhouse.stores.arrow import arrow_type

if TYPE_CHECKING:
    from streamhouse.ingest.avro_schema import AvroType


@dataclass(frozen=True)
class RegisteredColumns:
    """What a schema says of the rows.

    Attributes:
        columns: Those that can be read, in order.
        refusals: Column → why it cannot be read at all.
        is_open: Whether rows may have columns that the schema does not name.
    """

    columns: tuple[SeenColumn, ...]
    refusals: Mapping[str, str]
    is_open: bool = False


def registered_columns(schema: RegisteredSchema, message: str | None = None) -> RegisteredColumns:
    """The columns of a schema; `message` names one of Protobuf, None is the first.

    Raises:
        UnreadableError: it makes no rows.
        MissingPackageError: what reads its language is not installed.
    """
    if schema.language == "JSON":
        columns, is_open = json_columns(schema.text, dict(schema.references))
        return RegisteredColumns(columns, {}, is_open)
    found, refusals = [], {}
    for name, type_of in _fields(schema, message).items():
        try:
            found.append(SeenColumn(name=name, type=type_of()))
        except UnreadableError as error:
            refusals[name] = str(error)
    return RegisteredColumns(tuple(found), refusals)


def _fields(schema: RegisteredSchema, message: str | None) -> dict[str, Callable[[], str]]:
    """Field → what gives its type."""
    if schema.language == "PROTOBUF":
        from streamhouse.ingest.protobuf_rows import protobuf_fields
        from streamhouse.ingest.protobuf_schema import field_type

        return {field.name: partial(field_type, field) for field in protobuf_fields(schema, message)}
    from streamhouse.ingest.avro_rows import avro_rows

    return {name: partial(_avro_type, type_) for name, type_ in avro_rows(schema).record.fields}


def _avro_type(type_: "AvroType") -> str:
    return type_.spark_type


@dataclass(frozen=True)
class Contract:
    """What a source declares of the values or the keys of a topic.

    Attributes:
        subject: Of whose versions they are.
        format: As the source says it.
        columns: Column → type, as a person declared them.
        message: Which message of a Protobuf schema; None: the first.
        option: Prefix of the option that says so.
    """

    subject: str
    format: str
    columns: Mapping[str, str]
    message: str | None = None
    option: str = ""


def contracts_of(options: KafkaOptions) -> list[Contract]:
    """What a source declares of what a registry knows: of values, of keys, or of both."""
    found = []
    if options.format != "json":
        found.append(Contract(options.subject_name, options.format, options.columns, options.message))
    key = options.key
    if key is not None and key.format != "json":
        found.append(Contract(options.key_subject(key), key.format, key.columns, key.message, "key."))
    return found


def newest_schema(client: RegistryClient, contract: Contract, at: Location | None = None) -> SubjectVersion:
    """The newest version of a subject.

    Raises:
        SourceError: the registry has none, or it is in another language than the source says.
        StoreUnavailableError: the registry does not answer.
        EnvironmentProblem: a secret of the connection is not where the settings say.
    """
    subject, option = contract.subject, contract.option
    try:
        found = client.latest(subject)
    except NotRegistered as error:
        hint = f"register its schema; or name another subject with '{option}subject'"
        raise SourceError(f"the registry has no subject '{subject}'", at=at, hint=hint) from error
    if found.schema.language != LANGUAGES[contract.format]:
        right = next((name for name, one in LANGUAGES.items() if one == found.schema.language), "another format")
        message = f"{found} is in {found.schema.language}, and the source says {option}format: {contract.format}"
        raise SourceError(message, at=at, hint=f"write {option}format: {right}")
    return found


def refuse_misfits(
    found: SubjectVersion, columns: Mapping[str, str], message: str | None = None, at: Location | None = None
) -> None:
    """Compare declared columns with a schema.

    Args:
        found: The schema.
        columns: Column → type, as a person declared them.
        message: Which message of a Protobuf schema; None: the first.
        at: Where.

    Raises:
        SourceError: the schema lacks a column, or its values are never read as the declared type.
    """
    try:
        there = registered_columns(found.schema, message)
    except UnreadableError as error:
        raise SourceError(f"{found}: {error}", at=at, hint="a source needs messages that are records") from error
    names = [column.name for column in there.columns]
    for name, declared in columns.items():
        with of_option(f"columns.{name}"):
            if name in there.refusals:
                text = f"column '{name}' of {found} cannot be read: {there.refusals[name]}"
                raise SourceError(text, at=at, hint=f"leave '{name}' out of 'columns'")
            if name not in names and not there.is_open:
                listed = did_you_mean(name, names, f"it has: {', '.join(names)}")
                raise SourceError(f"{found} has no column '{name}'", at=at, hint=listed)
            if name in names and (wrong := _misfit(found.schema, message, name, declared, there.columns)):
                natural = next(column.type for column in there.columns if column.name == name)
                hint = f"declare '{name}' as {natural}, and CAST it in an action"
                raise SourceError(f"column '{name}' of {found}: {wrong}", at=at, hint=hint)


def _misfit(
    schema: RegisteredSchema, message: str | None, name: str, declared: str, there: Sequence[SeenColumn]
) -> str:
    """Why values of a column are never of the declared type; empty: some are."""
    if schema.language == "JSON":
        [natural] = [column.type for column in there if column.name == name]
        return "" if fits_json(natural, declared) else f"{natural} is not read as {declared}"
    if schema.language == "PROTOBUF":
        from streamhouse.ingest.protobuf_rows import misfit, protobuf_fields

        [field] = [one for one in protobuf_fields(schema, message) if one.name == name]
        return misfit(field, arrow_type(declared))
    from streamhouse.ingest.avro_rows import avro_rows
    from streamhouse.ingest.avro_values import value_reader

    try:
        value_reader(dict(avro_rows(schema).record.fields)[name], arrow_type(declared))
    except UnreadableError as error:
        return str(error)
    return ""
