"""Columns and tables, whichever tiers hold their rows."""

from datetime import timedelta
from hashlib import sha256
from itertools import product
from typing import Self

from pydantic import Field, model_validator

from streamhouse.model.meaning import Described
from streamhouse.model.types import (
    FOREVER,
    TABLE_NAME,
    Frozen,
    History,
    Holding,
    Layer,
    MergeEngine,
    MergeFunction,
    Tier,
)

PARTITION_TYPES = ("date", "string", "int", "bigint")
"""Types of the columns that a table can be partitioned by."""

NO_KEY_TYPES = ("array<", "map<", "struct<", "variant", "float", "double")
"""How the types begin whose values are no part of a primary key."""


NULL_BITS = "__null_keys"
"""Column that a store whose keys are never NULL adds to the key of a table whose key may be NULL."""


class Column(Frozen):
    """One column.

    `type` is a Spark SQL type in canonical lower case: `bigint`, `decimal(12,2)`, `timestamp` (an
    instant, microseconds), `timestamp_ntz`, `array<string>`, `struct<a:int,b:string>`.
    """

    name: str
    type: str
    nullable: bool = True


class ComputedColumn(Frozen):
    """A value of each row that is stored beside it, to find rows by it.

    `sql` is canonical Spark SQL over the columns `uses`; it fails on no row.
    """

    sql: str
    type: str
    uses: tuple[str, ...]

    @property
    def name(self) -> str:
        """Equal for equal SQL, and unlike the name of a column that somebody wrote."""
        return f"__key_{sha256(self.sql.encode()).hexdigest()[:12]}"


_PRESENT = {
    held: tuple(tier for tier, is_held in zip((Tier.HOT, Tier.WARM, Tier.COLD), held, strict=True) if is_held)
    for held in product((False, True), repeat=3)
}
"""Whether a table has the hot, the warm and the cold tier → its tiers: asked for some thirty times of each table."""


class Tiers(Frozen):
    """How long each tier holds rows; absent: the table has no such tier."""

    hot: Holding | None = Field(default=None, description="how long Fluss has a row", examples=["1h"])
    warm: Holding | None = Field(default=None, description="how long Paimon has a row", examples=["30d"])
    cold: Holding | None = Field(default=None, description="how long Iceberg has a row", examples=["forever"])

    @property
    def present(self) -> tuple[Tier, ...]:
        """The tiers the table has, hottest first."""
        return _PRESENT[self.hot is not None, self.warm is not None, self.cold is not None]

    @property
    def target(self) -> Tier:
        """The tier a step writes; the others are filled by tiering."""
        return self.present[0]

    @model_validator(mode="after")
    def _at_least_one(self) -> Self:
        if not self.present:
            raise ValueError("tiers is empty; name at least one of hot, warm, cold")
        return self


