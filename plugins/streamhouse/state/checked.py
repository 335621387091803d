"""Types of columns whose values are what they were declared as; SQLite would give whatever its file has.

One flipped bit makes a text one of bytes, or a whole number a text.
"""

from typing import Any, TypeVar

from sqlalchemy import types

from streamhouse.state.damage import damaged

_T = TypeVar("_T")


class _Checked(types.TypeDecorator[_T]):
    """A type whose values SQLite does not check; other databases do, and sum whole numbers as decimals."""

    of: type

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """The value.

        Raises:
            StateConflictError: it is of another type.
        """
        if value is None or isinstance(value, self.of) or dialect.name != "sqlite":
            return value
        raise damaged(f"a value that is to be of type {self.of.__name__}")


class Integer(_Checked[int]):
    """Whole numbers."""

    impl: Any = types.Integer
    of = int
    cache_ok = True


class BigInteger(_Checked[int]):
    """Whole numbers of 64 bits."""

    impl: Any = types.BigInteger
    of = int
    cache_ok = True


class Text(_Checked[str]):
    """Texts of any length."""

    impl: Any = types.Text
    of = str
    cache_ok = True


class String(_Checked[str]):
    """Texts of at most so many letters."""

    impl: Any = types.String
    of = str
    cache_ok = True
