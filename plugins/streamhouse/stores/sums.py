"""Refuses values that would overflow where a store adds them up: a store wraps around or forgets, Spark raises."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.model.types import MergeFunction
from streamhouse.stores.equality import distinct_keys, plain_keys
from streamhouse.stores.keyed import with_keys

_INTEGERS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_EXACT = Context(prec=200)  # Decimal rounds to 28 digits otherwise
_NONE = Decimal(0)
_FAR = 1024  # a value is far from the bounds of its type when it is less than this part of them

Amounts = Mapping[str, Decimal]
"""Column that is summed → an amount, without its sign."""


@dataclass(frozen=True)
class Added:
    """What a write adds to a table that sums.

    Attributes:
        most: The largest amount added to one key.
        over: Gives all rows, with the key and the summed columns, of every key to which more than these are added.
    """

    most: Amounts
    over: Callable[[Amounts], pa.Table]


class SumBounds:
    """Knows for each summed column of each table an amount that no stored value exceeds.

    So most writes are known to fit without a look at the table; else its key and summed columns are read. The store
    that uses one is the only writer of its tables as long as it lives.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Decimal]] = {}

    def admit(self, table: Table, added: Added, stored: Callable[[tuple[str, ...]], pa.Table]) -> None:
        """Do nothing when every sum fits; call it before each write to the table.

        Args:
            table: May merge.
            added: The write.
            stored: Gives columns of all rows of the table as it is now.

        Raises:
            WriteRefusedError: a sum does not fit the type of its column.
        """
        limits = summed(table)
        if not limits:
            return
        known = self._still(table, limits)
        if known is not None and _within(_plus(known, added.most), limits):
            self._known[table.name] = _plus(known, added.most)
            return
        rows = stored((*table.primary_key, *limits))
        exact = largest(rows, limits)
        if not _within(_plus(exact, added.most), limits):
            spare = {name: _EXACT.subtract(limit, exact[name]) for name, limit in limits.items()}
            _refuse_sums(table, added.over(spare), rows)
        self._known[table.name] = _plus(exact, added.most)

    def room(self, table: Table, stored: Callable[[tuple[str, ...]], pa.Table]) -> dict[str, Decimal] | None:
        """For writers that look at their rows on the way: what fits, whatever it is added to.

        Nothing is known of the table then until `wrote` says what was added.

        Args:
            table: Sums.
            stored: See `admit`.

        Returns:
            Column → an amount, most of what its type can hold; None: a stored sum is near that; then `admit` decides.
        """
        limits = summed(table)
        known = self._still(table, limits)
        if known is None:
            known = largest(stored((*table.primary_key, *limits)), limits)
        if any(_EXACT.multiply(known[name], Decimal(_FAR)) > limit for name, limit in limits.items()):
            self._known[table.name] = known
            return None
        self._known.pop(table.name, None)
        return {name: _EXACT.subtract(limit, known[name]) for name, limit in limits.items()}

    def wrote(self, table: Table, room: Amounts, most: Amounts) -> None:
        """Take note of what was added to a table after `room` was asked: to one key `most` at most."""
        limits = summed(table)
        self._known[table.name] = _plus({n: _EXACT.subtract(limits[n], room[n]) for n in limits}, most)

    def _still(self, table: Table, limits: Amounts) -> dict[str, Decimal] | None:
        """What is known of the table, if it has these columns."""
        known = self._known.get(table.name)
        return known if known is not None and known.keys() == limits.keys() else None


class Admitted(SumBounds):
    """Lets every write pass: the code that sends the rows to several writers has asked for all of them."""

    def admit(self, table: Table, added: Added, stored: Callable[[tuple[str, ...]], pa.Table]) -> None:
        """Do nothing."""


def refuse_overflow(
    sums: SumBounds | None, table: Table, rows: pa.Table, stored: Callable[[tuple[str, ...]], pa.Table]
) -> None:
    """`SumBounds.admit` of rows in this process; with None, the table is always looked at."""
    if table.merge and rows.num_rows:
        (sums or SumBounds()).admit(table, added_by(table, rows), stored)


def summed(table: Table) -> dict[str, Decimal]:
    """The columns whose sum can overflow, each with the largest amount that both signs of its type can hold."""
    return {
        name: limit
        for name, function in table.merge.items()
        if function is MergeFunction.SUM and (limit := _limit(table.column(name).type)) is not None
    }


