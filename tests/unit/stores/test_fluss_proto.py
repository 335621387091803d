import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.stores.fluss.wire import proto


@given(st.integers(-(2**63), 2**63 - 1), st.text(), st.binary(), st.lists(st.integers(0, 2**40)))
def test_fields_come_back(integer: int, string: str, data: bytes, packed: list[int]) -> None:
    inner = proto.encode((1, string))
    message = proto.decode(proto.encode((1, integer), (2, string), (3, data), (4, packed), (16, inner), (16, inner)))
    assert proto.number(message, 1) == integer
    assert proto.text(message, 2) == string
    assert bytes(proto.blob(message, 3)) == data
    assert [proto.text(nested, 1) for nested in proto.messages(message, 16)] == [string, string]


def test_absent_fields_have_defaults() -> None:
    message = proto.decode(proto.encode((1, None)))
    assert message == {}
    assert proto.number(message, 1, -1) == -1
    assert proto.text(message, 2) == ""
    assert proto.messages(message, 3) == []


def test_fields_of_newer_servers_are_skipped() -> None:
    fixed32, fixed64 = bytes([5 << 3 | 5, 1, 2, 3, 4]), bytes([6 << 3 | 1, *range(8)])
    assert proto.number(proto.decode(fixed32 + fixed64 + proto.encode((7, 9))), 7) == 9


@pytest.mark.parametrize("data", [b"\x0a\x05ab", b"\x0b", b"\x08\x80"])
def test_a_cut_or_broken_message_is_refused(data: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        proto.decode(data)
