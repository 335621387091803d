"""Texts under columns of other types, in Parquet and in change events: values by the rules of CSV, or refused. Pure."""

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.stores.arrow import shown_type
from streamhouse.stores.decimals import texts_as_decimals

_KINDS = pa.types


def texts_as(texts: pa.Array, to: pa.DataType) -> pa.Array:
    """Texts as values of another type.

    Raises:
        pa.ArrowInvalid: one is no value of the type; also where Arrow takes it for one: `1` as true, `0x10`, `1e400`.
    """
    if _KINDS.is_decimal(to):
        return texts_as_decimals(texts, to)
    found = texts.cast(to)
    wrong = _taken_by_arrow_alone(texts, found)
    if wrong is not None and pc.any(wrong).as_py():
        raise pa.ArrowInvalid(f"{texts.filter(wrong)[0].as_py()!r} is no {shown_type(to)}")
    return found


def _taken_by_arrow_alone(texts: pa.Array, found: pa.Array) -> pa.Array | None:
    if _KINDS.is_boolean(found.type):
        return pc.invert(pc.match_substring_regex(texts, "(?i)^(true|false)$"))
    if _KINDS.is_integer(found.type):
        return pc.invert(pc.match_substring_regex(texts, "^-?[0-9]+$"))
    if _KINDS.is_floating(found.type):
        return pc.and_(pc.is_inf(found), pc.invert(pc.match_substring_regex(texts, "(?i)inf")))
    return None
