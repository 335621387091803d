"""Compares two versions of a table in Spark (design D8).

Versions with one key are compared key by key, others as multisets of rows, over the columns that both have. Of tables
with more than `MOST_ROWS` rows a part is compared: the keys (rows) whose hash falls into it, on both sides the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from streamhouse.model.review import Difference, DifferingRow
from streamhouse.model.table import Table
from streamhouse.spark.results import collected_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

MOST_ROWS = 1_000_000
"""Of each version; where one has more rows, a part of the keys is compared."""
_SAMPLES = 5  # of each kind
_SAMPLE_COLUMNS = 8
_MOST_COLUMNS = 50
_LONGEST = 100  # characters of a value
_CLOSE = 1e-9  # relative: sums of floating point numbers depend on their order
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp")
_KINDS = ("only_old", "only_new", "changed")
_OLD, _NEW, _KIND, _DIFFERS, _COUNT = "__old", "__new", "__kind", "__differs", "__count"


@dataclass(frozen=True)
class Versions:
    """Two versions of a table, and how their columns correspond.

    Attributes:
        old: The table as it serves.
        new: As it is to.
        names: Column of `new` → that of `old`, of those that both have, in the order of `new`.
    """

    old: Table
    new: Table
    names: Mapping[str, str]

    @classmethod
    def of(cls, old: Table, new: Table, renamed: Mapping[str, str]) -> "Versions":
        """Match columns by name, or by the name that a column had (`renamed`: new → old)."""
        had = set(old.column_names)
        names = {name: name if name in had else renamed.get(name, name) for name in new.column_names}
        return cls(old, new, {name: before for name, before in names.items() if before in had})

    @property
    def key(self) -> tuple[str, ...]:
        """The key that both have; empty: no key matches rows of one with rows of the other."""
        key = self.new.primary_key
        same = all(name in self.names for name in key) and [self.names[n] for n in key] == list(self.old.primary_key)
        return key if same else ()

    @property
    def same_rows(self) -> bool:
        """Whether a row means the same in both."""
        return bool(self.key) or not (self.old.primary_key or self.new.primary_key)

    @property
    def added(self) -> tuple[str, ...]:
        """Columns that only the new version has."""
        return tuple(name for name in self.new.column_names if name not in self.names)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that only the old version has."""
        shared_names = set(self.names.values())
        return tuple(name for name in self.old.column_names if name not in shared_names)

    @property
    def alike(self) -> tuple[str, ...]:
        """Columns of `new` whose values in `old` can be taken for values of their type."""
        return tuple(n for n, old in self.names.items() if _alike(self.old.column(old).type, self.new.column(n).type))

    def old_as_new(self, rows: "DataFrame") -> "DataFrame":
        """Rows of the old version with the `alike` columns of the new one; NULL where a value does not fit."""
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        kinds = {name: self.new.column(name).type for name in self.alike}
        return rows.select(*(F.col(self.names[name]).try_cast(kind).alias(name) for name, kind in kinds.items()))

    def as_one(self, old: "DataFrame", new: "DataFrame") -> "tuple[DataFrame, DataFrame]":
        """Rows of both with the columns of `names`; values of types that are not alike as text."""
        from pyspark.sql import functions as F  # noqa: N812

        alike = set(self.alike)

        def value(column: str, name: str) -> "Column":
            wanted = F.col(column)
            wanted = wanted.try_cast(self.new.column(name).type) if name in alike else wanted.cast("string")
            return wanted.alias(name)

        return (
            old.select(*(value(before, name) for name, before in self.names.items())),
            new.select(*(value(name, name) for name in self.names)),
        )


def _alike(old: str, new: str) -> bool:
    return old == new or any(old.startswith(kinds) and new.startswith(kinds) for kinds in (_NUMBERS, _TIMES))


