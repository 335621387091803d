"""Schemas of Protobuf: compiles their text, and says which Spark SQL type each field has."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from streamhouse.errors import MissingPackageError
from streamhouse.ingest.protobuf_known import KNOWN, META
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError

_MAIN = "streamhouse_schema.proto"
_COMPILE_S = 60.0
_FIELD_OPTIONS = "google.protobuf.FieldOptions"
_TIMESTAMP = "google.protobuf.Timestamp"
_WRAPPER = "Value"
_WRAPPERS = "google/protobuf/wrappers.proto"

# By the numbers of google.protobuf.FieldDescriptorProto.Type.
_DOUBLE, _FLOAT, _INT64, _UINT64, _INT32, _FIXED64, _FIXED32, _BOOL, _STRING = range(1, 10)
_GROUP, _MESSAGE, _BYTES, _UINT32, _ENUM, _SFIXED32, _SFIXED64, _SINT32, _SINT64 = range(10, 19)
_TYPES = {
    **dict.fromkeys((_INT32, _SINT32, _SFIXED32), "int"),
    **dict.fromkeys((_INT64, _SINT64, _SFIXED64, _UINT32, _FIXED32), "bigint"),
    **dict.fromkeys((_UINT64, _FIXED64), "decimal(20,0)"),
    _DOUBLE: "double",
    _FLOAT: "float",
    _BOOL: "boolean",
    _STRING: "string",
    _BYTES: "binary",
    _ENUM: "string",
}


@dataclass(frozen=True)
class ProtobufFile:
    """A schema as it is compiled.

    Attributes:
        descriptor: Of the file, by google.protobuf.
    """

    descriptor: Any

    def message(self, path: tuple[int, ...]) -> Any:
        """The descriptor of a message by its place: which of the file, then which of those within it.

        Raises:
            UnreadableError: there is none.
        """
        found, inside = None, list(self.descriptor.message_types_by_name.values())
        for index in path:
            if not 0 <= index < len(inside):
                raise UnreadableError("malformed", f"its schema has no message {'.'.join(map(str, path))}")
            found = inside[index]
            inside = list(found.nested_types)
        if found is None:
            raise UnreadableError("malformed", "it names no message of its schema")
        return found

    def named(self, name: str) -> Any:
        """The descriptor of a message by its name without the package, such as `Sale.Line`.

        Raises:
            UnreadableError: there is none.
        """
        first, *inner = name.split(".")
        found = self.descriptor.message_types_by_name.get(first)
        for one in inner:
            found = found and found.nested_types_by_name.get(one)
        if found is None:
            known = ", ".join(self.descriptor.message_types_by_name)
            raise UnreadableError("schema", f"it has no message '{name}', but {known}")
        return found


@lru_cache(maxsize=256)
def protobuf_file(schema: RegisteredSchema) -> ProtobufFile:
    """Compile a schema with Google's compiler, in a process of its own; once for each schema.

    Raises:
        UnreadableError: it is no Protobuf.
        MissingPackageError: the compiler is not installed.
    """
    if find_spec("grpc_tools") is None or find_spec("google.protobuf") is None:
        raise MissingPackageError("grpcio-tools is not installed", hint="pip install 'streamhouse[kafka]'")
    from google.protobuf import descriptor_pb2, descriptor_pool

    with TemporaryDirectory() as name:
        found = descriptor_pb2.FileDescriptorSet.FromString(
            _compiled(Path(name), schema.text, dict(schema.references), schema.id)
        )
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:  # each after those it imports
        pool.Add(file)
    return ProtobufFile(pool.FindFileByName(_MAIN))


def _compiled(folder: Path, text: str, references: Mapping[str, str], number: int) -> bytes:
    known = {name: one for name, one in KNOWN.items() if name not in references}
    for name, one in {**known, **references, _MAIN: text}.items():
        file = (folder / name).resolve()
        if not file.is_relative_to(folder.resolve()):
            raise UnreadableError("schema", f"schema {number} imports '{name}', which leads elsewhere")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(one, encoding="utf-8")
    output = folder / "compiled"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", "--include_imports"]
    try:
        done = subprocess.run(
            [*command, f"--descriptor_set_out={output}", _MAIN],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_COMPILE_S,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableError("schema", f"schema {number} is not compiled in {_COMPILE_S:.0f} s") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        raise UnreadableError("schema", f"the schema is no Protobuf: {' '.join(lines)[:300].replace(_MAIN, 'line ')}")
    return output.read_bytes()


def field_type(field: Any, around: tuple[str, ...] = ()) -> str:
    """The Spark SQL type of a field.

    Raises:
        UnreadableError: there is none.
    """
    if is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return f"map<{field_type(key, around)},{field_type(value, around)}>"
    one = _one_type(field, around)
    return f"array<{one}>" if field.is_repeated else one


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return bool(field.type == _MESSAGE and field.message_type.GetOptions().map_entry)


def is_timestamp(field: Any) -> bool:
    """Whether the values of a field are instants."""
    return bool(field.type == _MESSAGE and field.message_type.full_name == _TIMESTAMP)


def is_wrapper(field: Any) -> bool:
    """Whether the values of a field are simple values that may be absent."""
    return bool(field.type == _MESSAGE and field.message_type.file.name == _WRAPPERS)


def is_message(field: Any) -> bool:
    """Whether the values of a field are messages."""
    return bool(field.type == _MESSAGE)


def is_enum(field: Any) -> bool:
    """Whether the values of a field are names of an enum."""
    return bool(field.type == _ENUM)


def simple_type(field: Any) -> str:
    """The Spark SQL type of one value of a field that is no message.

    Raises:
        UnreadableError: it is a group.
    """
    if field.type == _GROUP:
        raise UnreadableError("schema", "it is a group")
    return _TYPES[field.type]


def noted_of(field: Any) -> dict[str, str]:
    """What Kafka Connect noted of a field, such as the scale of a decimal; {}: nothing."""
    from google.protobuf.message_factory import GetMessageClass

    pool = field.file.pool
    try:
        extension = pool.FindExtensionByName(META)
        options = GetMessageClass(pool.FindMessageTypeByName(_FIELD_OPTIONS))
    except KeyError:  # the schema does not import it
        return {}
    noted = options.FromString(field.GetOptions().SerializeToString())
    return dict(noted.Extensions[extension].params)


def _one_type(field: Any, around: tuple[str, ...]) -> str:
    if field.type != _MESSAGE:
        return simple_type(field)
    if is_timestamp(field):
        return "timestamp"
    if is_wrapper(field):
        return _TYPES[field.message_type.fields_by_name["value"].type]
    name = field.message_type.full_name
    if name in around:
        raise UnreadableError("schema", f"the message {name} has itself in it")
    fields = field.message_type.fields
    if not fields:
        raise UnreadableError("schema", f"the message {name} has no fields")
    return f"struct<{','.join(f'{one.name}:{field_type(one, (*around, name))}' for one in fields)}>"