class Table(Frozen):
    """One logical table, complete: every tier can create it from this alone."""

    name: str = Field(pattern=TABLE_NAME)
    columns: tuple[Column, ...] = Field(min_length=1)
    primary_key: tuple[str, ...] = ()  # empty: an append-only log table
    null_keys: tuple[str, ...] = Field(  # columns of `identifying` in which rows may have NULL, a value like any other
        default=(), exclude_if=lambda names: not names
    )
    bucket_key: tuple[
        str, ...
    ] = ()  # empty: the primary key but for partition_by; of a log table: rows go to any bucket
    buckets: int = Field(default=1, ge=1)  # the same count in hot and warm, of each partition
    partition_by: tuple[str, ...] = Field(  # rows with the same values here are stored, and dropped, together
        default=(), exclude_if=lambda names: not names
    )
    tiers: Tiers
    merge: dict[str, MergeFunction] = Field(default_factory=dict)  # empty: one row of a key wins, whole
    first_row: bool = Field(default=False, exclude_if=lambda yes: not yes)  # the first row of a key wins
    version_column: str | None = Field(  # the row whose value here is highest wins, of equal ones the last
        default=None, exclude_if=lambda name: name is None
    )
    event_time: str | None = None

    @property
    def layer(self) -> Layer:
        """The layer, which is the first part of the name."""
        return Layer(self.name.split(".")[0])

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names in the order of the stored columns."""
        return tuple(c.name for c in self.columns)

    def column(self, name: str) -> Column:
        """The column called `name`.

        Raises:
            KeyError: the table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns by which rows find their place: the primary key; of a log those that it is partitioned by."""
        return self.primary_key or self.partition_by

    @property
    def hashed(self) -> tuple[str, ...]:
        """The columns that tell the bucket of a row within its partition; empty: rows go to any bucket."""
        return self.bucket_key or tuple(name for name in self.primary_key if name not in self.partition_by)

    @property
    def keeps_order(self) -> bool:
        """Whether it is a log that knows which row came first: of all rows, or of those with one bucket key."""
        return not self.primary_key and (self.buckets == 1 or bool(self.bucket_key))

    @property
    def ages_by(self) -> str | None:
        """The partition column that says how old a partition is, in days of UTC; None: none does."""
        return next((name for name in self.partition_by if self.column(name).type == "date"), None)

    @property
    def named_by(self) -> tuple[str, ...]:
        """The partition columns that are texts; the hot tier names its partitions by them."""
        return tuple(name for name in self.partition_by if self.column(name).type == "string")

    def keeps_all(self, tier: Tier) -> bool:
        """Whether a tier holds rows forever, as far as it drops partitions that are past their time."""
        retention = getattr(self.tiers, tier.value)
        return self.ages_by is None or retention is None or retention == FOREVER

    @property
    def forgets_after(self) -> timedelta | None:
        """After what time days are dropped from the tier that readers follow; None: never."""
        first = self.tiers.target
        return None if self.keeps_all(first) else getattr(self.tiers, first.value)

    @property
    def deletes_after(self) -> timedelta | None:
        """After what time rows are gone from every tier; None: the table has all its rows forever."""
        last = self.tiers.present[-1]
        longest = max(getattr(self.tiers, tier.value) for tier in self.tiers.present)
        # Beside days, only the log of a table without key grows old; a lake drops no rows by itself.
        drops = not self.keeps_all(last) or (last is Tier.HOT and not self.primary_key)
        return longest if drops and longest != FOREVER else None

    @property
    def upkeep_tiers(self) -> tuple[Tier, ...]:
        """The tiers in which upkeep has something to do: the lakes, and a hot tier that has days."""
        return tuple(tier for tier in self.tiers.present if tier is not Tier.HOT or self.ages_by is not None)

    @property
    def merge_engine(self) -> MergeEngine:
        """What becomes of a whole row written to a key that is stored."""
        if self.merge:
            return MergeEngine.AGGREGATION
        if self.first_row:
            return MergeEngine.FIRST_ROW
        return MergeEngine.DEDUPLICATE if self.version_column is None else MergeEngine.VERSIONED

    @property
    def merges_how(self) -> str:
        """For a person: the merge engine, and by what it decides."""
        return f"{self.merge_engine} by {self.version_column}" if self.version_column else str(self.merge_engine)

    @property
    def selects(self) -> bool:
        """Whether a row written may lose against the stored one; nothing is deleted from such a table."""
        return self.first_row or self.version_column is not None

    @property
    def replica(self) -> Self:
        """The table as tiering copies it: what comes has won or is folded already, so the last row of a key wins."""
        plain = {"merge": {}, "first_row": False, "version_column": None}
        return self.model_copy(update=plain) if self.merge or self.selects else self

    @model_validator(mode="after")
    def _keys_are_columns(self) -> Self:
        names = set(self.column_names)
        for role, keys in (("primary_key", self.primary_key), ("bucket_key", self.bucket_key)):
            if keys and (stray := sorted(set(keys) - names)):
                raise ValueError(f"{role} names {stray}, which the table lacks")
        # Tiering copies bucket to bucket without a shuffle, so hot and warm must hash alike.
        if self.primary_key and (stray := sorted(set(self.bucket_key) - set(self.primary_key))):
            raise ValueError(f"bucket_key has {stray}, which primary_key lacks")
        if stray := sorted(set(self.null_keys) - set(self.identifying)):
            raise ValueError(f"null_keys has {stray}, by which no row finds its place")
        self._partitions_are_columns()
        if self.merge:
            self._merges_all_values(names)
        if self.selects and not self.primary_key:
            raise ValueError("a table that selects among the rows of a key needs a primary_key")
        if sum((bool(self.merge), self.first_row, self.version_column is not None)) > 1:
            raise ValueError("merge, first_row and version_column exclude each other")
        if self.version_column is not None and self.version_column not in names - set(self.primary_key):
            raise ValueError(f"version_column {self.version_column} is no column outside the primary key")
        return self

    def _merges_all_values(self, names: set[str]) -> None:
        if not self.primary_key:
            raise ValueError("a table that merges needs a primary_key")
        values = names - set(self.primary_key)
        if values != set(self.merge):
            raise ValueError(f"merge must name every column outside the primary key: {sorted(values)}")

    def _partitions_are_columns(self) -> None:
        if not self.partition_by:
            return
        names = set(self.column_names)
        if stray := sorted(set(self.partition_by) - names):
            raise ValueError(f"partition_by names {stray}, which the table lacks")
        if odd := [name for name in self.partition_by if self.column(name).type not in PARTITION_TYPES]:
            raise ValueError(f"partition_by names {odd}, which are none of {', '.join(PARTITION_TYPES)}")
        if self.primary_key and (stray := sorted(set(self.partition_by) - set(self.primary_key))):
            raise ValueError(f"partition_by has {stray}, which primary_key lacks")
        if stray := sorted(set(self.partition_by) & set(self.bucket_key)):
            raise ValueError(f"bucket_key has {stray}, by which the table is partitioned")
        if self.primary_key and not self.hashed:
            raise ValueError("primary_key needs a column outside partition_by")


class TableOptions(Described):
    """What a flow's `tables:` says about one table; the rest comes from the step that writes it."""

    primary_key: tuple[str, ...] | None = Field(
        default=None, description="the columns that name a row; absent: as the action says", examples=["[order_id]"]
    )
    bucket_key: tuple[str, ...] = Field(
        default=(), description="rows with the same values of these columns are in one bucket; absent: the primary key"
    )
    buckets: int = Field(default=1, ge=1, le=1024, description="the same count in hot and warm; cannot change later")
    partition_by: tuple[str, ...] = Field(
        default=(),
        description="rows with the same values of these columns are stored together; by the first that is a date, "
        "each tier drops whole days that are older than it keeps them",
    )
    tiers: Tiers | None = Field(
        default=None,
        description="how long each tier has a row; absent: {hot: 7d, warm: forever}",
        examples=["{hot: 7d, warm: forever}"],
    )
    merge_engine: MergeEngine | None = Field(
        default=None,
        description="what becomes of a row whose key is stored: it replaces that one (deduplicate), is left out "
        "(first_row), replaces one whose version is not higher (versioned), has some columns, other steps the rest "
        "(partial_update), or is folded in (aggregation); absent: aggregation where the SQL allows, else deduplicate",
    )
    version_column: str | None = Field(
        default=None, description="of versioned: the column whose highest value wins; of equal ones the last row"
    )
    history: History | None = Field(
        default=None, description="what an edit does to older rows: keep or rewrite them; else as the flow says"
    )
    event_time: str | None = Field(default=None, description="the event time, where the action names none")