def data_diff(versions: Versions, old: "DataFrame", new: "DataFrame", rows: int, most: int = MOST_ROWS) -> Difference:
    """Compare two versions.

    Args:
        versions: What the rows are of.
        old: Rows of the version that serves.
        new: Rows of the one that is to.
        rows: Of the larger one.
        most: So many are compared at most.
    """
    one_in = max(1, -(-rows // most))
    names, key = tuple(versions.names), versions.key
    plain = [_comparable(frame) for frame in versions.as_one(old, new)]
    if one_in > 1:
        plain = [_part(frame, key or names, one_in) for frame in plain]
    found = _by_key(plain[0], plain[1], key) if key else _by_rows(plain[0], plain[1], names)
    found = found.persist()
    try:
        return _difference(versions, found, one_in)
    finally:
        found.unpersist()


def _comparable(frame: "DataFrame") -> "DataFrame":
    """Spark compares and hashes no maps: their entries in order say the same; of maps within others their JSON."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    def plain(name: str, kind: str) -> "Column":
        if "map<" not in kind:
            return F.col(name)
        alone = kind.startswith("map<") and kind.count("map<") == 1
        return (F.sort_array(F.map_entries(name)) if alone else F.to_json(name)).alias(name)

    return frame.select(*(plain(field.name, field.dataType.simpleString()) for field in frame.schema.fields))


def _part(frame: "DataFrame", columns: Sequence[str], one_in: int) -> "DataFrame":
    from pyspark.sql import functions as F  # noqa: N812

    return frame.where(F.pmod(F.xxhash64(*columns), F.lit(one_in)) == 0)


def _by_key(old: "DataFrame", new: "DataFrame", key: Sequence[str]) -> "DataFrame":
    """One row for each key: key, kind, how many it stands for and, where they differ, both rows and the columns."""
    from pyspark.sql import functions as F  # noqa: N812

    values = [field for field in new.schema.fields if field.name not in key]
    sides = [f.select(F.struct(*f.columns).alias(side)) for f, side in ((old, _OLD), (new, _NEW))]
    same = reduce(and_, (F.col(f"{_OLD}.{name}").eqNullSafe(F.col(f"{_NEW}.{name}")) for name in key))
    both = sides[0].join(sides[1], same, "full_outer")
    differs = {f.name: _differs(f"{_OLD}.{f.name}", f"{_NEW}.{f.name}", f.dataType.typeName()) for f in values}
    names = F.array_compact(F.array(*(F.when(d, F.lit(name)) for name, d in differs.items()))) if differs else None
    kind = (
        F.when(F.col(_NEW).isNull(), "only_old")
        .when(F.col(_OLD).isNull(), "only_new")
        .when(reduce(or_, differs.values(), F.lit(False)), "changed")
        .otherwise("equal")
    )
    marked = both.withColumn(_KIND, kind)
    return marked.select(
        *(F.coalesce(f"{_NEW}.{name}", f"{_OLD}.{name}").alias(name) for name in key),
        _KIND,
        F.lit(1).cast("bigint").alias(_COUNT),
        *(F.when(F.col(_KIND) != "equal", F.col(side)).alias(side) for side in (_OLD, _NEW)),
        F.when(F.col(_KIND) == "changed", names if names is not None else F.lit(None)).alias(_DIFFERS),
    )


def _by_rows(old: "DataFrame", new: "DataFrame", names: Sequence[str]) -> "DataFrame":
    """One row for each row and kind: kind, how many it stands for and, where they differ, the row on both sides."""
    from pyspark.sql import functions as F  # noqa: N812

    both = old.withColumn(_COUNT, F.lit(-1)).unionByName(new.withColumn(_COUNT, F.lit(1)))
    more = both.groupBy(*names).agg(F.sum(_COUNT).alias("more"), F.count(F.lit(1)).alias("all"))
    equal = ((F.col("all") - F.abs("more")) / 2).cast("bigint")
    side, row = F.when(F.col("more") < 0, "only_old").otherwise("only_new"), F.struct(*names)
    parts = more.select(
        F.explode(
            F.array(
                F.struct(F.lit("equal").alias(_KIND), equal.alias(_COUNT), F.when(F.lit(False), row).alias(_OLD)),
                F.struct(side.alias(_KIND), F.abs("more").alias(_COUNT), row.alias(_OLD)),
            )
        ).alias("part")
    )
    found = parts.select("part.*").where(F.col(_COUNT) > 0)
    return found.withColumns({_NEW: F.col(_OLD), _DIFFERS: F.lit(None).cast("array<string>")})


def _differs(old: str, new: str, kind: str) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    other = ~F.col(old).eqNullSafe(F.col(new))
    if kind not in ("float", "double"):
        return other
    far = F.abs(F.col(old) - F.col(new)) > F.lit(_CLOSE) * F.greatest(F.abs(F.col(old)), F.abs(F.col(new)))
    return other & F.coalesce(far, F.lit(True))


def _changed_columns(found: "DataFrame") -> dict[str, int]:
    """Column → in how many rows it differs, of those that differ most often."""
    from pyspark.sql import functions as F  # noqa: N812

    each = found.where(F.col(_KIND) == "changed").select(F.explode(_DIFFERS).alias("name"))
    most = each.groupBy("name").count().orderBy(F.desc("count"), "name").limit(_MOST_COLUMNS)
    return {row["name"]: int(row["count"]) for row in collected_rows(most)}


def _difference(versions: Versions, found: "DataFrame", one_in: int) -> Difference:
    from pyspark.sql import functions as F  # noqa: N812

    counts = {
        row[_KIND]: int(row["rows"]) for row in collected_rows(found.groupBy(_KIND).agg(F.sum(_COUNT).alias("rows")))
    }
    return Difference(
        by="key" if versions.key else "rows",
        one_in=one_in,
        equal=counts.get("equal", 0),
        only_old=counts.get("only_old", 0),
        only_new=counts.get("only_new", 0),
        changed=counts.get("changed", 0),
        columns=_changed_columns(found) if counts.get("changed") else {},
        added=versions.added,
        dropped=versions.dropped,
        samples={kind: _samples(versions, found, kind) for kind in _KINDS if counts.get(kind)},
    )


def _samples(versions: Versions, found: "DataFrame", kind: str) -> tuple[DifferingRow, ...]:
    from pyspark.sql import functions as F  # noqa: N812

    rows = found.where(F.col(_KIND) == kind)
    # The first of an order are found in one pass over all partitions; any few rows are in the first ones.
    few = (
        collected_rows(rows.orderBy(*versions.key).limit(_SAMPLES))
        if versions.key
        else collected_rows(rows, limit=_SAMPLES)
    )
    return tuple(_sample(versions, row, kind) for row in few)


def _sample(versions: Versions, row: "Row", kind: str) -> DifferingRow:
    side = row[_OLD] if kind == "only_old" else row[_NEW]
    shown = (versions.key or tuple(versions.names))[:_SAMPLE_COLUMNS]
    differs = sorted(row[_DIFFERS] or ())[:_SAMPLE_COLUMNS]
    return DifferingRow(
        row={name: _text(side[name]) for name in shown},
        old={name: _text(row[_OLD][name]) for name in differs},
        new={name: _text(row[_NEW][name]) for name in differs},
    )


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
