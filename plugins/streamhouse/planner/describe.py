"""Proposes the meaning of a table that nobody described: from names, types, keys and, where given, values. Pure."""

from typing import Any

from sqlglot import exp

from streamhouse.model.types import Layer
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey

_UNITS = {
    "cents": "cents", "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "km": "km", "metres": "m", "meters": "m",
    "miles": "miles", "kg": "kg", "grams": "g", "litres": "l", "liters": "l", "pct": "percent", "percent": "percent",
    "ratio": "ratio", "share": "ratio", "ms": "ms", "sec": "seconds", "secs": "seconds", "seconds": "seconds",
    "mins": "minutes", "minutes": "minutes", "hours": "hours", "days": "days", "bytes": "bytes", "kwh": "kWh",
    "kw": "kW", "watts": "W", "volts": "V", "celsius": "celsius", "bar": "bar", "rpm": "rpm", "hz": "Hz",
}  # fmt: skip
"""Last word of a column's name → the unit of its numbers."""

_AVERAGED = frozenset({"percent", "ratio", "celsius", "bar", "rpm", "Hz", "V", "W", "kW"})
_MONEY = ("USD", "EUR", "GBP", "CHF")
_KEYS = {"id": "number", "code": "code", "key": "key", "no": "number"}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(")
_TIMES = {"timestamp": ["year", "month", "week", "day", "hour"], "date": ["year", "month", "week", "day"]}
_ORDER = {layer.value: position for position, layer in enumerate(Layer)}
_MOST_WORDS = 20  # values of a column; more is a list that nobody reads


def proposed(catalog: Catalog, table: CatalogTable, *, values: bool = False) -> dict[str, Any]:
    """Keys of the meaning of a table that it lacks, as a file has them; empty: it lacks none that can be proposed.

    Args:
        catalog: Of the project.
        table: Of it.
        values: Whether values of rows are wanted. Those of a table that keeps its rows back are left out: a word for a
            value is part of a description, which may be sent to a model.
    """
    values = values and table.sharing.of_rows
    keys = {key.columns[0]: key for key in catalog.keys if key.table == table.name and len(key.columns) == 1}
    columns = {
        column.name: entry
        for column in table.columns
        if (entry := _column(column, table, keys.get(column.name), values=values))
    }
    found: dict[str, Any] = {}
    if not table.description:
        found["description"] = _words(table.name.partition(".")[2])
    if columns:
        found["columns"] = columns
    if not table.measures and (measures := _measures(table, _currency(catalog))):
        found["measures"] = measures
    if not table.dimensions and (dimensions := _dimensions(table)):
        found["dimensions"] = dimensions
    return found


def keeps_values_back(table: CatalogTable) -> bool:
    """Whether values of a table would be proposed if its rows were allowed to leave this machine."""
    return not table.sharing.of_rows and any(_has_unsaid_values(column) for column in table.columns)


def _has_unsaid_values(column: CatalogColumn) -> bool:
    wordless = all(words == (value,) for value, words in column.values.items())
    return not column.open_values and wordless and 0 < len(column.values) <= _MOST_WORDS


def _column(column: CatalogColumn, table: CatalogTable, key: ForeignKey | None, *, values: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    unit, noun = _unit(column), _noun(column)
    if not column.description and (description := _description(column)) != _words(column.name):
        found["description"] = description
    if not column.synonyms and noun != column.name and noun not in {c.name for c in table.columns}:
        found["synonyms"] = [noun.replace("_", " ")]
    if unit is not None and column.unit is None:
        found["unit"] = unit
    if values and _has_unsaid_values(column):
        found["values"] = {value: value.replace("_", " ").lower() for value in column.values}
    if key is not None and column.references is None and _ORDER[key.to.split(".")[0]] <= _ORDER[table.layer.value]:
        found["references"] = f"{key.to}.{key.to_columns[0]}"
    return found


def _description(column: CatalogColumn) -> str:
    words = column.name.split("_")
    noun = _words(_noun(column))
    if column.type in _TIMES and words[-1] in {"at", "time", "date", "on", "timestamp"}:
        return f"when it was {noun}" if words[-1] in {"at", "on"} else f"time of {noun}" if noun else "time"
    if words[0] in {"is", "has"} and len(words) > 1:
        return f"whether it {words[0]} {' '.join(words[1:])}"
    if words[-1] in _KEYS and len(words) > 1:
        return f"{_KEYS[words[-1]]} of the {noun}"
    unit = _unit(column)
    return f"{noun}, in {unit}" if unit not in (None, "ratio") else noun


def _noun(column: CatalogColumn) -> str:
    """The name without the part that says the kind of its values."""
    first, *rest = column.name.split("_")
    if rest and first in {"is", "has"}:
        return "_".join(rest)
    is_kind = rest and (rest[-1] in _KEYS or _unit(column) is not None or column.type in _TIMES)
    if is_kind and rest[-1] in {*_KEYS, *_UNITS, "at", "on", "time", "date", "timestamp"} - {"share", "ratio"}:
        return "_".join([first, *rest[:-1]])
    return column.name


def _unit(column: CatalogColumn) -> str | None:
    return _UNITS.get(column.name.rpartition("_")[2]) if column.type.startswith(_NUMBERS) else None


def _currency(catalog: Catalog) -> str | None:
    """What the project counts money in, where it says so."""
    said = [c.unit for t in catalog.tables.values() for c in t.columns]
    said += [m.unit for t in catalog.tables.values() for m in t.measures.values()]
    found = {unit for unit in said if unit in _MONEY}
    return found.pop() if len(found) == 1 else None


def _measures(table: CatalogTable, currency: str | None) -> dict[str, Any]:
    if table.layer is Layer.ADS:  # its rows are an answer already
        return {}
    names = {column.name for column in table.columns}
    found: dict[str, Any] = {}
    noun = table.name.partition(".")[2]
    if table.layer in {Layer.ODS, Layer.DWD} and noun not in names:
        found[noun] = {"sql": "COUNT(*)", "description": f"how many {_words(noun)} there are"}
    for column in table.columns:
        unit = column.unit or _unit(column)
        if unit is None or not column.type.startswith(_NUMBERS) or column.name in table.primary_key:
            continue
        base = _noun(column)
        averaged = unit in _AVERAGED or "_per_" in column.name
        name, value = f"{'average' if averaged else 'total'}_{base}", exp.column(column.name)
        tree: exp.Expr = exp.Avg(this=value) if averaged else exp.Sum(this=value)
        if unit == "cents":
            tree, unit = tree / 100, currency
        sql = tree.sql("spark")
        if name not in names:
            found[name] = {"sql": sql, **({"unit": unit} if unit is not None else {})}
    return found


def _dimensions(table: CatalogTable) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in table.columns:
        if column.name.endswith("_id"):
            found[_noun(column)] = {"column": column.name}
    time = next((c for c in table.columns if c.name == table.event_time and c.type in _TIMES), None)
    if time is not None:
        found["time"] = {"column": time.name, "hierarchy": list(_TIMES[time.type])}
    return found


def _words(name: str) -> str:
    return name.replace("_", " ")