def added_by(table: Table, rows: pa.Table) -> Added:
    """What rows in this process add; a key may be there several times."""
    names = tuple(summed(table))
    key = list(table.primary_key)
    rows, times = plain_keys(rows, key), 1
    if names and rows.num_rows > 1:
        times = pc.max(rows.group_by(key).aggregate([([], "count_all")]).column("count_all")).as_py()
    amounts = largest(rows, names)

    def over(spare: Amounts) -> pa.Table:
        large = [False] * rows.num_rows
        for name in names:
            for index, value in enumerate(rows.column(name).to_pylist()):
                large[index] |= value is not None and _amount(value) * times > spare[name]
        keys = distinct_keys(rows.filter(pa.array(large, pa.bool_())), key)
        return with_keys(rows.select([*key, *names]), keys.select(key))

    return Added({name: _EXACT.multiply(amount, Decimal(times)) for name, amount in amounts.items()}, over)


def largest(rows: pa.Table, names: Iterable[str]) -> dict[str, Decimal]:
    """The largest amount in each column; 0 where there is none."""
    found = {}
    for name in names:
        bounds = pc.min_max(rows.column(name)).as_py()
        found[name] = max((_amount(value) for value in bounds.values() if value is not None), default=_NONE)
    return found


def _refuse_sums(table: Table, rows: pa.Table, stored: pa.Table) -> None:
    key = list(table.primary_key)
    rows, stored = plain_keys(rows, key), plain_keys(stored, key)
    current_rows = with_keys(stored, distinct_keys(rows, key).select(key))
    limits = summed(table)
    now: dict[tuple[object, ...], dict[str, Decimal]] = {}
    for row in current_rows.to_pylist():
        now[tuple(map(_comparable, (row[k] for k in key)))] = {n: _exact(row[n]) for n in limits}
    for row in rows.to_pylist():
        sums = now.setdefault(tuple(map(_comparable, (row[k] for k in key))), dict.fromkeys(limits, _NONE))
        for name in limits:
            before, after = sums[name], _EXACT.add(sums[name], _exact(row[name]))
            if not _fits(after, table.column(name).type, limits[name]):
                raise _overflow(table, name, {k: row[k] for k in key}, before, row[name])
            sums[name] = after


def _overflow(
    table: Table, name: str, key: Mapping[str, object], before: Decimal, value: int | Decimal
) -> WriteRefusedError:
    kind = table.column(name).type
    where = ", ".join(
        f"{column} = {one!r}" if isinstance(one, str) else f"{column} = {one}" for column, one in key.items()
    )
    wider = "DECIMAL(38,0)" if kind in _INTEGERS else "DOUBLE"
    return WriteRefusedError(
        f"the sum in {table.name}.{name} overflows {kind} where {where}: {before} is stored, {value} is to be added; "
        "it was not written",
        hint=f"let the step sum a type that holds it, such as SUM(CAST(... AS {wider})), and apply the change",
    )


def _comparable(value: object) -> object:
    # As stores compare keys: NaN is itself, and nested values can be looked up.
    return repr(value) if isinstance(value, float | list | dict) else value


def _fits(value: Decimal, kind: str, limit: Decimal) -> bool:
    lowest = _EXACT.subtract(_EXACT.minus(limit), Decimal(1)) if kind in _INTEGERS else _EXACT.minus(limit)
    return lowest <= value <= limit


def _limit(kind: str) -> Decimal | None:
    if kind in _INTEGERS:
        return Decimal(2 ** _INTEGERS[kind] - 1)
    if kind.startswith("decimal("):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        return Decimal(10**precision - 1).scaleb(-scale, _EXACT)
    return None  # a float is infinite then, in Spark as well


def _plus(some: Amounts, others: Amounts) -> dict[str, Decimal]:
    return {name: _EXACT.add(amount, others[name]) for name, amount in some.items()}


def _within(amounts: Amounts, limits: Amounts) -> bool:
    return all(amounts[name] <= limit for name, limit in limits.items())


def _exact(value: int | Decimal | None) -> Decimal:
    return Decimal(value or 0)


def _amount(value: int | Decimal) -> Decimal:
    return _EXACT.abs(Decimal(value))
