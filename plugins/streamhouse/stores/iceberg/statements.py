"""The SQL of the cold tier, as syntax trees; types that Iceberg lacks."""

from collections.abc import Sequence
from datetime import date

from sqlglot import exp

from streamhouse.model.table import Column, Table
from streamhouse.sql.types import parse_type, type_name
from streamhouse.stores.keyed import DELETED

_T = exp.DataType.Type
_SPARK = "spark"
_TARGET, _SOURCE = "target", "source"

Within = tuple[str, Sequence[date | str | int]]
"""A column and its values."""


PLAIN_TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"),
    *("string", "binary", "date", "timestamp", "timestamp_ntz"),
)
"""Types of columns, without their parameters, that are read and written without Spark as Spark does."""


def storage_type(name: str) -> str:
    """The type Iceberg stores for a Spark type: it has no integer below 32 bits.

    Example:
        >>> storage_type("array<smallint>")
        'array<int>'
    """

    def widen(node: exp.Expression) -> exp.Expression:
        small = isinstance(node, exp.DataType) and node.this in (_T.TINYINT, _T.SMALLINT)
        return exp.DataType.build("int") if small else node

    widened = parse_type(name).copy().transform(widen)
    assert isinstance(widened, exp.DataType)
    return type_name(widened)


def create_namespace(catalog: str, layer: str) -> str:
    """CREATE NAMESPACE, for a layer's tables."""
    return exp.Create(this=exp.table_(layer, db=catalog, quoted=True), kind="NAMESPACE", exists=True).sql(_SPARK)


def create_table(catalog: str, table: Table, properties: dict[str, str]) -> str:
    """CREATE TABLE with the columns of `table`, all nullable, partitioned by their values as they are."""
    by = [exp.to_identifier(name, quoted=True) for name in table.partition_by]
    partitions = [exp.PartitionedByProperty(this=exp.Schema(expressions=by))] if by else []
    options = [exp.Property(this=exp.Literal.string(k), value=exp.Literal.string(v)) for k, v in properties.items()]
    return exp.Create(
        this=exp.Schema(this=_name(catalog, table), expressions=_defined(table.columns)),
        kind="TABLE",
        properties=exp.Properties(expressions=[exp.FileFormatProperty(this=exp.var("iceberg")), *partitions, *options]),
    ).sql(_SPARK)


def add_columns(catalog: str, table: Table, columns: Sequence[Column]) -> str:
    """ALTER TABLE that adds `columns`, all nullable, at the end."""
    return exp.Alter(this=_name(catalog, table), kind="TABLE", actions=[exp.Schema(expressions=_defined(columns))]).sql(
        _SPARK
    )


def set_property(catalog: str, table: Table, key: str, value: str) -> str:
    """ALTER TABLE that sets one table property."""
    entry = exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value))
    change = exp.AlterSet(expressions=[exp.Properties(expressions=[entry])])
    return exp.Alter(this=_name(catalog, table), kind="TABLE", actions=[change]).sql(_SPARK)


def merge_into(catalog: str, table: Table, view: str, kind: str, within: Sequence[Within] = ()) -> str:
    """MERGE of the rows of `view`, one for each key; those whose `kind` is '-D' delete.

    Args:
        catalog: Of the table.
        table: With a key.
        view: Its columns, and `kind`.
        kind: Name of a column.
        within: Partition columns with every value that they have in `view`, so that other partitions are not read.

    Example:
        >>> from streamhouse.model.table import Column, Tiers
        >>> columns = (Column(name="k", type="int"), Column(name="v", type="int"))
        >>> table = Table(name="dws.t", columns=columns, primary_key=("k",), tiers=Tiers(cold="1d"))
        >>> merge_into("cold", table, "rows", "_rk").split(" WHEN ")[0]
        'MERGE INTO `cold`.`dws`.`t` AS target USING `rows` AS source ON `target`.`k` = `source`.`k`'
    """
    return _merge(catalog, table, view, kind, table.column_names, _column(_SOURCE, kind).eq(DELETED), within)


