"""SH1xx: a file cannot be read."""

from collections.abc import Collection

from streamhouse.errors.base import DefinitionError, Location, did_you_mean


class FileFormatError(DefinitionError):
    """A file is not valid YAML, or a value has the wrong shape.

    Cause:
        The YAML of a flow, of an action's header or of `streamhouse.yaml` does not parse, a required
        key is missing, or a value has another type than its key takes.

    Example:
        flows/duration_unknown.yaml:6:39: SH101 warm: 'long' is no duration
          hint: write a number with its unit, such as 30s, 5m, 1h, 7d

    Remedy:
        Edit the place that the message names. `streamhouse flow schema` and `streamhouse action schema`
        print a JSON Schema, by which an editor checks the file while you type.
    """

    code = "SH101"


class UnknownKeyError(DefinitionError):
    """A mapping has a key that the format does not know.

    Cause:
        A key is misspelt, or stands at the wrong level of the file. Unknown keys are never ignored,
        because a misspelt setting would otherwise have no effect.

    Example:
        actions/header_unknown_keys.sql:7:10: SH102 unknown key 'primary_keys'
          hint: did you mean 'primary_key'?

    Remedy:
        Correct the key, or move it to the mapping where it belongs. The hint names the closest key, or
        all keys that this mapping can have.
    """

    code = "SH102"

    def __init__(self, key: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown key '{key}'",
            at=at,
            hint=did_you_mean(key, known, f"known keys: {', '.join(sorted(known))}"),
        )


class HeaderError(DefinitionError):
    """An action file has no header, or its header does not end.

    Cause:
        An action begins with a comment that has YAML in it: `/* ---`, the YAML, `--- */`. One of the
        two marks is missing or is not on a line of its own.

    Example:
        actions/header_open.sql:1:1: SH103 the header does not end
          hint: close it with a line '--- */' before the SQL

    Remedy:
        Write both marks on lines of their own. `streamhouse action new NAME` writes a file to start from.
    """

    code = "SH103"


class SqlSyntaxError(DefinitionError):
    """The SQL of an action does not parse as Spark SQL.

    Cause:
        The SQL has a syntax error, has more than one statement, or is a statement that writes. An
        action is one SELECT.

    Example:
        actions/sql_unexpected_word.sql:8:21: SH104 'total' is not expected here
          hint: a comma, an operator or AS may be missing before it

    Remedy:
        Correct the SQL at the line and column of the message. The flow, not the SQL, says where the
        result is stored.
    """

    code = "SH104"
