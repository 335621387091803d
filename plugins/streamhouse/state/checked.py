"""Types of columns whose values are what they were declared as; SQLite would give whatever its file has.

One flipped bit makes a text one of bytes, or a whole number a text.
"""

from typing import Any

from sqlalchemy import types

from streamhouse.state.damage import damaged


def _checked(value: Any, kind: type, dialect: Any) -> Any:
    """The value, of a column that SQLite has; other databases check their columns, and sum whole numbers as decimals.

    Raises:
        StateConflictError: it is of another type.
    """
    if value is None or isinstance(value, kind) or dialect.name != "sqlite":
        return value
    raise damaged(f"a value that is to be of type {kind.__name__}")


class _WholeNumber(types.TypeDecorator[int]):
    impl: Any = types.Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """The value; see `_checked`."""
        return _checked(value, int, dialect)


class Integer(_WholeNumber):
    """Whole numbers."""

    cache_ok = True


class BigInteger(_WholeNumber):
    """Whole numbers of 64 bits."""

    impl = types.BigInteger
    cache_ok = True


class _Letters(types.TypeDecorator[str]):
    impl: Any = types.Text
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """The value; see `_checked`."""
        return _checked(value, str, dialect)


class Text(_Letters):
    """Texts of any length."""

    cache_ok = True


class String(_Letters):
    """Texts of at most so many letters."""

    impl = types.String
    cache_ok = True
