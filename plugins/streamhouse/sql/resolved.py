"""Names of a query qualified by their tables, and its scopes."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from streamhouse.errors import Location, OutputColumnError, UnknownColumnError
from streamhouse.model.table import Column
from streamhouse.sql.dialect import SPARK

_HINT = "give each table and column a name of its own with AS"


def qualified(query: exp.Query, visible: Mapping[str, Mapping[str, Column]], at: Location) -> exp.Query:
    """The tree with stars expanded and names qualified; names that are not known stay as they are.

    Args:
        query: It is changed.
        visible: Port → its columns by lower-case name.
        at: Where its text begins.

    Raises:
        UnknownColumnError: sqlglot does not resolve a name.
        OutputColumnError: two columns behind a `*` have one name.
    """
    _rename_semi_joins(query, visible)
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
    except AssertionError as error:
        # `ORDER BY 1` beside a `*` that sqlglot does not expand, for two of the columns have one name.
        hint = "give each column of the inner query a name of its own, and name the columns instead of *"
        raise OutputColumnError("two columns behind '*' have one name", at=at, hint=hint) from error
    except SqlglotError as error:
        raise UnknownColumnError(str(error).splitlines()[0], at=at, hint=_HINT) from error
    assert isinstance(tree, exp.Query)
    return tree


def _rename_semi_joins(query: exp.Query, visible: Mapping[str, Mapping[str, Column]]) -> None:
    """Call the right side of a SEMI or ANTI JOIN by a name that no column has.

    sqlglot looks for its name among the columns first, and takes `b.id` for a field of the column b.
    """
    columns = {name for port in visible.values() for name in port}
    columns |= {alias.alias.lower() for alias in query.find_all(exp.Alias)}
    joins = [join for join in query.find_all(exp.Join) if join.kind in ("SEMI", "ANTI")]
    for place, join in enumerate(joins):
        name, on = join.alias_or_name.lower(), join.args.get("on")
        if name not in columns:
            continue
        own = f"_semi{place}_{name}"
        for column in list(on.find_all(exp.Column)) if isinstance(on, exp.Expr) else []:
            if column.table.lower() == name and not column.args.get("db"):
                column.set("table", exp.to_identifier(own))
        alias = join.this.args.get("alias")
        named = exp.TableAlias(this=exp.to_identifier(own), columns=alias.columns if alias is not None else [])
        join.this.set("alias", named)


def scope_of(tree: exp.Query, at: Location) -> Scope:
    """The scopes of a tree.

    Raises:
        UnknownColumnError: it has none.
    """
    scope = build_scope(tree)
    if scope is None:
        raise UnknownColumnError("the SQL has no columns", at=at)
    return scope
