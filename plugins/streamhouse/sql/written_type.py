"""Types as people write them beside columns and parameters: those of Spark SQL, and no others.

The parser of SQL knows more: `int8` is its `tinyint`, `time` a `timestamp`, and `int array` an `int`. None of these is
what its writer means, so a text passes only by the grammar of this module, which is Spark's (`dataType` in
SqlBaseParser.g4 of Spark 4.1) without what no table can hold.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.dialect.type_names import DECIMALS, INSTEAD, PLAIN, SIZED, UNSTORED
from streamhouse.sql.types import canonical_type

_TOKEN = re.compile(r"\s*(?:(\w+|`[^`]+`|'[^']*')|(\S))", re.UNICODE)
_DEEPEST = 32  # types within types
_SHOWN = 60  # characters of a text in a message


class WrittenTypeError(ValueError):
    """A text is no type.

    Attributes:
        hint: What to write; None: nothing is known.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@lru_cache(maxsize=4096)  # every file names the same few types
def written_type(text: str) -> str:
    """The canonical name of a type that a person wrote: `LONG` gives `bigint`.

    Raises:
        WrittenTypeError: `text` is no type of Spark SQL, or one that no table can hold.
    """
    _TypeText(text).read()
    try:
        return canonical_type(text)
    except ValueError as error:
        raise WrittenTypeError(str(error)) from error


class _TypeText:
    """A text that is read as a type."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._tokens = [word or sign for word, sign in _TOKEN.findall(text)]
        self._at = 0
        self._depth = 0

    def read(self) -> None:
        """Do nothing where the text is a type.

        Raises:
            WrittenTypeError: it is none.
        """
        self._type()
        if self._next:
            raise self._error()

    @property
    def _next(self) -> str:
        return self._tokens[self._at].lower() if self._at < len(self._tokens) else ""

    def _takes(self, *words: str) -> bool:
        """Whether these come next; they are passed then."""
        found = tuple(token.lower() for token in self._tokens[self._at : self._at + len(words)]) == words
        self._at += len(words) if found else 0
        return found

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise self._error()

    def _type(self) -> None:
        word = self._next
        self._at += 1
        match word:
            case "array":
                self._inside(self._type)
            case "map":
                self._inside(self._pair)
            case "struct":
                self._inside(self._fields)
            case _ if word in DECIMALS:
                self._digits()
            case _ if word in SIZED:
                self._length()
            case _ if word not in PLAIN:
                raise self._unknown(word)

    def _inside(self, read: Callable[[], None]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise WrittenTypeError(f"'{self._shown}' is nested deeper than {_DEEPEST} times")
        self._expect("<")
        read()
        self._expect(">")
        self._depth -= 1

    def _pair(self) -> None:
        self._type()
        self._expect(",")
        self._type()

    def _fields(self) -> None:
        names: set[str] = set()
        while True:
            names.add(self._field(names))
            if not self._takes(","):
                return

    def _field(self, names: set[str]) -> str:
        """Pass a field of a struct, and give its name."""
        name = self._next.strip("`")
        if not name.isidentifier():
            raise self._error()
        if name in names:
            raise WrittenTypeError(f"'{self._shown}' has the field '{name}' twice: case makes no difference in Spark")
        self._at += 1
        self._takes(":")
        self._type()
        self._takes("not", "null")
        if self._takes("comment"):
            self._at += self._next.startswith("'")
        return name

    def _digits(self) -> None:
        """Pass how many digits a decimal has, and how many of them behind the point."""
        if not self._takes("("):
            return
        digits, scale = self._number(), self._number() if self._takes(",") else 0
        self._expect(")")
        if not 0 < digits <= DECIMAL_DIGITS or scale > digits:
            message = (
                f"'{self._shown}': a decimal has at most {DECIMAL_DIGITS} digits, and no more of them behind the point"
            )
            raise WrittenTypeError(message, f"write decimal({DECIMAL_DIGITS},s) with a smaller s, or double")

    def _length(self) -> None:
        """Pass the longest length of a text, which no table keeps."""
        if self._takes("("):
            self._number()
            self._expect(")")

    def _number(self) -> int:
        digits = self._next
        if not (digits.isascii() and digits.isdigit()):
            raise self._error()
        self._at += 1
        return int(digits)

    def _unknown(self, word: str) -> WrittenTypeError:
        """The error of a word that is no type here."""
        if word == "char":
            return WrittenTypeError("no table keeps the length of a CHAR", "write string")
        if word in UNSTORED:
            return WrittenTypeError(f"'{self._shown}': no table can hold the type {word}")
        if word.upper() in INSTEAD:
            return WrittenTypeError(f"'{word}' is no Spark SQL type", f"write {INSTEAD[word.upper()].lower()}")
        return self._error()

    def _error(self) -> WrittenTypeError:
        hint = "write timestamp_ntz" if self._next == "without" else None
        return WrittenTypeError(f"'{self._shown}' is no Spark SQL type", hint)

    @property
    def _shown(self) -> str:
        return self._text if len(self._text) <= _SHOWN else f"{self._text[:_SHOWN]}…"