def merge_columns(
    catalog: str, table: Table, view: str, kind: str, others: Sequence[str], within: Sequence[Within] = ()
) -> str:
    """MERGE of the columns of `view` but `kind` into rows whose `others` are kept; `within` as in `merge_into`.

    A row whose `kind` is '-D' sets its columns (which must be null) as any other does, and deletes
    the row when all `others` are null.

    Example:
        >>> from streamhouse.model.table import Column, Tiers
        >>> columns = (Column(name="k", type="int"), Column(name="v", type="int"))
        >>> table = Table(name="dws.t", columns=columns, primary_key=("k",), tiers=Tiers(cold="1d"))
        >>> merge_columns("cold", table, "rows", "_rk", ["w"]).split(" WHEN ")[1]
        "MATCHED AND `source`.`_rk` = '-D' AND `target`.`w` IS NULL THEN DELETE"
    """
    nothing_left = exp.and_(
        _column(_SOURCE, kind).eq(DELETED), *(_column(_TARGET, name).is_(exp.null()) for name in others)
    )
    return _merge(catalog, table, view, kind, table.column_names, nothing_left, within)


def _merge(
    catalog: str,
    table: Table,
    view: str,
    kind: str,
    names: Sequence[str],
    delete_when: exp.Condition,
    within: Sequence[Within],
) -> str:
    values = [_column(_SOURCE, name) for name in names]
    return exp.merge(
        exp.When(matched=True, condition=delete_when, then=exp.var("DELETE")),
        exp.When(
            matched=True,
            then=exp.Update(
                expressions=[
                    exp.EQ(this=_column(_TARGET, n), expression=v.copy()) for n, v in zip(names, values, strict=True)
                ]
            ),
        ),
        exp.When(
            matched=False,
            condition=_column(_SOURCE, kind).neq(DELETED),
            then=exp.Insert(
                this=exp.Tuple(expressions=[exp.column(name, quoted=True) for name in names]),
                expression=exp.Tuple(expressions=values),
            ),
        ),
        into=exp.alias_(_name(catalog, table), _TARGET, table=True),
        using=exp.alias_(exp.table_(view, quoted=True), _SOURCE, table=True),
        on=exp.and_(
            *(_same(k, null_safe=k in table.null_keys) for k in table.primary_key),
            # Of a merge-on-read table Spark leaves out no partition by what the source has.
            *(_column(_TARGET, name).isin(*map(_literal, values)) for name, values in within),
        ),
    ).sql(_SPARK)


def as_of(catalog: str, table: Table, snapshot_id: int, *, part: str | None = None, more: Sequence[str] = ()) -> str:
    """SELECT of every row and column at a snapshot, with the schema it had then.

    Args:
        catalog: Of Spark.
        table: Which one.
        snapshot_id: Of Iceberg.
        part: One of its metadata tables instead.
        more: Metadata columns to be read as well.
    """
    source = _name(catalog, table)
    if part is not None:
        source.set("this", exp.Dot(this=source.this, expression=exp.to_identifier(part)))
    source.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(snapshot_id)))
    return exp.select("*", *(exp.column(name) for name in more)).from_(source).sql(_SPARK)


def _defined(columns: Sequence[Column]) -> list[exp.ColumnDef]:
    return [
        exp.ColumnDef(
            this=exp.to_identifier(column.name, quoted=True), kind=parse_type(storage_type(column.type)).copy()
        )
        for column in columns
    ]


def _name(catalog: str, table: Table) -> exp.Table:
    layer, name = table.name.split(".")
    return exp.table_(name, db=layer, catalog=catalog, quoted=True)


def _same(name: str, *, null_safe: bool) -> exp.Condition:
    sides = _column(_TARGET, name), _column(_SOURCE, name)
    return exp.NullSafeEQ(this=sides[0], expression=sides[1]) if null_safe else sides[0].eq(sides[1])


def _literal(value: date | str | int) -> exp.Expr:
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    return exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)


def _column(table: str, name: str) -> exp.Column:
    return exp.column(name, table=table, quoted=True)
