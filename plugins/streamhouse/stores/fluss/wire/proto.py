"""Protocol Buffers, as much as Fluss's messages need: varints, bytes and nested messages."""

from collections.abc import Iterator

Value = int | str | bytes | list[int] | None
Message = dict[int, list[int | memoryview]]
"""A decoded message: field number → its values in order. Nested messages stay encoded."""

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_SIGN = 1 << 63
_WRAP = 1 << 64


def encode(*fields: tuple[int, Value]) -> bytes:
    """Encode a Protobuf message with `(field number, value)` in this order; None is left out.

    Integers become varints, a list of integers a packed field; an encoded message is `bytes`.

    Example:
        >>> encode((1, 150), (2, "hot"), (3, None), (4, [1, 2])).hex()
        '0896011203686f7422020102'
    """
    out = bytearray()
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, int):
            out += _varint(number << 3 | _VARINT)
            out += _varint(value)
            continue
        if isinstance(value, list):
            payload = b"".join(_varint(item) for item in value)
        else:
            payload = value.encode() if isinstance(value, str) else value
        out += _varint(number << 3 | _BYTES)
        out += _varint(len(payload))
        out += payload
    return bytes(out)


def decode(data: bytes | memoryview) -> Message:
    """The fields of an encoded message; byte fields are views into `data`, not copies.

    Example:
        >>> fields = decode(bytes.fromhex("0896011203686f74"))
        >>> fields[1], bytes(fields[2][0])
        ([150], b'hot')
    """
    message: Message = {}
    for number, value in _fields(memoryview(data)):
        message.setdefault(number, []).append(value)
    return message


def number(message: Message, field: int, default: int = 0) -> int:
    """The signed integer of a field, else `default`."""
    values = message.get(field)
    if not values or not isinstance(values[-1], int):
        return default
    return values[-1] - _WRAP if values[-1] >= _SIGN else values[-1]


def blob(message: Message, field: int) -> memoryview:
    """The bytes of a field; empty when it is absent."""
    values = message.get(field)
    return values[-1] if values and isinstance(values[-1], memoryview) else memoryview(b"")


def text(message: Message, field: int) -> str:
    """The text of a field; empty when it is absent."""
    return bytes(blob(message, field)).decode()


def texts(message: Message, field: int) -> list[str]:
    """The texts of a repeated field."""
    return [bytes(value).decode() for value in message.get(field, ()) if isinstance(value, memoryview)]


def messages(message: Message, field: int) -> list[Message]:
    """The nested messages of a repeated field."""
    return [decode(value) for value in message.get(field, ()) if isinstance(value, memoryview)]


def _varint(value: int) -> bytes:
    value %= _WRAP  # negative numbers travel as their 64-bit two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"wire type {kind} is unknown")
        if at + size > len(data):
            raise ValueError("the message is cut off")
        yield tag >> 3, data[at : at + size]
        at += size


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
