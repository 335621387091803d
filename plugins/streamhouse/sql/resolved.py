"""Names of a query qualified by their tables, and its scopes."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from streamhouse.errors import Location, UnknownColumnError
from streamhouse.model.table import Column
from streamhouse.sql.dialect import SPARK


def qualified(query: exp.Query, visible: Mapping[str, Mapping[str, Column]], at: Location) -> exp.Query:
    """The tree with stars expanded and names qualified; names that are not known stay as they are.

    Args:
        query: It is changed.
        visible: Port → its columns by lower-case name.
        at: Where its text begins.

    Raises:
        UnknownColumnError: sqlglot does not resolve a name.
    """
    texts: dict[str, object] = {name: dict.fromkeys(columns, "string") for name, columns in visible.items()}
    schema = MappingSchema(texts, dialect=SPARK, normalize=False)
    try:
        tree = qualify(
            query,
            schema=schema,
            dialect=SPARK,
            quote_identifiers=False,
            identify=False,
            # Columns that do not resolve stay as they are: `check_columns` says where they stand.
            validate_qualify_columns=False,
            allow_partial_qualification=True,
        )
    except SqlglotError as error:
        raise UnknownColumnError(str(error).splitlines()[0], at=at) from error
    assert isinstance(tree, exp.Query)
    return tree


def scope_of(tree: exp.Query, at: Location) -> Scope:
    """The scopes of a tree.

    Raises:
        UnknownColumnError: it has none.
    """
    scope = build_scope(tree)
    if scope is None:
        raise UnknownColumnError("the SQL has no columns", at=at)
    return scope
