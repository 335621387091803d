"""What the rules for types need from the code that walks the query."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.spark_type import SparkType

Lambda = Mapping[str, SparkType | None]
"""Names of a lambda expression → their types."""


class Typed(NamedTuple):
    """One output column of a scope; `type` None: it is unknown."""

    name: str
    type: SparkType | None
    nullable: bool
    node: exp.Expr


class Types(Protocol):
    """The types of one query's parts."""

    def type_of(self, node: exp.Expr, scope: Scope, names: Lambda | None = None) -> SparkType | None:
        """The type of an expression that stands in `scope`; None: it is unknown."""
        ...

    def outputs(self, scope: Scope) -> tuple[Typed, ...]:
        """The output columns of a scope, in order."""
        ...

    def resolve(self, column: exp.Column, scope: Scope) -> Typed | None:
        """The column of a source that a qualified column means; None: there is none."""
        ...

    def proved(self, scope: Scope) -> frozenset[exp.Expr]:
        """What is not NULL in any row of a SELECT, by its WHERE and its inner joins."""
        ...
