"""`GROUP BY ALL` and `ORDER BY ALL` beside a column that is called `all`; pure."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.infer import Inference
from streamhouse.sql.unknown_columns import offered

_ALL = "all"


def all_beside_a_column(root: Scope, inference: Inference) -> Iterator[Refused]:
    """The clauses whose ALL Spark takes for a column, where the parser reads the word for all columns.

    Spark looks for a column first. Then it reads the word.

    Args:
        root: Of a qualified query.
        inference: Knows the columns of its tables.

    Reference: `ResolveReferencesInAggregate` and `ResolveReferencesInSort` of Spark 4.1.
    """
    for scope in root.traverse():
        clauses = list(_clauses_with_all(scope.expression))
        if clauses and _shows_all(scope, inference):
            for clause, word in clauses:
                text = f"Spark reads ALL behind {word} as the column 'all'"
                yield Refused(clause, text, f"give the column another name, or name the columns of {word}")


def _clauses_with_all(query: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    group, order = query.args.get("group"), query.args.get("order")
    if group is not None and group.args.get("all"):
        yield group, "GROUP BY"
    keys = order.expressions if order is not None else []
    yield from ((key, "ORDER BY") for key in keys if isinstance(key.this, exp.Var) and key.this.name.lower() == _ALL)


def _shows_all(scope: Scope, inference: Inference) -> bool:
    """Whether a table of the FROM, or the query itself, has a column of this name."""
    query = scope.expression
    names = [name.lower() for name in query.named_selects] if isinstance(query, exp.Query) else []
    return _ALL in names or any(_ALL in offered(scope, source, inference) for source in scope.selected_sources)
