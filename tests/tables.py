"""A table of cases in one test: thousands of tests of a millisecond cost more in pytest than in what they try."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import wraps
from typing import Any

import pytest

_SAID = (str, int, float, bool, Enum, type(None))  # as pytest: what has a short text of its own


def each(
    names: str | tuple[str, ...], cases: Iterable[Any], *, ids: Callable[[Any], str] | Sequence[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but all cases are subtests of one test, and each that fails is named.

    For cases without a fixture of their own: they share those that the test takes.

    Args:
        names: Of what a case gives, as for `parametrize`.
        cases: A value each, or a tuple of values where there are several names.
        ids: Names of the cases, or what makes one of a value.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_named(keys, case) for case in cases]
    if not table:
        raise ValueError(f"there is no case for {names}")
    said = [_said(number, case, ids) for number, case in enumerate(table)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def tried(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case, name in zip(table, said, strict=True):
                with subtests.test(name):
                    test(**case, **fixtures)

        parameters = inspect.signature(test).parameters.values()
        taken = [one for one in parameters if one.name not in keys]
        asked = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        whole = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in taken]
        tried.__signature__ = inspect.Signature([asked, *whole])  # type: ignore[attr-defined]
        return tried

    return decorate


def _named(keys: list[str], case: Any) -> dict[str, Any]:
    values = (case,) if len(keys) == 1 else tuple(case)
    return dict(zip(keys, values, strict=True))


def _said(number: int, case: Mapping[str, Any], ids: Callable[[Any], str] | Sequence[str] | None) -> str:
    if ids is not None and not callable(ids):
        return ids[number]
    parts = [ids(value) if ids else str(value) for value in case.values() if ids or isinstance(value, _SAID)]
    return f"{number}: {'-'.join(parts)}" if parts else f"case {number}"
