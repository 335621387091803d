"""Which types of columns of others can be read."""

from streamhouse.model.shape import SeenColumn
from streamhouse.sql.types import canonical_type
from streamhouse.stores.arrow import arrow_type


def has_type(column: SeenColumn) -> bool:
    """Whether Spark has the type of a column, and stores can hold it."""
    try:
        arrow_type(column.type)
        return canonical_type(column.type) == column.type  # a parser may take Iceberg's time for something else
    except ValueError:
        return False
