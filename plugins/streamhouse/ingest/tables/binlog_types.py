"""What each type of MariaDB and MySQL may be declared as. Pure."""

from streamhouse.ingest.tables.postgres_types import fits, numeric_type

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_SHAPES = ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon")
_TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), (*_WHOLE, "decimal")),
    "decimal": ("decimal", "string"),
    **dict.fromkeys(("float", "double"), ("float", "double")),
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), ("string",)),
    **dict.fromkeys(("enum", "set", "json", "uuid"), ("string",)),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), ("binary",)),
    "date": ("date",),
    "datetime": ("timestamp_ntz", "timestamp"),
    "timestamp": ("timestamp",),
    "time": ("bigint",),
    "year": ("int", "smallint", "bigint"),
    "bit": ("binary",),
    **dict.fromkeys((*_SHAPES, "geometrycollection", "geomcollection"), ()),
}

_SIGNED = {"tinyint": "tinyint", "smallint": "smallint", "mediumint": "int", "int": "int", "bigint": "bigint"}
_UNSIGNED = {"tinyint": "smallint", "smallint": "int", "mediumint": "int", "int": "bigint", "bigint": "decimal(20,0)"}

__all__ = ["declarable", "fits", "is_readable", "natural"]


def declarable(type_: str, whole: str) -> tuple[str, ...]:
    """The types that a column may be declared as, the best first; empty: it cannot be captured.

    Args:
        type_: As `DATA_TYPE` of the information schema has it, such as `bit`.
        whole: As `COLUMN_TYPE` has it, such as `bit(1)`.

    Example:
        >>> declarable("bit", "bit(1)"), declarable("bit", "bit(8)"), declarable("bigint", "bigint(20) unsigned")[0]
        (('boolean',), ('binary',), 'decimal')
    """
    if whole == "bit(1)":
        return ("boolean",)
    if "compressed" in whole.lower():
        return ()
    found = _TYPES.get(type_, ())
    return ("decimal", *_WHOLE) if type_ == "bigint" and "unsigned" in whole else found


def is_readable(type_: str) -> bool:
    """Whether the engine reads a table that has a column of this type.

    Example:
        >>> is_readable("geometry"), is_readable("inet6")
        (True, False)
    """
    return type_ in _TYPES


def natural(type_: str, whole: str) -> tuple[str | None, str]:
    """The type that has every value of a column, and what a person should know of it; None: it cannot be captured.

    Args:
        type_: As `declarable`.
        whole: As `declarable`.

    Example:
        >>> natural("int", "int(10) unsigned"), natural("decimal", "decimal(12,2)"), natural("point", "point")
        (('bigint', ''), ('decimal(12,2)', ''), (None, ''))
    """
    allowed = declarable(type_, whole)
    if not allowed:
        return None, ""
    if type_ == "decimal":
        return numeric_type(whole.split(" ", maxsplit=1)[0].replace("decimal", "numeric"))
    if type_ in ("float", "double"):
        return type_, ""
    numbers = _UNSIGNED if "unsigned" in whole else _SIGNED
    return numbers.get(type_, allowed[0]), ""
