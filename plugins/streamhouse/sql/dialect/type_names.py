"""Names of types that sqlglot knows and Spark does not, such as those of other databases."""

from collections.abc import Iterator, Sequence

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.sql.dialect.spark_words import refused_at
from streamhouse.sql.words import words

_T = TokenType
PLAIN = words(
    """
    boolean tinyint byte smallint short int integer bigint long float real double
    date timestamp timestamp_ntz timestamp_ltz string binary
    """
)
"""Types of Spark SQL that a table can have and that take nothing behind them."""
DECIMALS = words("decimal dec numeric")
SIZED = words("varchar character")
UNSTORED = words("variant interval time void geometry geography")
"""Types of Spark SQL that no table here has."""
_SPARK = {one.upper() for one in (*PLAIN, *DECIMALS, *SIZED, *UNSTORED, "array", "map", "struct")}
INSTEAD = {
    **dict.fromkeys(
        words("TEXT CHAR NCHAR NVARCHAR BPCHAR UUID JSON JSONB ENUM TINYTEXT MEDIUMTEXT LONGTEXT"), "STRING"
    ),
    **dict.fromkeys(words("NUMBER FIXED BIGDECIMAL BIGNUMERIC MONEY"), "DECIMAL(12,2), with the digits of the values"),
    **dict.fromkeys(words("BLOB BYTES BYTEA VARBINARY TINYBLOB MEDIUMBLOB LONGBLOB IMAGE"), "BINARY"),
    **dict.fromkeys(
        words("DATETIME DATETIME2 TIMESTAMPNTZ SMALLDATETIME"), "TIMESTAMP_NTZ, or TIMESTAMP for an instant"
    ),
    **dict.fromkeys(words("TIMESTAMPTZ TIMESTAMPLTZ"), "TIMESTAMP"),
    **dict.fromkeys(words("BOOL BIT"), "BOOLEAN"),
    **dict.fromkeys(words("INT1 BYTEINT"), "TINYINT"),
    **dict.fromkeys(words("INT2 SMALLSERIAL"), "SMALLINT"),
    **dict.fromkeys(words("INT4 SERIAL MEDIUMINT"), "INT"),
    **dict.fromkeys(words("INT8 BIGSERIAL INT64"), "BIGINT"),
    **dict.fromkeys(words("FLOAT4"), "FLOAT"),
    **dict.fromkeys(words("FLOAT8 FLOAT64"), "DOUBLE"),
}
"""Name of a type of another system, in upper case → what to write in its place."""
_ENDS = frozenset({_T.COMMA, _T.GT, _T.R_PAREN, _T.NOT, _T.L_PAREN, _T.LT})
_ZONES = frozenset({"WITHOUT"})


def other_type(tokens: Sequence[Token], sql: str) -> ParseError | None:
    """The error for the first type that Spark lacks, behind CAST … AS and `::`, or before a text; None: there is none.

    Args:
        tokens: Of the text.
        sql: What was cut into them.
    """
    for place in places_of_types(tokens):
        token = tokens[place]
        name = token.text.upper()
        behind = tokens[place + 1].text.upper() if place + 1 < len(tokens) else ""
        if name == "TIMESTAMP" and behind in _ZONES:
            hint = "write TIMESTAMP_NTZ"
            return refused_at(sql, token.start, "TIMESTAMP WITHOUT TIME ZONE is not read here", token.text, hint)
        if name in INSTEAD and token.token_type != _T.IDENTIFIER:
            message = f"'{token.text}' is no Spark SQL type"
            message = "no table keeps the length of a CHAR" if name == "CHAR" else message
            return refused_at(sql, token.start, message, token.text, f"write {INSTEAD[name]}")
        if token.token_type == _T.IDENTIFIER and name in {*_SPARK, *INSTEAD}:
            return refused_at(sql, token.start, f"`{token.text}` is no type", token.text, f"write {name}")
    return None


def places_of_types(tokens: Sequence[Token]) -> Iterator[int]:
    """The places of the names of types.

    Args:
        tokens: Of one text.
    """
    casts: list[bool] = []
    inside = False  # of the type of a CAST
    nested = 0
    for place, token in enumerate(tokens):
        kind = token.token_type
        before = tokens[place - 1] if place else token
        if kind == _T.L_PAREN:
            casts.append(before.text.upper() in ("CAST", "TRY_CAST"))
        elif kind == _T.R_PAREN and casts:
            closes_cast = casts.pop()
            inside = inside and not closes_cast
        elif kind == _T.ALIAS and casts and casts[-1]:
            inside = True
        elif kind == _T.DCOLON:
            nested = 0
        elif inside or before.token_type == _T.DCOLON or nested:
            if not _is_field(tokens, place):
                yield place
        elif place + 1 < len(tokens) and tokens[place + 1].token_type == _T.STRING and kind == _T.DATETIME:
            yield place
        nested = _depth(nested, tokens, place)


def _depth(nested: int, tokens: Sequence[Token], place: int) -> int:
    """How many `<` behind a `::` are open after a token."""
    kind = tokens[place].token_type
    if kind == _T.LT:
        opens = nested or (place > 1 and tokens[place - 2].token_type == _T.DCOLON)
        return nested + bool(opens)
    return max(0, nested - (kind == _T.GT))


def _is_field(tokens: Sequence[Token], place: int) -> bool:
    """Whether a name is that of a field of a STRUCT."""
    before, behind = tokens[place - 1].token_type, tokens[place + 1 : place + 2]
    if behind and behind[0].token_type == _T.COLON:
        return True
    return before in (_T.LT, _T.COMMA) and bool(behind) and behind[0].token_type not in _ENDS
